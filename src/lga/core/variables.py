"""Variables in their own units, and the coordinates that searches run in: of a family of tasks, and of any search.

Worker processes import this: it must not import JAX, though it computes with it where it is told to.
"""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

HALF_SIDE = 5.0
"""Of the box that searches run in."""
START_DEVIATION = 2.5
"""Of a first population around a start that is known, in coordinates."""


def inner(x: Float[np.ndarray, "*n d"], log: Bool[np.ndarray, " d"]) -> Float[np.ndarray, "*n d"]:
    """Variables in the scale in which they are linear."""
    return np.where(log, np.log10(np.where(log, x, 1.0)), x)


def inner_bounds(
    low: Float[np.ndarray, " d"],
    high: Float[np.ndarray, " d"],
    integer: Bool[np.ndarray, " d"],
    log: Bool[np.ndarray, " d"],
) -> tuple[Float[np.ndarray, " d"], Float[np.ndarray, " d"]]:
    """Bounds in that scale; half a step more at both ends, so that the outermost whole numbers are as likely as the
    others."""
    margin = np.where(integer, 0.5, 0.0)
    return inner(np.where(log, np.maximum(low - margin, 0.5 * low), low - margin), log), inner(high + margin, log)


class Variables(NamedTuple):
    """Bounds, and where a search starts: everywhere in them, or around `x0` with the covariance `spread spread^T`.

    `spread` is in the scale in which variables are linear: in decades where they are log-scaled. With `first`, these
    points are tried before any that are drawn.
    """

    low: Float[np.ndarray, " d"]
    high: Float[np.ndarray, " d"]
    log: Bool[np.ndarray, " d"]
    integer: Bool[np.ndarray, " d"]
    x0: Float[np.ndarray, " d"] | None = None
    spread: Float[np.ndarray, "d d"] | None = None
    first: Float[np.ndarray, "k d"] | None = None

    @property
    def num_dims(self) -> int:
        return self.low.shape[0]

    @property
    def inner_bounds(self) -> tuple[Float[np.ndarray, " d"], Float[np.ndarray, " d"]]:
        return inner_bounds(self.low, self.high, self.integer, self.log)

    def inner(self, x: Float[np.ndarray, "*n d"]) -> Float[np.ndarray, "*n d"]:
        return inner(x, self.log)

    @property
    def frame(self) -> tuple[Float[np.ndarray, " d"], Any]:
        """Centre and matrix: inner = centre + matrix coordinates."""
        low, high = self.inner_bounds
        if self.x0 is None or self.spread is None:
            return 0.5 * (low + high), np.diag(0.5 * (high - low) / HALF_SIDE)
        return self.inner(self.x0), self.spread / START_DEVIATION

    def to_inner(self, coordinates: Any) -> Any:
        centre, matrix = self.frame
        return centre[None] + coordinates @ matrix.T

    def encode(self, x: Float[np.ndarray, "n d"], numpy: Any = np) -> Any:
        """Coordinates of points within the bounds."""
        centre, matrix = self.frame
        return numpy.linalg.solve(matrix, (self.inner(x) - centre).T).T

    def from_inner(self, inner: Any, numpy: Any = np) -> Any:
        """The variables at a place, whatever it is: beyond a bound the box is seen in a mirror."""
        low, high = self.inner_bounds
        turns = 0.5 * (inner - low[None]) / (high - low)[None]
        mirrored = 1.0 - numpy.abs(2.0 * (turns - numpy.floor(turns)) - 1.0)
        place = low[None] + (high - low)[None] * mirrored
        x = numpy.where(self.log[None], 10.0 ** numpy.where(self.log[None], place, 0.0), place)
        return numpy.clip(numpy.where(self.integer[None], numpy.round(x), x), self.low[None], self.high[None])

    def decode(self, coordinates: Any, numpy: Any = np) -> Any:
        return self.from_inner(self.to_inner(coordinates), numpy)


class InVariables:
    """An objective of variables as one of coordinates."""

    def __init__(self, fun: Any, variables: Variables, vectorized: bool):
        self.fun, self.variables, self.vectorized = fun, variables, vectorized
        # A checkpoint knows the objective by its name.
        self.__qualname__ = getattr(fun, "__qualname__", type(fun).__qualname__)

    def __call__(self, coordinates: Any) -> Any:
        x = self.variables.decode(np.atleast_2d(coordinates))
        return self.fun(x if self.vectorized else x[0])
