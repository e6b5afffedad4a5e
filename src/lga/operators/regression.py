"""Screening by regression: a Gaussian process over all that was evaluated says which candidates are worth it.

Attention to neighbours weighs each of them alone; a regression also knows that neighbours repeat each other, and learns
from the values how far each variable reaches. It sees ranks, as normal scores, so that failures and the scale of values
change nothing. How far variables reach is found anew for each generation, by a few steps up the evidence from where
the learned numbers start, so that nothing but the past is remembered.
"""

import math
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
from jax.scipy.special import ndtri
from jaxtyping import Array, Bool, Float, Int

from lga.core.box import to_unit
from lga.core.interfaces import Screening
from lga.core.population import FAILED
from lga.core.tree import tree_dataclass
from lga.operators.screening import CAPACITY, FEW, Past, empty_past, promise_of_ranks, remember
from lga.operators.theta import RegressTheta

CANDIDATES = 32
"""For each child."""
NUM_STEPS = 8
"""Up the evidence."""
STEP = 0.3
FORGET = (0.7, 0.9)
"""Of the mean and of the mean square of gradients, as in Adam."""
# Where the numbers are zero.
USUAL_REACH = math.log(0.3)
"""Logarithm of how far a variable reaches, in a box of side 1 and its diagonal."""
USUAL_FREEDOM = 0.0
"""Logarithm of the deviation of the logarithms of how far variables reach."""
USUAL_NOISE = math.log(0.02)
"""Logarithm of the share of a value that is noise."""
FREEDOM_OF_NOISE = 1.0
USUAL_EXPLORE = math.log(2.0)
"""Logarithm of what a deviation counts for, beside the mean."""
UNSCREENED = 4
"""One child of so many is taken as it comes: where the regression is wrong, nothing else would tell."""
SMALLEST_NOISE = 1e-4
SMALLEST_VARIANCE = 1e-6
SAME_PLACE = 1.0 - 1e-6


@tree_dataclass
class Reach:
    """Logarithms: how much nearer each variable lets others be, and the noise."""

    closeness: Float[Array, " d"]
    noise: Float[Array, ""]


def regression_screening(folded: RegressTheta, num_candidates: int = CANDIDATES, capacity: int = CAPACITY) -> Screening:
    """The candidates of best promise, one after the other: each that is chosen makes its neighbourhood less unknown."""

    def choose(past: Past, solutions: Float[Array, "k d"], num_children: int) -> Int[Array, " n"]:
        num_unscreened = num_children // UNSCREENED
        num_judged = solutions.shape[0] - num_unscreened
        as_they_come = jnp.arange(num_judged, solutions.shape[0], dtype=jnp.int32)
        judged = promising(past, solutions[:num_judged], num_children - num_unscreened)
        return jnp.concatenate([judged, as_they_come])

    def promising(past: Past, solutions: Float[Array, "k d"], count: int) -> Int[Array, " n"]:
        places = to_unit(solutions)
        known = jnp.arange(capacity) < past.count
        number = jnp.minimum(past.count, capacity).astype(places.dtype)
        scores = normal_scores(past, known, number)
        fitted = climb(folded, usual_reach(folded, places.shape[1], number), past.places, scores, known)
        scales, noise = jnp.exp(fitted.closeness), noise_of(fitted)
        expected, variance, toward, solved = predicted(fitted, past.places, scores, known, places)
        explore = explore_of(folded, number)

        def pick(position, carry):
            chosen, expected, variance, shares = carry
            best = jnp.argmin(expected - explore * jnp.sqrt(variance)).astype(jnp.int32)
            near = similarity(places, places[best][None], scales)[0][:, 0]
            # What is known of others once the value at this place is, whatever it will be.
            left = near - toward.T @ solved[:, best] - shares.T @ shares[:, best]
            share = left / jnp.sqrt(variance[best] + noise)
            is_there = (near >= SAME_PLACE) | (jnp.arange(near.shape[0]) == best)
            return (
                chosen.at[position].set(best),
                jnp.where(is_there, jnp.inf, expected),
                jnp.maximum(variance - share**2, SMALLEST_VARIANCE),
                shares.at[position].set(share),
            )

        chosen = jnp.zeros(count, jnp.int32)
        shares = jnp.zeros((count, places.shape[0]), places.dtype)
        return jax.lax.fori_loop(0, count, pick, (chosen, expected, variance, shares))[0]

    def init(solutions: Float[Array, "n d"], fitness: Float[Array, " n"]) -> Past:
        return remember(empty_past(capacity, solutions, fitness), solutions, fitness)

    return Screening(num_candidates, init, choose, remember)


