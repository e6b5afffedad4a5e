"""Methods under test: how they are built, tuned on some tasks, and measured on others."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import numpy as np

from lga.algorithms import presets
from lga.algorithms.run import Trace
from lga.bench.searches import searches
from lga.core.interfaces import Algorithm
from lga.operators.theta import Theta
from lga.tasks import bbob
from lga.trials import log_gaps


class Method(NamedTuple):
    """`build(num_children, elite_ratio)` makes the algorithm; the settings are the grid that it may be tuned over."""

    name: str
    build: Callable[[int, float], Algorithm]
    elite_ratios: tuple[float, ...]
    sigmas: tuple[float, ...]


class Tuned(NamedTuple):
    method: Method
    elite_ratio: float
    sigma: float
    score: float


class Budget(NamedTuple):
    num_children: int = 32
    num_generations: int = 50
    num_seeds: int = 5


def baselines(elite_ratios: tuple[float, ...], sigmas: tuple[float, ...]) -> list[Method]:
    """The hand-designed algorithms, with the same grid for all that have the setting."""
    return [
        Method("Gaussian GA", presets.gaussian_ga, elite_ratios, sigmas),
        Method("MR-1/5 GA", presets.mr15_ga, elite_ratios, sigmas),
        Method("SAMR-GA", presets.samr_ga, elite_ratios, sigmas),
        Method("GESMR-GA", presets.gesmr_ga, elite_ratios, sigmas),
        Method("Sep-CMA-ES", lambda num_children, _: presets.sep_cma_es(num_children), (0.5,), sigmas),
        Method("random search", lambda num_children, _: presets.random_search(num_children), (0.5,), sigmas[:1]),
    ]


def learned(name: str, theta: Theta, elite_ratio: float = 1.0, sigma: float = 0.25) -> Method:
    """A learned GA as it is, with nothing to tune."""
    return Method(
        name, lambda num_children, ratio: presets.learned_ga(theta, num_children, ratio), (elite_ratio,), (sigma,)
    )


def tune(method: Method, tasks: bbob.Task, budget: Budget, seed: int) -> Tuned:
    """The setting of the grid with the least mean log10 gap."""
    settings = [
        Tuned(method, ratio, sigma, float(np.mean(np.asarray(gaps))))
        for ratio in method.elite_ratios
        for sigma, gaps in zip(method.sigmas, grid_row(method, ratio, tasks, budget, seed), strict=True)
    ]
    return min(settings, key=lambda tuned: tuned.score)


def grid_row(method: Method, elite_ratio: float, tasks: bbob.Task, budget: Budget, seed: int) -> Sequence[jax.Array]:
    """log10 gaps [tasks, seeds] for each initial rate, with one compilation for all of them."""
    search = searches(method.build(budget.num_children, elite_ratio), budget.num_seeds, budget.num_generations)
    return [log_gaps(search(jax.random.key(seed), tasks, sigma)) for sigma in method.sigmas]


def measure(tuned: Tuned, tasks: bbob.Task, budget: Budget, seed: int) -> Trace:
    """Traces [tasks, seeds, generations] of a tuned method. Equal seeds give equal starting points to all methods."""
    algorithm = tuned.method.build(budget.num_children, tuned.elite_ratio)
    return searches(algorithm, budget.num_seeds, budget.num_generations)(jax.random.key(seed), tasks, tuned.sigma)
