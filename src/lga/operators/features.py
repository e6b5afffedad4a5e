"""What the learned operators see: numbers that do not change when fitness or solutions are rescaled or shifted."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from lga.core.population import FAILED, Archive, Progress

NUM_FITNESS_FEATURES = 3
NUM_RATE_FEATURES = NUM_FITNESS_FEATURES + 2
NUM_SAMPLING_FEATURES = NUM_FITNESS_FEATURES + 1
NUM_CROSSOVER_FEATURES = NUM_FITNESS_FEATURES + 2

# Below this size all pairs are compared, which vectorises well; above it sorting is cheaper.
LARGEST_PAIRWISE_SIZE = 192


def fitness_features(fitness: Float[Array, " n"], best_fitness: Float[Array, ""]) -> Float[Array, "n 3"]:
    """Better-than-best flag, centred rank and z-score.

    No parent is better than the best so far, so for rate and sampling the flag is always 0: it is there so that weights
    have the layout of evosax's, and of the paper.
    """
    flag = (fitness < best_fitness).astype(fitness.dtype)
    return jnp.stack([flag, centred_ranks(fitness), z_score(worst_for_failures(fitness))], axis=-1)


def rate_features(sampled_parents: Archive, best_fitness: Float[Array, ""]) -> Float[Array, "n 5"]:
    """Fitness features of the sampled parents, and their mutation rates as z-score and scaled to [-1, 1]."""
    return fitness_and_rate_features(sampled_parents.fitness, sampled_parents.sigma, best_fitness)


def fitness_and_rate_features(
    fitness: Float[Array, " n"], sigma: Float[Array, " n"], best_fitness: Float[Array, ""]
) -> Float[Array, "n 5"]:
    rates = jnp.stack([z_score(sigma), unit_range(sigma)], axis=-1)
    return jnp.concatenate([fitness_features(fitness, best_fitness), rates], axis=-1)


def sampling_features(parents: Archive, progress: Progress) -> Float[Array, "e 4"]:
    """Fitness features of the parents, and their age."""
    return fitness_and_age_features(parents.fitness, parents.age, progress.best_fitness, progress.generation)


def fitness_and_age_features(
    fitness: Float[Array, " e"], age: Int[Array, " e"], best_fitness: Float[Array, ""], generation: Int[Array, ""]
) -> Float[Array, "e 4"]:
    lived = tanh_age(age, generation)
    return jnp.concatenate([fitness_features(fitness, best_fitness), lived[:, None]], axis=-1)


def coordinate_features(
    coordinates: Float[Array, " e"], fitness: Float[Array, "e 3"], best: Float[Array, ""]
) -> Float[Array, "e 5"]:
    """One dimension of all parents: z-score, and distance to the best parent in units of the dimension's range."""
    extent = jnp.max(coordinates) - jnp.min(coordinates)
    distance = (best - coordinates) / positive_or_one(extent)
    return jnp.concatenate([fitness, jnp.stack([z_score(coordinates), distance], axis=-1)], axis=-1)


def centred_ranks(values: Float[Array, " n"]) -> Float[Array, " n"]:
    """Ranks in [-0.5, 0.5], the smallest value first; equal values in the order of their positions.

    So ranks are always the same numbers, in some order, as in the paper's code.
    """
    n = values.shape[0]
    if n <= LARGEST_PAIRWISE_SIZE:
        is_earlier = np.tri(n, k=-1, dtype=bool)
        precedes = (values[None, :] < values[:, None]) | ((values[None, :] == values[:, None]) & is_earlier)
        place = jnp.sum(precedes.astype(values.dtype), axis=1)
    else:
        order = jnp.argsort(values, stable=True)
        place = jnp.zeros_like(values).at[order].set(jnp.arange(n, dtype=values.dtype), unique_indices=True)
    return (place - 0.5 * (n - 1)) / max(n - 1, 1)


def z_score(values: Float[Array, " n"]) -> Float[Array, " n"]:
    """Zero mean and unit deviation; zeros where all values are equal.

    Values are first brought to [0, 1], so that squares neither overflow nor vanish at any scale.
    """
    unit = between_zero_and_one(values)
    centred = unit - jnp.mean(unit)
    return centred / positive_or_one(jnp.sqrt(jnp.mean(centred**2)))


def unit_range(values: Float[Array, " n"]) -> Float[Array, " n"]:
    """Scaled to [-1, 1]; all -1 where all values are equal."""
    return 2.0 * between_zero_and_one(values) - 1.0


def between_zero_and_one(values: Float[Array, " n"]) -> Float[Array, " n"]:
    # A small part of each value: the range of the largest floats would overflow, and its reciprocal would vanish.
    part = 0.0625 * values
    low, high = jnp.min(part), jnp.max(part)
    return (part - low) / positive_or_one(high - low)


def worst_for_failures(fitness: Float[Array, " n"]) -> Float[Array, " n"]:
    """Failed evaluations take the worst value that succeeded, lest one failure flatten all other z-scores."""
    failed = fitness >= FAILED
    return jnp.where(failed, worst_success(fitness, failed), fitness)


def worst_success(fitness: Float[Array, " n"], failed: Bool[Array, " n"]) -> Float[Array, ""]:
    return jnp.max(jnp.where(failed, -FAILED, fitness))


def tanh_age(age, generation) -> Float[Array, " n"]:
    """Share of the search that an individual has lived through, squashed: tanh(age / generation - 1)."""
    return jnp.tanh(age / jnp.maximum(generation, 1) - 1.0)


def positive_or_one(scale: Float[Array, ""]) -> Float[Array, ""]:
    return jnp.where(scale > 0.0, scale, 1.0)
