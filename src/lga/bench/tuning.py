"""The one tuner: the setting of a method's grid that does best, on runs that are not reported."""

from collections.abc import Callable
from math import inf, isnan
from typing import NamedTuple

from lga.bench.methods import Method


class Tuned(NamedTuple):
    method: Method
    """With one setting."""
    loss: float | None
    """None where there was nothing to choose."""


def tune(method: Method, loss: Callable[[Method], float]) -> Tuned:
    """The setting with the least loss, the first of equals. A method with one setting is not run."""
    candidates = method.candidates
    if len(candidates) == 1:
        return Tuned(candidates[0], None)
    losses = [loss(candidate) for candidate in candidates]
    best = min(range(len(losses)), key=lambda number: inf if isnan(losses[number]) else losses[number])
    return Tuned(candidates[best], losses[best])
