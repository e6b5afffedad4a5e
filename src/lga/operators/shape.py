"""Shape of mutation: in which directions children are moved, beside how far (`mutation_rate`).

A child starts from x and becomes x + sigma M (z + drift s), z standard normal. The z of a generation are balanced: in
mirrored pairs, the pairs at right angles, so that a few children probe many directions and none of them twice. What a
shape remembers: the path s, a fading sum of the noise that did well, and M, a matrix or one scale per variable, that
is drawn out along directions that did well and drawn in along those that did badly. The size of M is kept at that of
the unit matrix: what it grows by goes into all mutation rates, and so does a path that is longer or shorter than
chance would make it.

With all numbers at zero this is matrix adaptation with the usual constants; the learned form changes these constants.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from lga import native
from lga.core import random
from lga.core.interfaces import MutationShape
from lga.core.population import Children
from lga.core.tree import tree_dataclass
from lga.operators.features import centred_ranks
from lga.operators.fold import usual_shape
from lga.operators.theta import ShapeTheta

# Where the numbers are zero.
USUAL_STEEPNESS = math.log(4.0)
USUAL_AGAINST = -1.0
LARGEST_MATRIX = 200
"""The most variables for which a matrix is kept; above, its cost (N D^2 per generation) and its memory are too much."""
LARGEST_CHANGE = 1.0
"""Of the logarithm of all mutation rates, by the length of the path, in one generation."""
LARGEST_DRIFT = 1.8
"""Relative to the mean step that the path remembers, where children are many and variables few. There a generation
comes as far as the optimum, and a larger drift carries it past: each time farther, until the rates run away."""
DEVIATIONS_BY_LUCK, TRUST_PER_EXCESS = 3.0, 4.0
"""How far the squared path may exceed its mean by chance before it is trusted, and how fast trust then grows."""
SMALLEST_SCALE, LARGEST_SCALE = 1e-8, 1e8
SMALLEST_CHANCE = 1e-12
SMALLEST_MASS = 1e-6
"""Where all weights are equal, a sum of mirrored noise is zero."""


@tree_dataclass
class Memory:
    """`path` [d]; `stretch` [d, d], or [d] where each variable has a scale of its own.

    `chance` is the mean square of a path where chance ranks the children: for those who drift by evidence.
    """

    path: Float[Array, "*batch d"]
    stretch: Float[Array, "*shape"]
    chance: Float[Array, "*batch"] | None = None


def isotropic() -> MutationShape:
    """All directions alike, and nothing to remember."""

    def mutate(key, memory, solutions, index, sigma):
        return random.mutate(key, solutions, index, sigma), None

    return MutationShape(lambda solutions: (), mutate, lambda memory, children, fitness: (memory, None))


def matrix(numbers: ShapeTheta | None = None, balanced: bool = True) -> MutationShape:
    """A full matrix: learns any linear change of the variables; rotations of the function change nothing."""
    return adaptive(
        lambda num_dims, dtype: jnp.eye(num_dims, dtype=dtype), bend_by_matrix, adapt_matrix, numbers, balanced
    )


def separable(
    numbers: ShapeTheta | None = None, balanced: bool = True, drifts_by_evidence: bool = False
) -> MutationShape:
    """One scale per variable: linear in the number of variables, and learned faster, since there is less of it.

    Where fitness is mostly luck, the path is a random walk, and a drift along it leads astray: by evidence, children
    drift only as far as the path is longer than chance would make it.
    """
    return adaptive(jnp.ones, bend_by_scales, adapt_scales, numbers, balanced, drifts_by_evidence)


def has_matrix(num_dims: int) -> bool:
    return num_dims <= LARGEST_MATRIX


def by_number_of_variables(few: MutationShape, many: MutationShape) -> MutationShape:
    """One shape up to `LARGEST_MATRIX` variables, another above."""

    def for_size(num_dims: int) -> MutationShape:
        return few if has_matrix(num_dims) else many

    def mutate(key, memory, solutions, index, sigma):
        return for_size(solutions.shape[1]).mutate(key, memory, solutions, index, sigma)

    def update(memory, children, fitness):
        return for_size(children.solutions.shape[1]).update(memory, children, fitness)

    return MutationShape(lambda solutions: for_size(solutions.shape[1]).init(solutions), mutate, update)


def adaptive(
    unit: Callable[[int, Any], Array],
    bend: Callable[..., Array],
    adapt: Callable[..., Any],
    numbers: ShapeTheta | None,
    balanced: bool,
    drifts_by_evidence: bool = False,
) -> MutationShape:
    """A shape with a memory, in the form of a matrix or of scales."""
    learned = numbers if numbers is not None else usual_shape()
    draw = random.balanced_normal if balanced else random.normal

    def init(solutions: Float[Array, "n d"]) -> Memory:
        num_dims, dtype = solutions.shape[1], solutions.dtype
        chance = jnp.zeros((), dtype) if drifts_by_evidence else None
        return Memory(jnp.zeros(num_dims, dtype), unit(num_dims, dtype), chance)

    def mutate(
        key: Key[Array, ""],
        memory: Memory,
        solutions: Float[Array, "e d"],
        index: Int[Array, " n"],
        sigma: Float[Array, " n"],
    ) -> tuple[Float[Array, "n d"], Float[Array, "n d"]]:
        num_dims = solutions.shape[1]
        noise = draw(key, index.shape[0], num_dims, solutions.dtype)
        drift = (trust_in(memory) * drift_of(learned, *noise.shape) * memory.path).astype(noise.dtype)
        return bend(solutions[index], sigma, noise, drift, memory.stretch), noise

    def update(memory: Memory, children: Children, fitness: Float[Array, " n"]) -> tuple[Memory, Float[Array, ""]]:
        noise = children.noise
        assert noise is not None
        strengths = strengths_of(learned, *noise.shape).astype(noise.dtype)
        path, stretch, factor = adapt(fitness, noise, memory.path, memory.stretch, strengths)
        # A memory that left the floats would never come back: such a generation teaches it nothing.
        sound = jnp.isfinite(factor) & (factor > 0.0) & jnp.all(jnp.isfinite(path))
        chance = None if memory.chance is None else next_chance(memory.chance, strengths, *noise.shape)
        kept = jax.tree.map(lambda new, old: jnp.where(sound, new, old), Memory(path, stretch, chance), memory)
        return kept, jnp.where(sound, factor, 1.0)

    return MutationShape(init, mutate, update)


# What is learned.


def along(pair: Float[Array, "2"], num_dims: int) -> Float[Array, ""]:
    return pair[0] + pair[1] * math.log(num_dims / 10.0)


def strengths_of(numbers: ShapeTheta, num_children: int, num_dims: int) -> Float[Array, "7"]:
    """What a search of this size multiplies the usual constants by, in the order of `Strengths`."""
    steepness = USUAL_STEEPNESS + numbers.steepness[0] + numbers.steepness[1] * math.log(num_children / 16.0)
    others = (numbers.path, numbers.one, numbers.many, numbers.against, numbers.step, numbers.rest)
    path, one, many, against, step, rest = (along(pair, num_dims) for pair in others)
    return jnp.exp(jnp.stack([steepness, path, one, many, USUAL_AGAINST + against, step, rest]))


class Strengths(NamedTuple):
    steepness: Any
    """How steeply the weights of the children fall with their rank."""
    path: Any
    one: Any
    many: Any
    against: Any
    """How much the worst children push away, relative to the pull of the best."""
    step: Any
    rest: Any
    """The length of the path, relative to that by chance, at which rates stay as they are."""


def drift_of(numbers: ShapeTheta, num_children: int, num_dims: int) -> Float[Array, ""]:
    """Which share of the path all children are moved by; never backwards, and not so far that they overshoot."""
    strength = Strengths(*strengths_of(numbers, num_children, num_dims))
    good, _ = weights_of(strength, jnp.linspace(-0.5, 0.5, num_children))
    mass = mass_of(good)
    rate = path_rate(strength, mass, num_dims)
    remembered = jnp.sqrt(rate / ((2.0 - rate) * balanced_mass(mass, num_children)))
    # The more variables there are for each child, the smaller is the part of the way that a generation takes.
    largest = LARGEST_DRIFT * (1.0 + num_dims / mass) * remembered
    return jnp.clip(along(numbers.drift, num_dims), 0.0, largest)


def trust_in(memory: Memory) -> Float[Array, ""] | float:
    """Which share of its learned drift a path deserves: none if it is as long as by chance, all if much longer."""
    if memory.chance is None:
        return 1.0
    excess = jnp.mean(memory.path**2) / jnp.maximum(memory.chance, SMALLEST_CHANCE) - 1.0
    by_luck = DEVIATIONS_BY_LUCK * math.sqrt(2.0 / memory.path.shape[0])
    return jnp.clip(TRUST_PER_EXCESS * (excess - by_luck), 0.0, 1.0)


def next_chance(
    chance: Float[Array, ""], strengths: Float[Array, "7"], num_children: int, num_dims: int
) -> Float[Array, ""]:
    """The mean square of a path, one generation on, if chance ranks the children: from 0 at the start to 1."""
    strength = Strengths(*strengths)
    good, _ = weights_of(strength, jnp.linspace(-0.5, 0.5, num_children, dtype=strengths.dtype))
    rate = path_rate(strength, mass_of(good), num_dims)
    return (1.0 - rate) ** 2 * chance + rate * (2.0 - rate)


class Lesson(NamedTuple):
    """What a generation teaches, before it is applied to a matrix or to scales."""

    path: Float[Array, " d"]
    pull: Float[Array, " n"]
    """How much each child draws the shape out along its noise (in where it is negative)."""
    one: Float[Array, ""]
    """The same for the path."""
    kept: Float[Array, ""]
    change: Float[Array, ""]
    """Of the logarithm of all rates, by the length of the path."""


def lesson(
    fitness: Float[Array, " n"],
    noise: Float[Array, "n d"],
    path: Float[Array, " d"],
    strengths: Float[Array, "7"],
    is_diagonal: bool,
) -> Lesson:
    """Weights by rank, the path, and the usual constants of matrix adaptation, each times its strength."""
    strength, d = Strengths(*strengths), float(noise.shape[1])
    good, bad = weights_of(strength, centred_ranks(fitness))
    mass = mass_of(good)
    # With one number per variable there is less to learn, and it is learned faster, as in separable CMA-ES.
    faster = (d + 2.0) / 3.0 if is_diagonal else 1.0
    rate = path_rate(strength, mass, noise.shape[1])
    one = jnp.clip(strength.one * faster * 2.0 / ((d + 1.3) ** 2 + mass), 0.0, 0.5)
    many = strength.many * faster * 2.0 * (mass - 2.0 + 1.0 / mass) / ((d + 2.0) ** 2 + mass)
    many = jnp.clip(many, 0.0, 0.9)
    path = (1.0 - rate) * path + jnp.sqrt(balanced_mass(mass, noise.shape[0]) * rate * (2.0 - rate)) * (good @ noise)
    # The noise of bad children is brought to the usual length: a long one would draw the shape in too far.
    squares = jnp.maximum(jnp.sum(noise**2, axis=1), 1e-20)
    pull = good - strength.against * bad * d / squares
    damping = 1.0 + rate + 2.0 * jnp.maximum(0.0, jnp.sqrt((mass - 1.0) / (d + 1.0)) - 1.0)
    longer = jnp.sqrt(jnp.sum(path**2)) / expected_length(noise.shape[1]) - strength.rest
    return Lesson(
        path=path,
        pull=0.5 * many * pull,
        one=0.5 * one,
        kept=1.0 - 0.5 * one - 0.5 * many * (1.0 - strength.against),
        change=jnp.clip(strength.step * rate / damping * longer, -LARGEST_CHANGE, LARGEST_CHANGE),
    )


def weights_of(strength: Strengths, ranks: Float[Array, " n"]) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    """Of the good and of the bad children."""
    return jax.nn.softmax(-strength.steepness * ranks), jax.nn.softmax(strength.steepness * ranks)


def mass_of(weights: Float[Array, " n"]) -> Float[Array, ""]:
    """How many children the weights amount to."""
    return 1.0 / jnp.sum(weights**2)


def path_rate(strength: Strengths, mass: Float[Array, ""], num_dims: int) -> Float[Array, ""]:
    return jnp.clip(strength.path * (mass + 2.0) / (num_dims + mass + 5.0), 1e-4, 1.0)


def balanced_mass(mass: Float[Array, ""], num_children: int) -> Float[Array, ""]:
    """By how much a weighted sum of balanced noise is shorter than noise, squared, where chance ranks the children.

    With independent rows that is the mass. Of a mirrored pair the sum has only the difference of the two weights.
    """
    n = float(num_children)
    weight_product = (1.0 - 1.0 / mass) / max(n * (n - 1.0), 1.0)
    return 1.0 / jnp.maximum(1.0 / mass - 2.0 * (num_children // 2) * weight_product, SMALLEST_MASS)


def expected_length(num_dims: int) -> float:
    """Of a vector of standard normal numbers."""
    d = float(num_dims)
    return math.sqrt(d) * (1.0 - 1.0 / (4.0 * d) + 1.0 / (21.0 * d * d))


# A matrix.


@native.with_kernel(native.bend)
def bend_by_matrix(
    start: Float[Array, "n d"],
    sigma: Float[Array, " n"],
    noise: Float[Array, "n d"],
    drift: Float[Array, " d"],
    stretch: Float[Array, "d d"],
) -> Float[Array, "n d"]:
    return start + sigma[:, None] * jnp.matmul(noise + drift[None, :], stretch.T, precision="highest")


@native.with_kernel(native.adapt)
def adapt_matrix(
    fitness: Float[Array, " n"],
    noise: Float[Array, "n d"],
    path: Float[Array, " d"],
    stretch: Float[Array, "d d"],
    strengths: Float[Array, "7"],
) -> tuple[Float[Array, " d"], Float[Array, "d d"], Float[Array, ""]]:
    """The next path and matrix, and what all mutation rates are multiplied by."""
    taught = lesson(fitness, noise, path, strengths, is_diagonal=False)
    rows = jnp.concatenate([noise, taught.path[None, :]])
    pull = jnp.append(taught.pull, taught.one)
    # M [kept I + sum of outer products], in an order that costs n d^2 and not d^3.
    bent = jnp.matmul(rows, stretch.T, precision="highest")
    new = taught.kept * stretch + jnp.matmul((pull[:, None] * bent).T, rows, precision="highest")
    size = jnp.sqrt(jnp.sum(new**2) / noise.shape[1])
    return taught.path, new / size, size * jnp.exp(taught.change)


# One scale per variable.


def bend_by_scales(
    start: Float[Array, "n d"],
    sigma: Float[Array, " n"],
    noise: Float[Array, "n d"],
    drift: Float[Array, " d"],
    stretch: Float[Array, " d"],
) -> Float[Array, "n d"]:
    return start + sigma[:, None] * stretch[None, :] * (noise + drift[None, :])


def adapt_scales(
    fitness: Float[Array, " n"],
    noise: Float[Array, "n d"],
    path: Float[Array, " d"],
    stretch: Float[Array, " d"],
    strengths: Float[Array, "7"],
) -> tuple[Float[Array, " d"], Float[Array, " d"], Float[Array, ""]]:
    taught = lesson(fitness, noise, path, strengths, is_diagonal=True)
    factor = taught.kept + taught.one * taught.path**2 + taught.pull @ noise**2
    new = jnp.clip(stretch * jnp.clip(factor, 0.5, 2.0), SMALLEST_SCALE, LARGEST_SCALE)
    size = jnp.sqrt(jnp.mean(new**2))
    return taught.path, new / size, size * jnp.exp(taught.change)


SHAPES: dict[str, Callable[..., MutationShape]] = {"isotropic": isotropic, "separable": separable, "matrix": matrix}
