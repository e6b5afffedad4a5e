"""Screening: which of many candidates are worth an evaluation.

Every candidate attends to all that was evaluated, by how close it is, and gathers the ranks that it finds there: what
neighbours of good solutions promise. A candidate that finds little to attend to may be anything, and is worth a look
for that. So a search knows its own past, of which an archive of a few parents remembers next to nothing.
"""

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from lga.core.box import to_unit
from lga.core.interfaces import Screening
from lga.core.population import FAILED, rank_failures_last
from lga.core.tree import tree_dataclass
from lga.operators.theta import ScreenTheta

CAPACITY = 128
"""Evaluated solutions that are remembered: the latest ones."""
CANDIDATES = 32
"""For each child."""
# Where the numbers are zero.
USUAL_WIDTH = math.log(0.2)
"""Logarithm of how far attention reaches, in units of a box of side 1 and its diagonal."""
USUAL_PRIOR = math.log(0.3)
"""Logarithm of how many neighbours an unknown solution counts for."""
USUAL_EXPLORE = math.log(0.6)
"""Logarithm of what it is worth to know nothing of a place, in ranks from 0 to 1."""
USUAL_RELEVANCE = 0.0
"""Logarithm of how much farther apart a variable keeps solutions, if it goes with fitness."""
FEW = 25.0
"""Evaluations at which slopes over their number are zero."""
PATIENCE_OF_RELEVANCE = 20.0
"""Evaluations after which half of the relevance is believed."""
SMALLEST_DEVIATION = 0.02
SAME_PLACE = 1.0 - 1e-6
SHIFTS = (1, 2, 3, 4, 6, 9, 14, 22, 34, 52)
"""Distances in the ring between solutions that are compared: a few pairs for each, in place of all."""


@tree_dataclass
class Past:
    """What was evaluated, in a ring: the latest overwrites the oldest. Places in [0, 1]."""

    places: Float[Array, "*batch c d"]
    fitness: Float[Array, "*batch c"]
    count: Int[Array, "*batch"]


def attention_screening(folded: ScreenTheta, num_candidates: int = CANDIDATES, capacity: int = CAPACITY) -> Screening:
    """The candidates of best promise, one after the other: each that is chosen makes its neighbourhood less unknown."""

    def init(solutions: Float[Array, "n d"], fitness: Float[Array, " n"]) -> Past:
        return remember(empty_past(capacity, solutions, fitness), solutions, fitness)

    def choose(past: Past, solutions: Float[Array, "k d"], num_children: int) -> Int[Array, " n"]:
        places = to_unit(solutions)
        known = jnp.arange(capacity) < past.count
        number = jnp.minimum(past.count, capacity).astype(places.dtype)
        worth = promise_of_ranks(past.fitness, known, number)
        scales = relevance(folded, past.places, worth, known, number)
        reach = reach_of(folded, places.shape[1], number)
        closeness = jnp.where(known[None, :], nearness(places, past.places, scales / reach), 0.0)
        prior, explore = jnp.exp(USUAL_PRIOR + folded.prior[0]), explore_of(folded, number)
        seen = jnp.sum(closeness, axis=1)
        expected = (closeness @ worth + 0.5 * prior) / (seen + prior)

        def pick(position, carry):
            chosen, expected, mass = carry
            best = jnp.argmin(expected - explore / jnp.sqrt(1.0 + mass)).astype(jnp.int32)
            near = nearness(places, places[best][None], scales / reach)[:, 0]
            # A place is chosen once, though several candidates may be there.
            is_there = (near >= SAME_PLACE) | (jnp.arange(near.shape[0]) == best)
            return chosen.at[position].set(best), jnp.where(is_there, jnp.inf, expected), mass + near

        chosen = jnp.zeros(num_children, jnp.int32)
        return jax.lax.fori_loop(0, num_children, pick, (chosen, expected, seen))[0]

    return Screening(num_candidates, init, choose, remember)


def empty_past(capacity: int, solutions: Float[Array, "n d"], fitness: Float[Array, " n"]) -> Past:
    return Past(
        places=jnp.zeros((capacity, solutions.shape[1]), solutions.dtype),
        fitness=jnp.full(capacity, FAILED, fitness.dtype),
        count=jnp.zeros((), jnp.int32),
    )


