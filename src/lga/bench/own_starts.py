"""What suits a family of tasks before anything is trained: where searches start, how many children, how bold a step.

Long searches of the shipped weights, on tasks of the family, show where its optima lie. Searches may start around
their mean, or with a few of them, so chosen that one is good on most tasks.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from lga.algorithms import presets
from lga.algorithms.run import run
from lga.core.checks import require
from lga.core.interfaces import Algorithm
from lga.meta.config import Scale
from lga.meta.objective import first_solutions
from lga.meta.speed_validation import Curves, best_so_far, log2_evaluations, task_keys
from lga.tasks.family import Family, started_at
from lga.weights import DEFAULT_WEIGHTS, resolve

CHOICE_SEED = 30_011
LONGER = 8
"""Optima are looked for with as many times the budget."""
SMALLEST_SHARE = 0.005
"""A start is never narrower than this part of a variable's range."""
SIGMAS = (0.25, 0.5, 1.0, 2.0)
WIDTHS = (0.3, 0.55, 1.0)
"""Of a start, relative to how far optima are spread."""


def sized(num_dims: int, num_children: int, budget: int) -> Scale:
    """As many generations as the budget allows for, after the first solutions."""
    generations = budget // num_children - 1
    require(generations >= 1, f"budget is {budget}, which is less than two generations of {num_children}.")
    return Scale(num_dims, num_children, generations)


def shipped() -> Callable[[int], Algorithm]:
    theta = resolve(DEFAULT_WEIGHTS).theta
    return lambda num_children: presets.learned_ga(theta, num_children)


def shipped_curves(family: Family, scale: Scale, num_tasks: int, seed: int, sigma0: float | None = None) -> Curves:
    rate = resolve(DEFAULT_WEIGHTS).sigma0 if sigma0 is None else sigma0
    return curves(family, shipped(), rate, scale, num_tasks, seed)


def curves(
    family: Family, build: Callable[[int], Algorithm], sigma0: float, scale: Scale, num_tasks: int, seed: int
) -> Curves:
    compiled = jax.jit(lambda keys: best_so_far(keys, family, build(scale.num_children), sigma0, scale))
    return np.asarray(compiled(task_keys(seed, num_tasks)))


class Starts(NamedTuple):
    """Where the optima of a family lie, two ways to be spread around there, and the most useful ones, best first."""

    x0: Float[np.ndarray, " d"]
    spreads: dict[str, Float[np.ndarray, "d d"]]
    points: Float[np.ndarray, "k d"]


def learned_starts(family: Family, num_dims: int, num_children: int, budget: int, num_tasks: int = 64) -> Starts | None:
    """What long searches of the shipped weights find, over tasks of the family; built-in families have no start.

    Optima are spread as they are, or as the shapes are that these searches end with: long where a task is flat.
    """
    if family.variables is None:
        return None
    variables, rate = family.variables, resolve(DEFAULT_WEIGHTS).sigma0
    scale, algorithm = sized(num_dims, num_children, LONGER * budget), shipped()(num_children)

    def task_of(keys):
        return family.draw(keys[0], (num_dims, num_dims))

    def found(keys):
        task = task_of(keys)
        key_start, key_run = jax.random.split(keys[1])
        start = first_solutions(key_start, family, task, num_children)

        def seen(key, solutions):
            return family.observe(key, task, solutions)[1]

        state, _ = run(key_run, algorithm, seen, start, rate, scale.num_generations)
        return state.best_solution, state.shape_memory.stretch

    @jax.jit
    def everything(keys):
        best, shapes = jax.lax.map(found, keys)
        values = jax.lax.map(lambda pair: family.observe(pair[1], task_of(pair), best)[0], keys)
        return variables.decode(best, jnp), shapes, values

    best, shapes, values = (np.asarray(one, float) for one in everything(task_keys(CHOICE_SEED, num_tasks)))
    places = variables.inner(best)
    low, high = variables.inner_bounds
    floor = np.diag((SMALLEST_SHARE * (high - low)) ** 2)
    scatter = np.cov(places.T) + floor
    stretched = variables.frame[1] @ shapes
    forms = stretched @ np.swapaxes(stretched, 1, 2)
    valley = np.mean(forms / np.linalg.det(forms)[:, None, None] ** (1.0 / num_dims), axis=0)
    valley = valley * (np.linalg.det(scatter) / np.linalg.det(valley)) ** (1.0 / num_dims)
    mean = places.mean(axis=0)
    x0 = np.where(variables.log, 10.0 ** np.where(variables.log, mean, 0.0), mean)
    x0 = np.clip(np.where(variables.integer, np.rint(x0), x0), variables.low, variables.high)
    spreads = {"optima": np.linalg.cholesky(scatter), "shapes": np.linalg.cholesky(valley)}
    return Starts(x0, spreads, best[most_useful(values, num_children)])


