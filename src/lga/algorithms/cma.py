"""CMA-ES with a full covariance matrix, as Hansen's tutorial has it (2016), negative weights included."""

import math
from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from lga.algorithms.genetic import check_children, check_start
from lga.core.checks import require, require_positive_integer
from lga.core.interfaces import Algorithm
from lga.core.population import (
    FAILED,
    Children,
    Progress,
    WithProgress,
    advance_progress,
    rank_failures_last,
    start_progress,
)
from lga.core.tree import tree_dataclass

FEWEST = 4
SMALLEST_VARIANCE = 1e-30


@tree_dataclass
class CovarianceState(WithProgress):
    mean: Float[Array, "*batch d"]
    sigma: Float[Array, "*batch"]
    step_path: Float[Array, "*batch d"]
    """Of the mean, as if the distribution were round: steps that add up make sigma grow."""
    path: Float[Array, "*batch d"]
    covariance: Float[Array, "*batch d d"]
    axes: Float[Array, "*batch d d"]
    lengths: Float[Array, "*batch d"]
    """The covariance is axes diag(lengths^2) axes^T."""
    progress: Progress


class Constants(NamedTuple):
    """The tutorial's names: mu_eff, c_sigma, d_sigma, c_c, c_1, c_mu and the expected length of a normal vector."""

    weights: Float[np.ndarray, " n"]
    """By rank; positive ones sum up to 1."""
    mass: float
    step_rate: float
    damping: float
    path_rate: float
    rank_one: float
    rank_mu: float
    length: float


def constants(num_children: int, num_dims: int) -> Constants:
    raw = math.log((num_children + 1) / 2) - np.log(np.arange(1, num_children + 1))
    best, worst = raw[raw > 0.0], raw[raw < 0.0]
    mass, mass_of_worst = (float(part.sum() ** 2 / (part**2).sum()) for part in (best, worst))
    rank_one = 2.0 / ((num_dims + 1.3) ** 2 + mass)
    rank_mu = min(1.0 - rank_one, 2.0 * (0.25 + mass + 1.0 / mass - 2.0) / ((num_dims + 2.0) ** 2 + mass))
    # The matrix must stay positive definite, and must not shrink by itself.
    most_negative = min(
        1.0 + rank_one / rank_mu,
        1.0 + 2.0 * mass_of_worst / (mass + 2.0),
        (1.0 - rank_one - rank_mu) / (num_dims * rank_mu),
    )
    weights = np.where(raw >= 0.0, raw / best.sum(), most_negative * raw / np.abs(worst).sum())
    step_rate = (mass + 2.0) / (num_dims + mass + 5.0)
    return Constants(
        weights=weights,
        mass=mass,
        step_rate=step_rate,
        damping=1.0 + 2.0 * max(0.0, math.sqrt((mass - 1.0) / (num_dims + 1.0)) - 1.0) + step_rate,
        path_rate=(4.0 + mass / num_dims) / (num_dims + 4.0 + 2.0 * mass / num_dims),
        rank_one=rank_one,
        rank_mu=rank_mu,
        length=math.sqrt(num_dims) * (1.0 - 1.0 / (4.0 * num_dims) + 1.0 / (21.0 * num_dims**2)),
    )


