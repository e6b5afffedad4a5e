"""Validation on tasks whose values mean nothing beside each other: by how many evaluations a search needs.

The shipped weights search each task once. The values to reach are what both have found after a quarter, half and all of
the evaluations, the worse of the two: so both reach them, and neither is favoured by its luck. The score is the mean
log2 of the evaluations that are needed over those that the shipped weights need: -1 is twice as fast, 0 as fast.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from lga.algorithms.presets import learned_ga
from lga.core.interfaces import Algorithm
from lga.meta.config import MetaConfig, Scale
from lga.meta.objective import Judge, Trial, first_solutions, searched
from lga.operators.theta import Theta
from lga.tasks.family import Family
from lga.weights import DEFAULT_WEIGHTS, resolve

PARTS = (0.25, 0.5, 1.0)

Curves = Float[np.ndarray, "tasks t"]


@dataclass(frozen=True)
class SpeedValidation:
    scales: tuple[Scale, ...]
    num_tasks: int = 32
    sigma0: float = 1.0
    seed: int = 20_237


def speed_validator(protocol: SpeedValidation, config: MetaConfig, family: Family) -> Callable[[Theta], dict[str, Any]]:
    """The function from weights to their score (less is better)."""
    shipped = resolve(DEFAULT_WEIGHTS)

    def courses(elite_ratio: float, balanced: bool, sigma0: float) -> Callable[[Theta], list[Array]]:
        def at(theta: Theta, position: int, scale: Scale) -> Float[Array, "tasks t"]:
            algorithm = learned_ga(theta, scale.num_children, elite_ratio, balanced)
            keys = task_keys(protocol.seed + position, protocol.num_tasks)
            return best_so_far(keys, family, algorithm, sigma0, scale)

        return jax.jit(lambda theta: [at(theta, *place) for place in enumerate(protocol.scales)])

    reference = list(map(np.asarray, courses(1.0, True, shipped.sigma0)(shipped.theta)))
    own_courses = courses(config.elite_ratio, config.balanced, protocol.sigma0)

    def validate(theta: Theta) -> dict[str, Any]:
        own = map(np.asarray, own_courses(theta))
        ratios = [log2_evaluations(curves, theirs) for curves, theirs in zip(own, reference, strict=True)]
        per_scale = {str(scale): float(ratio.mean()) for scale, ratio in zip(protocol.scales, ratios, strict=True)}
        everything = np.concatenate(ratios)
        return {"score": float(everything.mean()), "median": float(np.median(everything)), "per_scale": per_scale}

    return validate


def task_keys(seed: int, num_tasks: int) -> Key[Array, "tasks 2"]:
    """One key for the task and one for the luck of a search on it."""
    return jax.random.split(jax.random.key(seed), (num_tasks, 2))


def best_so_far(
    keys: Key[Array, "tasks 2"], family: Family, algorithm: Algorithm, sigma0: Float[Array, ""] | float, scale: Scale
) -> Float[Array, "tasks t"]:
    """The least true value after the first solutions, and after each generation."""

    def one(pair: Key[Array, "2"]) -> Float[Array, " t"]:
        task = family.draw(pair[0], (scale.num_dims, scale.num_dims))
        trial = Trial(task, jnp.asarray(sigma0), jax.random.key_data(pair[1]))
        key_start, key_first, _ = jax.random.split(pair[1], 3)
        start = first_solutions(key_start, family, task, algorithm.num_children)
        at_first = jnp.min(family.observe(key_first, task, start)[0])
        each = searched(family, trial, algorithm, generation_bests(scale.num_generations), scale.num_generations)
        return jax.lax.cummin(jnp.concatenate([at_first[None], each]))

    return jax.lax.map(one, keys)


def generation_bests(num_generations: int) -> Judge:
    """Keeps the least value of each generation."""

    def see(judged, t, _, values):
        return judged.at[t].set(jnp.min(values))

    return Judge(lambda: jnp.full(num_generations, jnp.inf), see, lambda judged: judged)


def log2_evaluations(
    own: Float[np.ndarray, "tasks t"],
    theirs: Float[np.ndarray, "tasks u"],
    own_size: float | int = 1,
    their_size: float | int = 1,
) -> Float[np.ndarray, "tasks parts"]:
    """For each task and part of the budget: log2 of own evaluations over theirs, to the worse of both values.

    Curves have one entry for each generation; a generation takes as many evaluations as its size.
    """
    worse = np.maximum(values_after(own), values_after(theirs))
    return np.log2(own_size * generations_to(own, worse)) - np.log2(their_size * generations_to(theirs, worse))


def values_after(curves: Curves) -> Float[np.ndarray, "tasks parts"]:
    """What was found after each part of the budget."""
    return np.stack([curves[:, max(round(part * curves.shape[1]) - 1, 0)] for part in PARTS], axis=1)


def generations_to(curves: Curves, targets: Float[np.ndarray, "tasks parts"]) -> Float[np.ndarray, "tasks parts"]:
    """Generations until a value is reached that is reached, counted from 1."""
    return np.argmax(curves[:, None, :] <= targets[:, :, None], axis=2) + 1.0