def most_useful(values: Float[np.ndarray, "n n"], count: int) -> list[int]:
    """Optima of which one is good on most tasks, from the values of each (column) on each task (row).

    One after the other, that is taken which lowers the mean over tasks of the best rank the most. What an optimum is
    worth on its own task does not count.
    """
    elsewhere = np.where(np.eye(len(values), dtype=bool), np.inf, values)
    ranks = np.argsort(np.argsort(elsewhere, axis=1), axis=1)
    chosen: list[int] = []
    for _ in range(min(count, len(values))):
        reached = np.min(ranks[:, chosen], axis=1, initial=len(values))
        means = np.minimum(reached[:, None], ranks).mean(axis=0)
        means[chosen] = np.inf
        chosen.append(int(np.argmin(means)))
    return chosen


class Choice(NamedTuple):
    """What suits the shipped weights on the family, and training goes on from."""

    family: Family
    size: Scale
    sigma0: float


class Setting(NamedTuple):
    """What may be set of the shipped weights."""

    spread: Float[np.ndarray, "d d"] | None
    sigma0: float
    from_points: bool = False


def suited(
    family: Family, starts: Starts | None, num_dims: int, usual: int, budget: int, num_tasks: int = 64
) -> Choice:
    """The population, initial rate and start that need the fewest evaluations, in the mean over tasks."""
    sizes = [sized(num_dims, number, budget) for number in sorted({max(4, usual // 2), usual}, reverse=True)]
    keys = task_keys(CHOICE_SEED + 1, num_tasks)
    settings = settings_for(starts)
    tried = [
        (size, setting, curve)
        for size in sizes
        for setting, curve in zip(settings, curves_by_setting(family, starts, size, keys, settings), strict=True)
    ]
    first_size, _, first = tried[0]
    speeds = [
        log2_evaluations(curve, first, size.num_children, first_size.num_children).mean() for size, _, curve in tried
    ]
    size, chosen, _ = tried[int(np.argmin(speeds))]
    return Choice(at(family, starts, chosen, size), size, chosen.sigma0)


def settings_for(starts: Starts | None) -> list[Setting]:
    """Around the mean of optima, at all widths, or from the most useful ones, where the rate alone makes the width."""
    if starts is None:
        return [Setting(None, sigma0) for sigma0 in SIGMAS]
    around = [(width * spread, False) for spread in starts.spreads.values() for width in WIDTHS]
    useful = [(WIDTHS[1] * spread, True) for spread in starts.spreads.values()]
    return [Setting(spread, sigma0, points) for spread, points in [*around, *useful] for sigma0 in SIGMAS]


def at(family: Family, starts: Starts | None, setting: Setting, size: Scale) -> Family:
    if starts is None:
        return family
    first = starts.points[: size.num_children] if setting.from_points else None
    return started_at(family, starts.x0, setting.spread, first)


def curves_by_setting(
    family: Family, starts: Starts | None, size: Scale, keys: Any, settings: list[Setting]
) -> Iterator[Curves]:
    """Of the shipped weights. One program does all settings of one kind."""
    algorithm = shipped()(size.num_children)

    @partial(jax.jit, static_argnums=2)
    def course(spread: Any, sigma0: Any, from_points: bool):
        started = at(family, starts, Setting(spread, sigma0, from_points), size)
        return best_so_far(keys, started, algorithm, sigma0, size)

    for spread, sigma0, from_points in settings:
        yield np.asarray(course(spread, np.float32(sigma0), from_points))
