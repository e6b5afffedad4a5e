"""Shape of mutation: in which directions children are moved, beside how far (`mutation_rate`).

A child starts from x and becomes x + sigma M (z + drift s), z standard normal. What a shape remembers: the path s, a
fading sum of the noise that did well, and M, a matrix or one scale per variable, that is drawn out along directions
that did well and drawn in along those that did badly. The size of M is kept at that of the unit matrix: what it grows
by goes into all mutation rates, and so does a path that is longer or shorter than chance would make it.

With all numbers at zero this is matrix adaptation with the usual constants; the learned form changes these constants.
"""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from lga.core import random
from lga.core.interfaces import MutationShape
from lga.core.population import Children
from lga.core.tree import tree_dataclass
from lga.operators.features import centred_ranks
from lga.operators.fold import usual_shape
from lga.operators.theta import ShapeTheta

# Where the numbers are zero.
USUAL_STEEPNESS = math.log(8.0)
USUAL_AGAINST = -1.0
LARGEST_MATRIX = 200
"""The most variables for which a matrix is kept; above, its cost (N D^2 per generation) and its memory are too much."""
LARGEST_CHANGE = 1.0
"""Of the logarithm of all mutation rates, by the length of the path, in one generation."""
SMALLEST_SCALE, LARGEST_SCALE = 1e-8, 1e8


@tree_dataclass
class Memory:
    """`path` [d]; `stretch` [d, d], or [d] where each variable has a scale of its own."""

    path: Float[Array, "*batch d"]
    stretch: Float[Array, "*shape"]


@tree_dataclass
class Constants:
    """All that a generation's adaptation depends on beside the noise and the ranks."""

    path: Float[Array, ""]
    one: Float[Array, ""]
    many: Float[Array, ""]
    against: Float[Array, ""]
    step: Float[Array, ""]


def isotropic() -> MutationShape:
    """All directions alike, and nothing to remember."""

    def mutate(key, memory, solutions, index, sigma):
        return random.mutate(key, solutions, index, sigma), None

    return MutationShape(lambda solutions: (), mutate, lambda memory, children, fitness: (memory, None))


def matrix(numbers: ShapeTheta | None = None) -> MutationShape:
    """A full matrix: learns any linear change of the variables; rotations of the function change nothing."""

    def init(solutions: Float[Array, "n d"]) -> Memory:
        num_dims = solutions.shape[1]
        return Memory(jnp.zeros(num_dims, solutions.dtype), jnp.eye(num_dims, dtype=solutions.dtype))

    def apply(stretch: Float[Array, "d d"], noise: Float[Array, "n d"]) -> Float[Array, "n d"]:
        return noise @ stretch.T

    def adapt(
        memory: Memory, constants: Constants, good: Float[Array, " n"], bad: Float[Array, " n"], noise, unit
    ) -> Float[Array, "d d"]:
        stretch, path = memory.stretch, memory.path
        rows = jnp.concatenate([noise, unit])
        signed = jnp.concatenate([good, -constants.against * bad])
        # M [(1 - c) I + sum of outer products], written so that it costs n d^2 and not d^3.
        learned = 0.5 * constants.many * ((rows @ stretch.T).T * signed[None, :]) @ rows
        learned += 0.5 * constants.one * (stretch @ path)[:, None] * path[None, :]
        kept = 1.0 - 0.5 * constants.one - 0.5 * constants.many * (1.0 - constants.against)
        return kept * stretch + learned

    return adaptive(init, apply, adapt, False, numbers)


def separable(numbers: ShapeTheta | None = None) -> MutationShape:
    """One scale per variable: linear in the number of variables, and learned faster: there is less of it."""

    def init(solutions: Float[Array, "n d"]) -> Memory:
        num_dims = solutions.shape[1]
        return Memory(jnp.zeros(num_dims, solutions.dtype), jnp.ones(num_dims, solutions.dtype))

    def apply(stretch: Float[Array, " d"], noise: Float[Array, "n d"]) -> Float[Array, "n d"]:
        return noise * stretch[None, :]

    def adapt(
        memory: Memory, constants: Constants, good: Float[Array, " n"], bad: Float[Array, " n"], noise, unit
    ) -> Float[Array, " d"]:
        pulled = good @ noise**2 - constants.against * (bad @ unit**2)
        factor = 1.0 + 0.5 * constants.one * (memory.path**2 - 1.0)
        factor += 0.5 * constants.many * (pulled - (1.0 - constants.against))
        return jnp.clip(memory.stretch * jnp.clip(factor, 0.5, 2.0), SMALLEST_SCALE, LARGEST_SCALE)

    return adaptive(init, apply, adapt, True, numbers)


def by_number_of_variables(few: MutationShape, many: MutationShape) -> MutationShape:
    """One shape up to `LARGEST_MATRIX` variables, another above."""

    def for_size(num_dims: int) -> MutationShape:
        return few if num_dims <= LARGEST_MATRIX else many

    def mutate(key, memory, solutions, index, sigma):
        return for_size(solutions.shape[1]).mutate(key, memory, solutions, index, sigma)

    def update(memory, children, fitness):
        return for_size(children.solutions.shape[1]).update(memory, children, fitness)

    return MutationShape(lambda solutions: for_size(solutions.shape[1]).init(solutions), mutate, update)