def remember(past: Past, solutions: Float[Array, "n d"], fitness: Float[Array, " n"]) -> Past:
    capacity, number = past.fitness.shape[0], fitness.shape[0]
    latest = max(number - capacity, 0)
    slots = (past.count + jnp.arange(latest, number)) % capacity
    return Past(
        places=past.places.at[slots].set(to_unit(solutions[latest:])),
        fitness=past.fitness.at[slots].set(rank_failures_last(fitness[latest:])),
        count=past.count + number,
    )


def promise_of_ranks(
    fitness: Float[Array, " c"], known: Bool[Array, " c"], number: Float[Array, ""]
) -> Float[Array, " c"]:
    """Ranks from 0, the best, to 1; equals share theirs."""
    below = (fitness[None, :] < fitness[:, None]) & known[None, :]
    equal = (fitness[None, :] == fitness[:, None]) & known[None, :]
    place = jnp.sum(below, axis=1) + 0.5 * (jnp.sum(equal, axis=1) - 1.0)
    return jnp.where(known, place / jnp.maximum(number - 1.0, 1.0), 0.0).astype(fitness.dtype)


def relevance(
    folded: ScreenTheta,
    places: Float[Array, "c d"],
    worth: Float[Array, " c"],
    known: Bool[Array, " c"],
    number: Float[Array, ""],
) -> Float[Array, " d"]:
    """What distances along each variable are multiplied by: more where solutions that differ in it differ in rank."""
    both = jnp.stack([known & jnp.roll(known, shift) for shift in SHIFTS])
    weight = both / jnp.maximum(jnp.sum(both), 1)

    def centred_gaps(values: Float[Array, "c *k"]) -> Float[Array, "s c *k"]:
        gaps = jnp.abs(jnp.stack([values - jnp.roll(values, shift, axis=0) for shift in SHIFTS]))
        mean = jnp.tensordot(weight, gaps, 2)
        return gaps - jnp.broadcast_to(mean, gaps.shape)

    apart, differ = centred_gaps(places), centred_gaps(worth)
    together = jnp.tensordot(weight * differ, apart, 2)
    deviation = jnp.sqrt(jnp.tensordot(weight, apart**2, 2) * jnp.sum(weight * differ**2))
    correlation = jnp.maximum(together / jnp.where(deviation > 0.0, deviation, 1.0), 0.0)
    spread = jnp.std(correlation) + SMALLEST_DEVIATION
    belief = jnp.exp(USUAL_RELEVANCE + folded.relevance[0]) * number / (number + PATIENCE_OF_RELEVANCE)
    squares = jnp.exp(belief * (correlation - jnp.mean(correlation)) / spread)
    return jnp.sqrt(squares / jnp.mean(squares))


def nearness(
    places: Float[Array, "k d"], others: Float[Array, "c d"], scales: Float[Array, " d"]
) -> Float[Array, "k c"]:
    """exp(-distance^2 / 2), with distances in units of 1 / scales."""
    near, far = places * scales[None, :], others * scales[None, :]
    squares = jnp.sum(near**2, axis=1)[:, None] + jnp.sum(far**2, axis=1)[None, :]
    return jnp.exp(-0.5 * jnp.maximum(squares - 2.0 * jnp.matmul(near, far.T, precision="highest"), 0.0))


def reach_of(folded: ScreenTheta, num_dims: int, number: Float[Array, ""]) -> Float[Array, ""]:
    width = folded.width[0] + folded.width[1] * math.log(num_dims / 10.0) + folded.width[2] * jnp.log(number / FEW)
    return math.sqrt(num_dims) * jnp.exp(USUAL_WIDTH + width)


def explore_of(folded: ScreenTheta, number: Float[Array, ""]) -> Float[Array, ""]:
    return jnp.exp(USUAL_EXPLORE + folded.explore[0] + folded.explore[1] * jnp.log(number / FEW))


SCREENINGS: dict[str, Callable[..., Screening]] = {"attention": attention_screening}