def normal_scores(past: Past, known: Bool[Array, " c"], number: Float[Array, ""]) -> Float[Array, " c"]:
    """Ranks as quantiles of a normal distribution; the best are the least.

    Equals share their rank, but for the best: they have the last of theirs. The more of a plateau is known, the less it
    promises, or a search would never leave the first good one.
    """
    rank = promise_of_ranks(past.fitness, known, number) * (number - 1.0)
    is_best = known & (past.fitness == jnp.min(past.fitness, where=known, initial=FAILED))
    rank = jnp.where(is_best, jnp.sum(is_best) - 1.0, rank)
    return jnp.where(known, ndtri((rank + 0.5) / number), 0.0).astype(past.fitness.dtype)


def usual_reach(folded: RegressTheta, num_dims: int, number: Float[Array, ""]) -> Reach:
    reach = folded.reach[0] + folded.reach[1] * math.log(num_dims / 10.0) + folded.reach[2] * jnp.log(number / FEW)
    closeness = -(USUAL_REACH + 0.5 * math.log(num_dims) + reach)
    # Weights are in single precision, searches may be in double.
    noise = jnp.asarray(USUAL_NOISE + folded.noise[0], number.dtype)
    return Reach(jnp.full(num_dims, closeness, number.dtype), noise)


def predicted(
    fitted: Reach,
    places: Float[Array, "c d"],
    scores: Float[Array, " c"],
    known: Bool[Array, " c"],
    candidates: Float[Array, "k d"],
) -> tuple[Float[Array, " k"], Float[Array, " k"], Float[Array, "c k"], Float[Array, "c k"]]:
    """Mean and variance at the candidates; their covariances with the past, and these solved for."""
    inverse, _ = inverse_covariance(fitted, places, known)
    toward = jnp.where(known[:, None], similarity(places, candidates, jnp.exp(fitted.closeness))[0], 0.0)
    solved = product(inverse, toward)
    variance = jnp.maximum(1.0 - jnp.sum(toward * solved, axis=0), SMALLEST_VARIANCE)
    return scores @ solved, variance, toward, solved


def climb(
    folded: RegressTheta,
    usual: Reach,
    places: Float[Array, "c d"],
    scores: Float[Array, " c"],
    known: Bool[Array, " c"],
) -> Reach:
    """A few steps to where the values are more probable, held back by what is usual."""
    freedom = jnp.exp(USUAL_FREEDOM + folded.freedom[0])

    def step(position, carry):
        at, mean, square = carry
        slope = evidence_slope(at, places, scores, known)
        slope = Reach(
            slope.closeness + (at.closeness - usual.closeness) / freedom**2,
            slope.noise + (at.noise - usual.noise) / FREEDOM_OF_NOISE**2,
        )
        mean = jax.tree.map(lambda old, new: FORGET[0] * old + (1.0 - FORGET[0]) * new, mean, slope)
        square = jax.tree.map(lambda old, new: FORGET[1] * old + (1.0 - FORGET[1]) * new**2, square, slope)
        start = [1.0 - forget ** (position + 1.0) for forget in FORGET]

        def moved(value, first, second):
            return value - STEP * (first / start[0]) / (jnp.sqrt(second / start[1]) + 0.1)

        return jax.tree.map(moved, at, mean, square), mean, square

    nothing = jax.tree.map(jnp.zeros_like, usual)
    return jax.lax.fori_loop(0, NUM_STEPS, step, (usual, nothing, nothing))[0]