def adaptive(
    init: Callable[..., Memory],
    apply: Callable[..., Float[Array, "n d"]],
    adapt: Callable[..., Any],
    is_diagonal: bool,
    numbers: ShapeTheta | None,
) -> MutationShape:
    """What a matrix and scales have in common: noise along the path, weights by rank, the path, and the rates."""
    learned = numbers if numbers is not None else usual_shape()

    def mutate(
        key: Key[Array, ""],
        memory: Memory,
        solutions: Float[Array, "e d"],
        index: Int[Array, " n"],
        sigma: Float[Array, " n"],
    ) -> tuple[Float[Array, "n d"], Float[Array, "n d"]]:
        num_children, num_dims = index.shape[0], solutions.shape[1]
        noise = random.normal(key, num_children, num_dims, solutions.dtype)
        drift = slope(learned.drift, num_dims)
        steps = apply(memory.stretch, noise + drift * memory.path[None, :])
        return solutions[index] + sigma[:, None] * steps, noise

    def update(memory: Memory, children: Children, fitness: Float[Array, " n"]) -> tuple[Memory, Float[Array, ""]]:
        noise = children.noise
        assert noise is not None
        num_dims = noise.shape[1]
        good, bad = rank_weights(learned, fitness)
        mass = 1.0 / jnp.sum(good**2)
        constants = constants_of(learned, mass, num_dims, is_diagonal)
        rate = constants.path
        path = (1.0 - rate) * memory.path + jnp.sqrt(mass * rate * (2.0 - rate)) * (good @ noise)
        lengths = jnp.sqrt(jnp.maximum(jnp.sum(noise**2, axis=1, keepdims=True), 1e-20))
        unit = math.sqrt(num_dims) * noise / lengths
        stretch = adapt(Memory(path, memory.stretch), constants, good, bad, noise, unit)
        size = jnp.sqrt(jnp.sum(stretch**2) / num_dims)
        longer = jnp.sqrt(jnp.sum(path**2)) / expected_length(num_dims) - 1.0
        change = jnp.clip(constants.step * longer, -LARGEST_CHANGE, LARGEST_CHANGE)
        factor = size * jnp.exp(change)
        # A memory that left the floats would never come back: such a generation teaches it nothing.
        sound = jnp.isfinite(factor) & (factor > 0.0)
        kept = jax.tree.map(lambda new, old: jnp.where(sound, new, old), Memory(path, stretch / size), memory)
        return kept, jnp.where(sound, factor, 1.0)

    return MutationShape(init, mutate, update)


def slope(pair: Float[Array, "2"], num_dims: int) -> Float[Array, ""]:
    return pair[0] + pair[1] * math.log(num_dims / 10.0)


def rank_weights(numbers: ShapeTheta, fitness: Float[Array, " n"]) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    """Weights of the children, the best first, and the worst first; both sum to one."""
    ranks = centred_ranks(fitness)
    log_steepness = USUAL_STEEPNESS + numbers.steepness[0] + numbers.steepness[1] * math.log(fitness.shape[0] / 16.0)
    steepness = jnp.exp(log_steepness)
    return jax.nn.softmax(-steepness * ranks), jax.nn.softmax(steepness * ranks)


def constants_of(numbers: ShapeTheta, mass: Float[Array, ""], num_dims: int, is_diagonal: bool) -> Constants:
    """The usual constants of matrix adaptation, each times its learned factor; `mass` is mu_eff."""
    d = float(num_dims)
    # With one number per variable there is less to learn, and it is learned faster, as in separable CMA-ES.
    faster = (d + 2.0) / 3.0 if is_diagonal else 1.0
    path = jnp.clip(jnp.exp(slope(numbers.path, num_dims)) * (mass + 2.0) / (d + mass + 5.0), 1e-4, 1.0)
    one = jnp.exp(slope(numbers.one, num_dims)) * faster * 2.0 / ((d + 1.3) ** 2 + mass)
    many = jnp.exp(slope(numbers.many, num_dims)) * faster * 2.0 * (mass - 2.0 + 1.0 / mass) / ((d + 2.0) ** 2 + mass)
    damping = 1.0 + path + 2.0 * jnp.maximum(0.0, jnp.sqrt((mass - 1.0) / (d + 1.0)) - 1.0)
    return Constants(
        path=path,
        one=jnp.clip(one, 0.0, 0.5),
        many=jnp.clip(many, 0.0, 0.9),
        against=jnp.exp(USUAL_AGAINST + slope(numbers.against, num_dims)),
        step=jnp.exp(slope(numbers.step, num_dims)) * path / damping,
    )


def expected_length(num_dims: int) -> float:
    """Of a vector of standard normal numbers."""
    d = float(num_dims)
    return math.sqrt(d) * (1.0 - 1.0 / (4.0 * d) + 1.0 / (21.0 * d * d))


SHAPES: dict[str, Callable[..., MutationShape]] = {"isotropic": isotropic, "separable": separable, "matrix": matrix}