def covariance_adaptation(num_children: int) -> Algorithm:
    """It starts from the best of the initial solutions, or from their centre if they were not evaluated."""
    require_positive_integer("num_children", num_children)
    require(num_children >= FEWEST, f"num_children is {num_children}, but CMA-ES needs at least {FEWEST}.")

    def init(
        key: Key[Array, ""],
        solutions: Float[Array, "n d"],
        fitness: Float[Array, " n"] | None,
        sigma: Float[Array, ""] | float,
    ) -> CovarianceState:
        check_start(solutions, fitness, sigma)
        num_dims = solutions.shape[1]
        require(num_dims >= 1, f"solutions has shape {solutions.shape}, but CMA-ES needs a dimension.")
        known = None if fitness is None else rank_failures_last(fitness)
        progress = start_progress(solutions, known)
        zero, matrix = jnp.zeros(num_dims, solutions.dtype), jnp.eye(num_dims, dtype=solutions.dtype)
        return CovarianceState(
            mean=jnp.mean(solutions, axis=0) if known is None else progress.best_solution,
            sigma=jnp.asarray(sigma, solutions.dtype),
            step_path=zero,
            path=zero,
            covariance=matrix,
            axes=matrix,
            lengths=zero + 1.0,
            progress=progress,
        )

    def ask(key: Key[Array, ""], state: CovarianceState) -> tuple[Children, CovarianceState]:
        noise = jax.random.normal(key, (num_children, state.mean.shape[0]), state.mean.dtype)
        solutions = state.mean[None] + state.sigma * (noise * state.lengths[None]) @ state.axes.T
        sigma = jnp.broadcast_to(state.sigma, (num_children,))
        return Children(solutions, sigma, jnp.zeros(num_children, jnp.int32)), state

    def tell(
        key: Key[Array, ""], state: CovarianceState, children: Children, fitness: Float[Array, " n"]
    ) -> CovarianceState:
        require(
            fitness.shape == (num_children,),
            f"fitness has shape {fitness.shape}, but must be ({num_children},): one value for each child.",
        )
        check_children(children, (num_children, state.mean.shape[0]))
        fitness = rank_failures_last(fitness)
        adapted = adapt(state, children.solutions, fitness)
        # What cannot be computed with teaches nothing: then the distribution stays as it was.
        is_sound = jnp.all(jnp.stack([jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(adapted)]))
        kept = jax.tree.map(lambda new, old: jnp.where(is_sound, new, old), adapted, state)
        return replace(kept, progress=advance_progress(state.progress, children.solutions, fitness))

    def adapt(state: CovarianceState, solutions: Float[Array, "n d"], fitness: Float[Array, " n"]) -> CovarianceState:
        number, num_dims = constants(num_children, state.mean.shape[0]), state.mean.shape[0]
        order = jnp.argsort(fitness)
        steps = (solutions[order] - state.mean[None]) / state.sigma
        # What failed is neither followed nor avoided: where it stands among the others says nothing.
        weights = jnp.where(fitness[order] < FAILED, jnp.asarray(number.weights, steps.dtype), 0.0)
        step = jnp.maximum(weights, 0.0) @ steps
        round_step = state.axes @ ((state.axes.T @ step) / state.lengths)
        step_path = (1.0 - number.step_rate) * state.step_path + growth(number.step_rate, number.mass) * round_step
        length = jnp.linalg.norm(step_path)
        # A long path is not learned from: sigma is about to grow, and then it will be shorter.
        generations = (state.progress.generation + 1).astype(steps.dtype)
        expected = jnp.sqrt(1.0 - (1.0 - number.step_rate) ** (2.0 * generations))
        is_short = (length / expected < (1.4 + 2.0 / (num_dims + 1.0)) * number.length).astype(steps.dtype)
        path = (1.0 - number.path_rate) * state.path + is_short * growth(number.path_rate, number.mass) * step
        # Steps against which the matrix learns count as if they were of the expected length.
        squares = jnp.sum(((steps @ state.axes) / state.lengths[None]) ** 2, axis=1)
        balanced = jnp.where(weights >= 0.0, weights, weights * num_dims / jnp.maximum(squares, SMALLEST_VARIANCE))
        missing = (1.0 - is_short) * number.path_rate * (2.0 - number.path_rate)
        kept = 1.0 + number.rank_one * (missing - 1.0) - number.rank_mu * jnp.sum(weights)
        covariance = (
            kept * state.covariance
            + number.rank_one * jnp.outer(path, path)
            + number.rank_mu * (steps.T * balanced[None]) @ steps
        )
        variances, axes = jnp.linalg.eigh(0.5 * (covariance + covariance.T))
        grown = jnp.minimum(1.0, number.step_rate / number.damping * (length / number.length - 1.0))
        return CovarianceState(
            mean=state.mean + state.sigma * step,
            sigma=state.sigma * jnp.exp(grown),
            step_path=step_path,
            path=path,
            covariance=covariance,
            axes=axes,
            lengths=jnp.sqrt(jnp.maximum(variances, SMALLEST_VARIANCE)),
            progress=state.progress,
        )

    return Algorithm(init, ask, tell, num_children, 1)


def growth(rate: float, mass: float) -> float:
    """By which a path of normal steps keeps its length."""
    return math.sqrt(rate * (2.0 - rate) * mass)
