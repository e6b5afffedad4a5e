"""Crossover: where each child starts from, before it is mutated."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from lga import native
from lga.core.checks import require
from lga.core.interfaces import Crossover, Origins
from lga.core.population import Archive, Progress
from lga.core.random import uniform_index
from lga.operators.features import (
    NUM_CROSSOVER_FEATURES,
    NUM_SAMPLING_FEATURES,
    coordinate_features,
    fitness_and_age_features,
    fitness_features,
)
from lga.operators.fold import FoldedBlend, FoldedReadout
from lga.operators.rows import map_rows, readout_row, require_forms, with_one


def no_crossover() -> Crossover:
    """A child starts from its parent."""

    def cross(key: Key[Array, ""], parents: Archive, parent_index: Int[Array, " n"], progress: Progress) -> Origins:
        return Origins(parents.solutions[parent_index], parents.sigma[parent_index])

    return cross


def uniform_crossover(swap_probability: float = 0.5) -> Crossover:
    """Each coordinate comes from a second, random parent with the given probability."""
    require(0.0 <= swap_probability <= 1.0, f"swap_probability is {swap_probability}, but must lie between 0 and 1.")

    def cross(key: Key[Array, ""], parents: Archive, parent_index: Int[Array, " n"], progress: Progress) -> Origins:
        key_mate, key_swap = jax.random.split(key)
        mate_index = uniform_index(key_mate, parent_index.shape[0], parents.fitness.shape[0])
        first, second = parents.solutions[parent_index], parents.solutions[mate_index]
        swapped = jnp.where(jax.random.bernoulli(key_swap, swap_probability, first.shape), second, first)
        return Origins(swapped, parents.sigma[parent_index])

    return cross


def immigration(low: float, high: float) -> Crossover:
    """No ancestry at all: every child is a newcomer, uniform in a box. Without mutation this is random search."""
    require(low < high, f"low is {low} and high is {high}, but low must be less than high.")

    def cross(key: Key[Array, ""], parents: Archive, parent_index: Int[Array, " n"], progress: Progress) -> Origins:
        shape = (parent_index.shape[0], parents.solutions.shape[1])
        return Origins(jax.random.uniform(key, shape, minval=low, maxval=high), parents.sigma[parent_index])

    return cross


def attention_crossover(folded: FoldedReadout) -> Crossover:
    """Self-attention over the parents, one dimension at a time, gives an additive change of every parent.

    The change is in units of the dimension's deviation over the parents, so that it scales with the solutions; parents
    that agree on a coordinate keep it.
    """
    require_forms("cross", folded.attend, NUM_CROSSOVER_FEATURES)

    def cross(key: Key[Array, ""], parents: Archive, parent_index: Int[Array, " n"], progress: Progress) -> Origins:
        fitness = fitness_features(parents.fitness, progress.best_fitness)
        best_parent = jnp.argmin(parents.fitness)
        num_parents = parents.fitness.shape[0]

        def crossed_dimension(coordinates: Float[Array, " e"]) -> Float[Array, " e"]:
            rows = with_one(coordinate_features(coordinates, fitness, coordinates[best_parent]))
            change = map_rows(lambda row: readout_row(folded, row, rows), (rows,), num_parents)
            crossed = coordinates + jnp.std(coordinates) * change
            # Changes in units of the deviation compound over generations: where they leave the floats, parents stay.
            return jnp.where(jnp.isfinite(crossed), crossed, coordinates)

        # As many dimensions at a time as fill a block of attention, at least one.
        crossed = map_rows(crossed_dimension, (parents.solutions.T,), num_parents * num_parents)
        return Origins(crossed.T[parent_index], parents.sigma[parent_index])

    return cross


def attention_blend(folded: FoldedBlend, merge: Float[Array, "1"] | None = None) -> Crossover:
    """Every parent moves towards attention-weighted means of all parents, one per head, before it has children.

    The recombination of an evolution strategy is a special case: all weight on the better half, and a gate of one.
    With `merge`, a logit, a parent's rate moves some of the way to the mean (in logarithms) of those that it is
    blended with.
    """
    require_forms("blend", folded.attend, NUM_SAMPLING_FEATURES)
    gate = folded.gate

    def cross(key: Key[Array, ""], parents: Archive, parent_index: Int[Array, " n"], progress: Progress) -> Origins:
        solutions, away = blended_parents(
            parents.fitness,
            parents.age,
            progress.best_fitness,
            progress.generation,
            parents.solutions,
            parents.sigma,
            parent_index,
            folded.attend,
            gate.kernel,
            gate.bias,
        )
        sigma = parents.sigma[parent_index]
        return Origins(solutions, sigma if merge is None else sigma * jnp.exp(jax.nn.sigmoid(merge) * away))

    return cross


@native.with_kernel(native.blend)
def blended_parents(
    fitness: Float[Array, " e"],
    age: Int[Array, " e"],
    best_fitness: Float[Array, ""],
    generation: Int[Array, ""],
    solutions: Float[Array, "e d"],
    sigma: Float[Array, " e"],
    parent_index: Int[Array, " n"],
    attend: Float[Array, "h 5 5"],
    gate_kernel: Float[Array, "4 h"],
    gate_bias: Float[Array, " h"],
) -> tuple[Float[Array, "n d"], Float[Array, " n"]]:
    """The parents at the indices, moved; and how far their rates are, in logarithms, from those that they moved to."""
    features = fitness_and_age_features(fitness, age, best_fitness, generation)
    rows, log_sigma = with_one(features), jnp.log(sigma)
    num_heads = attend.shape[0]

    def blended(row: Float[Array, " g"], own_features: Float[Array, " f"], own: Float[Array, " d"], own_log_sigma):
        logits = (row @ attend) @ rows.T
        # From zero weights a parent moves an eighth of the way to the centroid.
        gates = jax.nn.sigmoid(own_features @ gate_kernel + gate_bias - 2.0) / num_heads
        shares = gates @ jax.nn.softmax(logits, axis=-1)
        # In differences: rates that are equal stay so to the last bit, or features would see their rounding.
        away = shares @ (log_sigma - own_log_sigma) / jnp.sum(gates)
        return own + (shares @ solutions - jnp.sum(gates) * own), away

    moved, away = map_rows(blended, (rows, features, solutions, log_sigma), rows.shape[0])
    return moved[parent_index], away[parent_index]


CROSSOVERS: dict[str, Callable[..., Crossover]] = {
    "none": no_crossover,
    "uniform": uniform_crossover,
    "immigration": immigration,
    "attention": attention_crossover,
    "blend": attention_blend,
}
