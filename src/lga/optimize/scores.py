"""What solutions are compared by: values, and above all values the violations of constraints.

A score is a number for each solution, and less is better. That of a feasible solution is its value; that of an
infeasible one lies above all values and grows with its violation. So wherever scores are compared, the rules of
feasibility hold: what is feasible beats what is not, and of two infeasible ones that which violates less is better.
"""

import math

import numpy as np
from jaxtyping import Float

from lga.core.population import FAILED
from lga.optimize.bounds import PRECISION

INFEASIBLE = 8e307
"""Scores from here to twice as much, nearly the largest float, are those of infeasible solutions."""
LARGEST = math.nextafter(INFEASIBLE, 0.0)
"""Of the scores of feasible ones: larger values count as this."""


def score_of(violation: float) -> float:
    return INFEASIBLE * (1.0 + violation / (1.0 + violation))


def violation_of(score: float) -> float:
    """What a score says of the constraints; the violation of a feasible solution is 0."""
    if not score >= INFEASIBLE:
        return 0.0
    share = score / INFEASIBLE - 1.0
    return share / (1.0 - share) if share < 1.0 else math.inf


def least(values: Float[np.ndarray, " n"]) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.min()) if finite.size else math.inf


def feasible(values: Float[np.ndarray, " n"]) -> Float[np.ndarray, " m"]:
    """Those that are values of feasible solutions."""
    return values[np.isfinite(values) & (values < INFEASIBLE)]


def relation(values: Float[np.ndarray, " n"], best: float) -> tuple[float, float]:
    """Reference and scale that bring values into the range of float32: the operators do not see shift or scale."""
    finite = feasible(values)
    reference = best if best < INFEASIBLE and math.isfinite(best) else least(finite)
    if not finite.size or not math.isfinite(reference):
        return 0.0, 1.0
    # Halves first: the difference of two large floats would overflow.
    extent = float(np.max(np.abs(0.5 * finite - 0.5 * reference)))
    return reference, 1.0 if extent == 0.0 or 1e-20 < extent < 1e30 else 0.5 / max(extent, 1e-300)


def relative(values: Float[np.ndarray, " n"], reference: float, scale: float) -> Float[np.ndarray, " n"]:
    """Values as the algorithm sees them: failures are the worst, and what is infeasible comes right before them."""
    with np.errstate(invalid="ignore", over="ignore"):
        shifted = 2.0 * ((0.5 * values - 0.5 * reference) * scale)
    is_broken = np.isfinite(values) & (values >= INFEASIBLE)
    if np.any(is_broken):
        own = shifted[np.isfinite(values) & ~is_broken]
        worst = float(np.max(own)) if own.size else 0.0
        extent = float(np.ptp(own)) if own.size else 0.0
        share = values[is_broken] / INFEASIBLE - 1.0
        # Like violations, small ones apart from each other too; next to the worst value, so that values keep their say.
        shifted[is_broken] = worst + (extent if extent > 0.0 else 1.0) * (1.0 + share)
    return np.where(np.isfinite(shifted), shifted, FAILED).astype(PRECISION)
