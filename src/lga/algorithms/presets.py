"""Named algorithms: each is one arrangement of operators."""

import math
from collections.abc import Callable
from pathlib import Path

from lga.algorithms.cma import covariance_adaptation
from lga.algorithms.genetic import genetic_algorithm, parents_for
from lga.algorithms.strategies import evolution_strategy
from lga.core.interfaces import Algorithm, Crossover, MutationShape, Sampling, Screening, Selection
from lga.operators.crossover import attention_blend, attention_crossover, immigration
from lga.operators.designed import strategy_numbers
from lga.operators.fold import FoldedTheta, fold
from lga.operators.mutation_rate import (
    attention_rate,
    group_elite_rate,
    no_mutation,
    one_fifth_rule,
    self_adaptive_rate,
    trend_rate,
)
from lga.operators.regression import regression_screening
from lga.operators.sampling import attention_sampling, best_sampling
from lga.operators.scatter import scattered
from lga.operators.screening import attention_screening
from lga.operators.selection import attention_selection, rank_selection
from lga.operators.shape import by_number_of_variables, has_matrix, matrix, separable
from lga.operators.theta import Theta, ThetaConfig
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


def distilled_ga(num_children: int, elite_ratio: float = 1.0) -> Algorithm:
    """What the paper's operators learned, as rules that a person can read: four constants and no attention.

    If a child beats the parents, it takes nearly every place in the archive, and rates grow. If none does, half of the
    places go to worse children all the same, whose rates have grown: larger rates go with worse fitness, and all rates
    shrink. How it was found is told in docs/discovered.md.
    """
    return genetic_algorithm(
        num_children, parents_for(elite_ratio, num_children), select=rank_selection(), rate=trend_rate()
    )


def learned_ga(
    weights: Theta | FoldedTheta | str | Path,
    num_children: int,
    elite_ratio: float = 1.0,
    balanced: bool = True,
    drifts_by_evidence: bool = True,
    best_share: float | None = None,
) -> Algorithm:
    """Learned operators where there are weights, hand-designed ones elsewhere.

    `weights` are given as they are, folded, by the name that they ship under, or as a file. `balanced` is for those
    with a shape: without it, noise and survivors are drawn independently, as in the paper. `drifts_by_evidence` is for
    many variables: without it, children always drift along the path, be it luck or not. With `best_share` children
    start from that share of the parents, the best of them, by turns and as they are, instead of where the learned
    sampling and blending put them: for games and other functions of steps, where a blend of good solutions is none.
    """
    if isinstance(weights, str | Path):
        weights = resolve(weights).theta
    folded = weights if isinstance(weights, FoldedTheta) else fold(weights)
    return genetic_algorithm(
        num_children,
        parents_for(elite_ratio, num_children),
        select=learned_selection(folded, balanced),
        rate=attention_rate(folded.rate, folded.jitter) if folded.rate is not None else None,
        shape=learned_shape(folded, balanced, drifts_by_evidence),
        sample=learned_sampling(folded) if best_share is None else best_sampling(best_share),
        cross=learned_crossover(folded) if best_share is None else None,
        screen=learned_screening(folded),
    )


def learned_selection(folded: FoldedTheta, balanced: bool) -> Selection | None:
    # A shape learns from where the whole generation moves to: luck in who survives would blur that.
    even = balanced and (folded.shape is not None or folded.separable is not None)
    return attention_selection(folded.select, even) if folded.select is not None else None


def learned_sampling(folded: FoldedTheta) -> Sampling | None:
    return attention_sampling(folded.sample) if folded.sample is not None else None


def learned_crossover(folded: FoldedTheta) -> Crossover | None:
    if folded.cross is not None:
        return attention_crossover(folded.cross)
    if folded.blend is None:
        return None
    few, many = folded.shape or folded.separable, folded.separable or folded.shape
    if few is None or many is None:
        return attention_blend(folded.blend)
    of_few, of_many = (attention_blend(folded.blend, numbers.merge) for numbers in (few, many))

    def cross(key, parents, parent_index, progress):
        by_size = of_few if has_matrix(parents.solutions.shape[1]) else of_many
        return by_size(key, parents, parent_index, progress)

    return cross


def learned_shape(folded: FoldedTheta, balanced: bool, drifts_by_evidence: bool) -> MutationShape | None:
    """A matrix or scales, whichever is learned; where only one is, the other has the usual constants."""
    if folded.scatter is not None:
        return scattered(folded.scatter)
    if folded.shape is None:
        return separable(folded.separable, balanced) if folded.separable is not None else None
    many = separable(folded.separable, balanced, drifts_by_evidence)
    return by_number_of_variables(matrix(folded.shape, balanced), many)


def learned_screening(folded: FoldedTheta) -> Screening | None:
    if folded.regress is not None:
        return regression_screening(folded.regress)
    return attention_screening(folded.screen) if folded.screen is not None else None


def random_search(num_children: int, low: float = -5.0, high: float = 5.0) -> Algorithm:
    """Uniform in a box, keeping the best."""
    return genetic_algorithm(num_children, 1, cross=immigration(low, high), rate=no_mutation())


def sep_cma_es(num_children: int) -> Algorithm:
    """Separable CMA-ES: evosax's."""
    return evolution_strategy("Sep_CMA_ES", num_children)


def cma_es(num_children: int) -> Algorithm:
    """CMA-ES with a full covariance matrix: our own, without evosax."""
    return covariance_adaptation(num_children)


def ma_es(num_children: int) -> Algorithm:
    """CMA-ES in the form of matrix adaptation, with the usual constants and mirrored noise: all our own operators."""
    learned = ("select", "rate", "blend", "jitter", "shape", "separable")
    return learned_ga(strategy_numbers(ThetaConfig(learned)), num_children)


ALGORITHMS: dict[str, Callable[..., Algorithm]] = {
    "gaussian_ga": gaussian_ga,
    "mr15_ga": mr15_ga,
    "samr_ga": samr_ga,
    "gesmr_ga": gesmr_ga,
    "distilled_ga": distilled_ga,
    "learned_ga": learned_ga,
    "random_search": random_search,
    "sep_cma_es": sep_cma_es,
    "cma_es": cma_es,
    "ma_es": ma_es,
}
