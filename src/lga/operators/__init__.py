"""The steps of a generation, hand-designed and learned: factories of operators, and what `genetic_algorithm` takes."""

from lga.operators.crossover import attention_blend, attention_crossover, immigration, no_crossover, uniform_crossover
from lga.operators.fold import FoldedTheta, fold, unfold
from lga.operators.mutation_rate import (
    attention_rate,
    fixed_rate,
    group_elite_rate,
    ladder_rate,
    no_mutation,
    one_fifth_rule,
    self_adaptive_rate,
    trend_rate,
)
from lga.operators.regression import regression_screening
from lga.operators.sampling import attention_sampling, uniform_sampling
from lga.operators.scatter import scattered
from lga.operators.screening import attention_screening
from lga.operators.selection import attention_selection, rank_selection, truncation_selection
from lga.operators.shape import isotropic, matrix, separable

__all__ = [
    "FoldedTheta",
    "attention_blend",
    "attention_crossover",
    "attention_rate",
    "attention_sampling",
    "attention_screening",
    "attention_selection",
    "fixed_rate",
    "fold",
    "group_elite_rate",
    "immigration",
    "isotropic",
    "ladder_rate",
    "matrix",
    "no_crossover",
    "no_mutation",
    "one_fifth_rule",
    "rank_selection",
    "regression_screening",
    "scattered",
    "self_adaptive_rate",
    "separable",
    "trend_rate",
    "truncation_selection",
    "unfold",
    "uniform_crossover",
    "uniform_sampling",
]