def evidence_slope(
    at: Reach, places: Float[Array, "c d"], scores: Float[Array, " c"], known: Bool[Array, " c"]
) -> Reach:
    """Of minus the logarithm of how probable the scores are."""
    inverse, steepness = inverse_covariance(at, places, known)
    weights = inverse @ scores
    surprise = inverse - weights[:, None] * weights[None, :]
    pull = jnp.where(known[:, None] & known[None, :], surprise * steepness, 0.0)
    gaps = jnp.sum(pull, axis=1) @ places**2 - jnp.sum(places * (pull @ places), axis=0)
    trace = jnp.sum(jnp.where(known, jnp.diag(surprise), 0.0))
    return Reach(2.0 * jnp.exp(2.0 * at.closeness) * gaps, 0.5 * jnp.exp(at.noise) * trace)


def inverse_covariance(
    at: Reach, places: Float[Array, "c d"], known: Bool[Array, " c"]
) -> tuple[Float[Array, "c c"], Float[Array, "c c"]]:
    """The inverse of the covariance, and the slope of the similarity over the squared distance."""
    alike, steepness = similarity(places, places, jnp.exp(at.closeness))
    both = known[:, None] & known[None, :]
    diagonal = jnp.where(known, noise_of(at), 1.0)
    return inverted(jnp.where(both, alike, 0.0) + jnp.diag(diagonal)), steepness


def inverted(matrix: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """Of a positive definite matrix, by halves: products are quicker than sweeps.

    LAPACK would start threads of its own for a matrix this small, which fight for the cores with those of other runs.
    """
    half = matrix.shape[0] // 2
    first, mixed, second = matrix[:half, :half], matrix[:half, half:], matrix[half:, half:]
    inverse = swept(first)
    across = product(inverse, mixed)
    rest = swept(second - product(mixed.T, across))
    off = product(across, rest)
    return jnp.block([[inverse + product(off, across.T), -off], [-off.T, rest]])


def swept(matrix: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """The inverse, by sweeping one variable after the other."""
    number = matrix.shape[0]

    def sweep(position, at):
        itself = (jnp.arange(number) == position).astype(at.dtype)
        row, column = at[position] + itself, at[:, position] - itself
        # As one product: the row and the column of the pivot come out right with the one that was added to each.
        return at - column[:, None] * (row / at[position, position])[None, :]

    return jax.lax.fori_loop(0, number, sweep, matrix)


product = partial(jnp.matmul, precision="highest")


def noise_of(at: Reach) -> Float[Array, ""]:
    return jnp.exp(at.noise) + SMALLEST_NOISE


def similarity(
    places: Float[Array, "k d"], others: Float[Array, "c d"], scales: Float[Array, " d"]
) -> tuple[Float[Array, "k c"], Float[Array, "k c"]]:
    """Matern's of order 5/2, and its slope over the squared distance."""
    near, far = places * scales[None, :], others * scales[None, :]
    squares = jnp.sum(near**2, axis=1)[:, None] + jnp.sum(far**2, axis=1)[None, :]
    squares = jnp.maximum(squares - 2.0 * product(near, far.T), 0.0)
    away = jnp.sqrt(5.0 * squares)
    decay = jnp.exp(-away)
    return (1.0 + away + away**2 / 3.0) * decay, -(5.0 / 6.0) * (1.0 + away) * decay


def explore_of(folded: RegressTheta, number: Float[Array, ""]) -> Float[Array, ""]:
    return jnp.exp(USUAL_EXPLORE + folded.explore[0] + folded.explore[1] * jnp.log(number / FEW))


REGRESSIONS: dict[str, Callable[..., Screening]] = {"regression": regression_screening}
