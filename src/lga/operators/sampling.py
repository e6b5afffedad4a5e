"""Sampling: which parent each child descends from."""

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from lga import native
from lga.core import random
from lga.core.checks import require
from lga.core.interfaces import Sampling
from lga.core.population import Archive, Progress
from lga.core.random import index_by_weight, uniform_index
from lga.operators.features import NUM_SAMPLING_FEATURES, fitness_and_age_features
from lga.operators.fold import FoldedReadout
from lga.operators.rows import map_rows, readout_row, require_forms, with_one


def uniform_sampling() -> Sampling:
    """Every parent is as likely as any other, with replacement."""

    def sample(key: Key[Array, ""], parents: Archive, num_children: int, progress: Progress) -> Int[Array, " n"]:
        return uniform_index(key, num_children, parents.fitness.shape[0])

    return sample


def best_sampling(share: float = 0.25) -> Sampling:
    """The best parents take turns, each with as many children as the next: no luck in it."""
    require(0.0 < share <= 1.0, f"share is {share}, but must be more than 0 and at most 1.")

    def sample(key: Key[Array, ""], parents: Archive, num_children: int, progress: Progress) -> Int[Array, " n"]:
        num_best = math.ceil(share * parents.fitness.shape[0])
        best = jnp.argsort(parents.fitness)[:num_best]
        return best[jnp.arange(num_children) % num_best].astype(jnp.int32)

    return sample


def attention_sampling(folded: FoldedReadout) -> Sampling:
    """Self-attention over fitness and age gives each parent its probability."""
    require_forms("sample", folded.attend, NUM_SAMPLING_FEATURES)

    def sample(key: Key[Array, ""], parents: Archive, num_children: int, progress: Progress) -> Int[Array, " n"]:
        fitness = parents.fitness
        uniform = random.uniform(key, num_children, fitness.dtype)
        return draw_parents(
            fitness, parents.age, progress.best_fitness, progress.generation, uniform, folded.attend, folded.value
        )

    return sample


@native.with_kernel(native.sample)
def draw_parents(
    fitness: Float[Array, " e"],
    age: Int[Array, " e"],
    best_fitness: Float[Array, ""],
    generation: Int[Array, ""],
    uniform: Float[Array, " n"],
    attend: Float[Array, "h 5 5"],
    value: Float[Array, "h 5"],
) -> Int[Array, " n"]:
    """For each uniform number the parent that it falls on."""
    features = fitness_and_age_features(fitness, age, best_fitness, generation)
    probabilities = sampling_probabilities(FoldedReadout(attend, value), features)
    return map_rows(lambda u: index_by_weight(u, probabilities), (uniform,), probabilities.shape[0])


def sampling_probabilities(folded: FoldedReadout, features: Float[Array, "e 4"]) -> Float[Array, " e"]:
    rows = with_one(features)
    return jax.nn.softmax(map_rows(lambda row: readout_row(folded, row, rows), (rows,), rows.shape[0]))


SAMPLINGS: dict[str, Callable[..., Sampling]] = {
    "uniform": uniform_sampling,
    "best": best_sampling,
    "attention": attention_sampling,
}
