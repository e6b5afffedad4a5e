"""Crossover: where each child starts from, before it is mutated."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from lga.core.checks import require
from lga.core.interfaces import Crossover
from lga.core.population import Archive, Progress
from lga.core.random import uniform_index
from lga.operators.features import coordinate_features, fitness_features
from lga.operators.fold import fold_readout, map_rows, readout_row, with_one
from lga.operators.theta import ReadoutTheta


def no_crossover() -> Crossover:
    """A child starts from its parent."""

    def cross(
        key: Key[Array, ""], parents: Archive, parent_index: Int[Array, " n"], progress: Progress
    ) -> Float[Array, "n d"]:
        return parents.solutions[parent_index]

    return cross


def uniform_crossover(swap_probability: float = 0.5) -> Crossover:
    """Each coordinate comes from a second, random parent with the given probability."""
    require(0.0 <= swap_probability <= 1.0, f"swap_probability is {swap_probability}, but must lie between 0 and 1.")

    def cross(
        key: Key[Array, ""], parents: Archive, parent_index: Int[Array, " n"], progress: Progress
    ) -> Float[Array, "n d"]:
        key_mate, key_swap = jax.random.split(key)
        mate_index = uniform_index(key_mate, parent_index.shape[0], parents.fitness.shape[0])
        first, second = parents.solutions[parent_index], parents.solutions[mate_index]
        return jnp.where(jax.random.bernoulli(key_swap, swap_probability, first.shape), second, first)

    return cross


def immigration(low: float, high: float) -> Crossover:
    """No ancestry at all: every child is a newcomer, uniform in a box. Without mutation this is random search."""
    require(low < high, f"low is {low} and high is {high}, but low must be less than high.")

    def cross(
        key: Key[Array, ""], parents: Archive, parent_index: Int[Array, " n"], progress: Progress
    ) -> Float[Array, "n d"]:
        shape = (parent_index.shape[0], parents.solutions.shape[1])
        return jax.random.uniform(key, shape, minval=low, maxval=high)

    return cross


def attention_crossover(theta: ReadoutTheta) -> Crossover:
    """Self-attention over the parents, one dimension at a time, gives an additive change of every parent.

    The change is in units of the dimension's deviation over the parents, so that it scales with the solutions; parents
    that agree on a coordinate keep it.
    """
    folded = fold_readout(theta)

    def cross(
        key: Key[Array, ""], parents: Archive, parent_index: Int[Array, " n"], progress: Progress
    ) -> Float[Array, "n d"]:
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
        return crossed.T[parent_index]

    return cross


CROSSOVERS: dict[str, Callable[..., Crossover]] = {
    "none": no_crossover,
    "uniform": uniform_crossover,
    "immigration": immigration,
    "attention": attention_crossover,
}
