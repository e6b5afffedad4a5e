"""Crossover: where each child starts from, before it is mutated."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from lga.core.checks import require
from lga.core.interfaces import Crossover
from lga.core.population import Archive, Progress
from lga.core.random import uniform_index
from lga.operators.features import coordinate_features, fitness_features, sampling_features
from lga.operators.fold import bilinear_forms, fold_readout, map_rows, readout_row, with_one
from lga.operators.theta import BlendTheta, ReadoutTheta


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


def attention_blend(theta: BlendTheta) -> Crossover:
    """Every parent moves towards attention-weighted means of all parents, one a head, before it has children.

    The recombination of an evolution strategy is a special case: all weight on the better half, and a gate of one.
    """
    forms = bilinear_forms(theta.query, theta.key)
    num_heads = forms.shape[0]

    def cross(
        key: Key[Array, ""], parents: Archive, parent_index: Int[Array, " n"], progress: Progress
    ) -> Float[Array, "n d"]:
        features = sampling_features(parents, progress)
        rows, solutions = with_one(features), parents.solutions

        def blended(row: Float[Array, " g"], own_features: Float[Array, " f"], own: Float[Array, " d"]):
            logits = (row @ forms) @ rows.T
            # From zero weights a parent moves an eighth of the way to the centroid.
            gates = jax.nn.sigmoid(own_features @ theta.gate.kernel + theta.gate.bias - 2.0) / num_heads
            means = jax.nn.softmax(logits, axis=-1) @ solutions
            return own + gates @ (means - own[None, :])

        crossed = map_rows(blended, (rows, features, solutions), rows.shape[0])
        return crossed[parent_index]

    return cross


CROSSOVERS: dict[str, Callable[..., Crossover]] = {
    "none": no_crossover,
    "uniform": uniform_crossover,
    "immigration": immigration,
    "attention": attention_crossover,
    "blend": attention_blend,
}
