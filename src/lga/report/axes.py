"""Axes: from values to places, and the ticks between."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from lga.report.markup import number

Values = Float[np.ndarray, " n"]


@dataclass(frozen=True)
class Axis:
    label: str
    low: float
    high: float
    log: bool = False
    words: tuple[str, ...] = ()
    """What the values 0, 1, 2, ... stand for, if they are no numbers."""

    def place(self, values: Values) -> Values:
        """0 at the low end, 1 at the high one; what lies beyond an end is drawn there."""
        bend = np.log if self.log else np.asarray
        clipped = np.clip(np.nan_to_num(values, nan=self.high), self.low, self.high)
        return (bend(clipped) - bend(self.low)) / (bend(self.high) - bend(self.low))

    def ticks(self, most: int = 6) -> list[tuple[float, str]]:
        """Places and texts."""
        if self.words:
            places = self.place(np.arange(len(self.words), dtype=float))
            return list(zip(places.tolist(), self.words, strict=True))
        values = decades(self.low, self.high, most) if self.log else steps(self.low, self.high, most)
        return list(zip(self.place(np.array(values)).tolist(), (number(value, 4) for value in values), strict=True))


def axis_of(label: str, words: tuple[str, ...]) -> Axis:
    """Of a variable that is one of several things."""
    return Axis(label, 0.0, max(len(words) - 1.0, 1.0), words=words)


def axis_over(label: str, values: Values, log: bool | None = None, low: float | None = None) -> Axis:
    """From the least to the largest finite value; by the logarithm where values of one sign span more than two orders,
    unless told."""
    finite = values[np.isfinite(values)]
    least, largest = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    least = least if low is None else min(low, least)
    if log is None:
        log = least > 0.0 and largest / least > 100.0
    if log:
        return Axis(label, least, largest if largest > least else 10.0 * least, True)
    return Axis(label, least, largest) if largest > least else Axis(label, *around(least))


def around(value: float) -> tuple[float, float]:
    half = max(abs(value), 1.0) * 0.5
    return value - half, value + half


def robust_axis(label: str, values: Values) -> Axis:
    """An axis for values whose worst would hide all others: without a logarithm it ends at nine tenths of them."""
    axis = axis_over(label, values)
    if axis.log:
        return axis
    finite = values[np.isfinite(values)]
    return axis_over(label, finite[finite <= np.quantile(finite, 0.9)], log=False) if finite.size > 10 else axis


def steps(low: float, high: float, most: int) -> list[float]:
    """Round numbers at equal distances."""
    raw = (high - low) / most
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= raw)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(count * step, 12 - math.floor(math.log10(step))) for count in range(first, last + 1)]


def decades(low: float, high: float, most: int) -> list[float]:
    """Powers of ten, or round numbers where there are less than two of them."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first < 1:
        return [value for value in steps(low, high, most) if value > 0.0]
    every = -(-(last - first + 1) // most)
    return [10.0**power for power in range(first, last + 1, every)]
