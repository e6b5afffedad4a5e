"""Named algorithms: each is one arrangement of operators."""

import math
from collections.abc import Callable
from pathlib import Path

from lga.algorithms.genetic import genetic_algorithm, parents_for
from lga.algorithms.strategies import evolution_strategy
from lga.core.checks import require_known
from lga.core.interfaces import Algorithm
from lga.operators.crossover import attention_blend, attention_crossover, immigration
from lga.operators.mutation_rate import (
    attention_rate,
    group_elite_rate,
    no_mutation,
    one_fifth_rule,
    self_adaptive_rate,
)
from lga.operators.sampling import attention_sampling
from lga.operators.selection import attention_selection
from lga.operators.theta import Theta, config_of
from lga.weights import resolve


def gaussian_ga(num_children: int, elite_ratio: float = 0.5) -> Algorithm:
    """Truncation selection and Gaussian mutation of fixed strength."""
    return genetic_algorithm(num_children, parents_for(elite_ratio, num_children))


def mr15_ga(num_children: int, elite_ratio: float = 0.5) -> Algorithm:
    """The one-fifth rule doubles or halves one rate for all."""
    return genetic_algorithm(num_children, parents_for(elite_ratio, num_children), rate=one_fifth_rule())


def samr_ga(num_children: int, elite_ratio: float = 0.5, meta: float = 2.0) -> Algorithm:
    """Every individual mutates and inherits its own rate."""
    return genetic_algorithm(num_children, parents_for(elite_ratio, num_children), rate=self_adaptive_rate(meta))


def gesmr_ga(
    num_children: int, elite_ratio: float = 0.5, num_groups: int | None = None, meta: float = 2.0
) -> Algorithm:
    """Groups of children share rates that evolve by their best improvements. As many groups as members, if not told."""
    groups = math.isqrt(num_children) if num_groups is None else num_groups
    return genetic_algorithm(num_children, parents_for(elite_ratio, num_children), rate=group_elite_rate(groups, meta))


def learned_ga(weights: Theta | str | Path, num_children: int, elite_ratio: float = 1.0) -> Algorithm:
    """Learned operators where there are weights, hand-designed ones elsewhere.

    `weights` are given as they are, by the name that they ship under, or as a file.
    """
    theta = weights if isinstance(weights, Theta) else resolve(weights).theta
    config_of(theta)
    cross = attention_crossover(theta.cross) if theta.cross is not None else None
    blend = attention_blend(theta.blend) if theta.blend is not None else None
    return genetic_algorithm(
        num_children,
        parents_for(elite_ratio, num_children),
        select=attention_selection(theta.select) if theta.select is not None else None,
        rate=attention_rate(theta.rate, theta.jitter) if theta.rate is not None else None,
        sample=attention_sampling(theta.sample) if theta.sample is not None else None,
        cross=cross or blend,
    )


def random_search(num_children: int, low: float = -5.0, high: float = 5.0) -> Algorithm:
    """Uniform in a box, keeping the best."""
    return genetic_algorithm(num_children, 1, cross=immigration(low, high), rate=no_mutation())


def sep_cma_es(num_children: int) -> Algorithm:
    """Separable CMA-ES."""
    return evolution_strategy("Sep_CMA_ES", num_children)


def cma_es(num_children: int) -> Algorithm:
    """CMA-ES with a full covariance matrix."""
    return evolution_strategy("CMA_ES", num_children)


PRESETS: dict[str, Callable[..., Algorithm]] = {
    "gaussian_ga": gaussian_ga,
    "mr15_ga": mr15_ga,
    "samr_ga": samr_ga,
    "gesmr_ga": gesmr_ga,
    "learned_ga": learned_ga,
    "random_search": random_search,
    "sep_cma_es": sep_cma_es,
    "cma_es": cma_es,
}


def preset(name: str, *args, **settings) -> Algorithm:
    """An algorithm by name, with the arguments of its function."""
    require_known("preset", name, PRESETS)
    return PRESETS[name](*args, **settings)
