"""Constraints, as SciPy has them or as functions of violations. Workers import this: no JAX here."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lga.optimize.worker import Judgement

TOLERANCE = 1e-8
"""Of a limit, relative to its size (at least 1): as much is no violation."""


class Constrained:
    """An objective with constraints: it is evaluated only where they hold.

    A picklable object, so that constraints are checked where the objective is evaluated.
    """

    def __init__(self, fun: Callable[[Any], Any], constraints: Any):
        self.fun, self.constraints = fun, listed(constraints)
        for number, constraint in enumerate(self.constraints):
            check(constraint, number)

    def __call__(self, x: Any) -> Judgement:
        violation = sum(violation_of(constraint, x) for constraint in self.constraints)
        return Judgement(None if violation != 0.0 else self.fun(x), float(violation))


def listed(constraints: Any) -> list[Any]:
    is_several = isinstance(constraints, Sequence) and not isinstance(constraints, str | bytes)
    return list(constraints) if is_several else [constraints]


def check(constraint: Any, number: int) -> None:
    if not (callable(constraint) or is_limited(constraint)):
        raise ValueError(
            f"constraint {number} is {constraint!r}, but must be SciPy's NonlinearConstraint or LinearConstraint, or a "
            "function that returns by how much each constraint is violated."
        )


def is_limited(constraint: Any) -> bool:
    """SciPy's: a function or a matrix, and limits."""
    is_one = hasattr(constraint, "fun") or hasattr(constraint, "A")
    return is_one and hasattr(constraint, "lb") and hasattr(constraint, "ub")


def violation_of(constraint: Any, x: Any) -> float:
    """The sum of all that is broken; NaN if the constraint gives no numbers."""
    if not is_limited(constraint):
        broken = np.maximum(np.atleast_1d(np.asarray(constraint(x), float)), 0.0)
        return float(np.sum(np.where(broken <= TOLERANCE, 0.0, broken)))
    matrix = getattr(constraint, "A", None)
    found = np.atleast_1d(np.asarray(constraint.fun(x) if matrix is None else matrix @ np.asarray(x, float), float))
    low, high = np.asarray(constraint.lb, float), np.asarray(constraint.ub, float)
    return float(sum(np.sum(beyond(*ends)) for ends in ((low, found, low), (found, high, high))))


def beyond(smaller: Any, larger: Any, limit: Any) -> Any:
    """By how much the first exceeds the second, of which one is the limit."""
    room = TOLERANCE * np.maximum(np.abs(np.where(np.isfinite(limit), limit, 0.0)), 1.0)
    broken = smaller - larger
    return np.where(broken <= room, 0.0, broken)
