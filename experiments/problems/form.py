"""What a problem is: variables, a value, perhaps constraints or noise, and what counts as solved."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

Point = Float[np.ndarray, " d"]


@dataclass(frozen=True)
class Variable:
    low: float
    high: float
    integer: bool = False
    category: bool = False
    """A whole number that stands for one of several things, in no order."""
    log: bool = False


@dataclass(frozen=True)
class Problem:
    about: str
    variables: Sequence[Variable]
    value: Callable[[Point], float]
    best: float
    """The least value: certified, computed by an exact method, or the least that long searches have found."""
    tolerance: float
    """A gap to the best value up to this is solved."""
    evaluations: int
    violations: Callable[[Point], Float[np.ndarray, " m"]] | None = None
    """By how much each constraint is broken; 0 where it holds."""
    penalty: float = 0.0
    """For methods without constraints: added for each unit of violation."""
    noisy: Callable[[np.random.Generator, Point], float] | None = None
    """What a search sees, if that is not the value itself."""
    tags: tuple[str, ...] = field(default=())

    @property
    def num_dims(self) -> int:
        return len(self.variables)

    def ends(self) -> tuple[Point, Point]:
        low, high = np.array([(one.low, one.high) for one in self.variables], float).T
        return low, high

    def flags(self, name: str) -> list[bool]:
        return [bool(getattr(one, name)) for one in self.variables]


def reals(*ends: tuple[float, float], log: bool = False) -> list[Variable]:
    return [Variable(low, high, log=log) for low, high in ends]


def integers(*ends: tuple[int, int]) -> list[Variable]:
    return [Variable(low, high, integer=True) for low, high in ends]


def choice(number: int) -> Variable:
    return Variable(0, number - 1, integer=True, category=True)


def broken(*limits: Any) -> Float[np.ndarray, " m"]:
    """Violations of constraints that are written g(x) <= 0. What is no number is broken by far."""
    found = np.array(limits, float)
    return np.where(np.isnan(found), 1e3, np.maximum(found, 0.0))
