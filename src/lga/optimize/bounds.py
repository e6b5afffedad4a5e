"""Variables as people have them, and the coordinates that the search runs in.

The learned rates were trained in boxes of side 10, so a variable with two bounds is mapped to [-5, 5], in its logarithm
if it is log-scaled. A variable with `sigma0` is centred at `x0`, with `sigma0` mapped to a quarter of such a side.
Coordinates may lie anywhere: beyond an edge the box is seen in a mirror. So the steps of a search are what it meant
them to be, and an optimum on a bound or close to it is the middle of a valley like any other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from lga.core.checks import require
from lga.core.variables import HALF_SIDE, START_DEVIATION, inner, inner_bounds

LARGEST_COORDINATE = 1e30
"""Where a variable has no bound, its coordinate still has one, so that it stays within its precision."""
PRECISION = np.float64
"""Of coordinates, and of values as the algorithm sees them."""


usual_arithmetic = np.errstate(divide="warn", over="warn", invalid="warn", under="ignore")
"""For our own arithmetic, as a decorator: a search is the same whatever a user has told NumPy of exceptions."""


@dataclass(frozen=True)
class Space:
    """The map between variables x and coordinates z: x = centre + unit * z, or the logarithm of x."""

    low: Float[np.ndarray, " d"]
    high: Float[np.ndarray, " d"]
    integer: Bool[np.ndarray, " d"]
    log: Bool[np.ndarray, " d"]
    centre: Float[np.ndarray, " d"]
    unit: Float[np.ndarray, " d"]
    edge_low: Float[np.ndarray, " d"]
    edge_high: Float[np.ndarray, " d"]
    category: Bool[np.ndarray, " d"]
    """Whole numbers that stand for things in no order."""
    uniform: Bool[np.ndarray, " d"]
    """Variables whose first values are drawn from the whole box, and not around x0."""
    x0: Float[np.ndarray, "k d"] | None
    """Points to start from; the first is the centre where sigma0 was given."""
    names: tuple[str, ...]

    @property
    def num_dims(self) -> int:
        return self.low.shape[0]

    def decode(self, coordinates: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """The variables at some coordinates. Whatever these are, bounds and integrality hold."""
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            x = self.centre + self.unit * self.reflect(coordinates)
            if self.has_logs:
                x = np.where(self.log, 10.0 ** np.where(self.log, x, 0.0), x)
        x = np.where(np.isnan(x), self.middle, x)
        x = np.where(self.integer, np.rint(x), x) if self.movable.size else x
        return np.minimum(np.maximum(x, self.low), self.high)

    def encode(self, x: Float[np.ndarray, " d"]) -> Float[np.ndarray, " d"]:
        """The coordinates of a point."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            inner = np.where(self.log, np.log10(np.where(self.log, x, 1.0)), x)
            coordinates = np.where(self.unit > 0.0, (inner - self.centre) / self.unit, 0.0)
        return self.reflect(coordinates[None])[0]

    def reflect(self, coordinates: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """Coordinates as the mirrors show them: a step beyond an edge comes back by as much as it went too far."""
        z = within_floats(coordinates)
        if np.all((z >= self.edge_low) & (z <= self.edge_high)):
            return z
        low, high = (np.broadcast_to(end, z.shape) for end in (self.edge_low, self.edge_high))
        # Only what is outside is touched: folding would cost coordinates far from the edges their last digits.
        start = np.where(z < low, low, np.where(z > high, high, z))
        beyond = np.abs(z - start)
        width = high - low
        turn = np.mod(beyond, np.where(width > 0.0, 2.0 * width, 1.0))
        back = np.where(width > 0.0, np.minimum(turn, 2.0 * width - turn), 0.0)
        return within_floats(start + np.where(z < low, back, -back))

    def first_population(self, generator: np.random.Generator, size: int) -> Float[np.ndarray, "n d"]:
        """Coordinates of a first population: spread over the box, or normal around x0 where sigma0 was given.

        Along each variable there is one in each of as many equal parts (a Latin hypercube): what is drawn independently
        leaves gaps, which small populations can ill afford.
        """
        shape = (size, self.num_dims)
        part = np.argsort(generator.uniform(size=shape), axis=0)
        share = (part + generator.uniform(size=shape)) / size
        low, high = np.where(self.uniform, self.edge_low, 0.0), np.where(self.uniform, self.edge_high, 0.0)
        around = START_DEVIATION * generator.normal(size=shape)
        return self.reflect(np.where(self.uniform, low + share * (high - low), around))

    @cached_property
    def has_logs(self) -> bool:
        return bool(self.log.any())

    @cached_property
    def movable(self) -> Int[np.ndarray, " m"]:
        """Where there are whole numbers that may be others."""
        return np.flatnonzero(self.integer & (self.high > self.low))

    @cached_property
    def is_whole(self) -> bool:
        """Whether the same point can come again."""
        return bool(np.all(self.integer | (self.high == self.low)))

    @cached_property
    def middle(self) -> Float[np.ndarray, " d"]:
        """A point inside of the bounds."""
        return np.clip(0.0, self.low, self.high)


def within_floats(coordinates: Any) -> Float[np.ndarray, "*n"]:
    z = np.asarray(coordinates, PRECISION)
    return np.minimum(np.maximum(np.where(np.isnan(z), 0.0, z), -LARGEST_COORDINATE), LARGEST_COORDINATE)


def make_space(
    bounds: Any = None,
    x0: Any = None,
    sigma0: Any = None,
    integrality: Any = None,
    log_scale: Any = None,
    categories: Any = None,
    names: Any = None,
) -> Space:
    """Checks what people give and makes the map of it."""
    require(
        bounds is not None or (x0 is not None and sigma0 is not None),
        "neither bounds nor x0 and sigma0 are given, but the search must know where to start.",
    )
    start = None if x0 is None else points("x0", x0)
    require(
        sigma0 is None or start is not None,
        f"sigma0 is {sigma0}, but there is no x0 that it could be the deviation around.",
    )
    low, high = parse_bounds(bounds, None if start is None else start.shape[1])
    num_dims = low.shape[0]
    integer, log = flags("integrality", integrality, num_dims), flags("log_scale", log_scale, num_dims)
    require(bool(np.all(low[log] > 0.0)), "log_scale needs a lower bound of more than 0 for each log-scaled variable.")
    # The sum of zero and -0.0 is 0.0: an objective should not see a negative zero that nobody asked for.
    low, high = np.where(integer, np.ceil(low), low) + 0.0, np.where(integer, np.floor(high), high) + 0.0
    require(bool(np.all(low <= high)), "bounds must leave each integer variable at least one whole number.")
    if start is not None:
        require(start.shape[1] == num_dims, f"x0 has {start.shape[1]} values, but there are {num_dims} variables.")
        inside = np.all(np.isfinite(start) & (start >= low) & (start <= high), axis=0)
        require(
            bool(np.all(inside)), f"x0 must lie inside of the bounds, but variable {int(np.argmin(inside))} does not."
        )
        start = np.where(integer, np.rint(start), start)
    own_names = tuple(f"x{place}" for place in range(num_dims)) if names is None else tuple(names)
    category = flags("categories", categories, num_dims)
    return scaled(low, high, integer, log, start, deviations(sigma0, num_dims), category, own_names)


def scaled(low, high, integer, log, start, sigma, category, names) -> Space:
    """The map for checked arguments; `sigma` is NaN where it was not given."""
    biggest = np.finfo(float).max
    boxed = np.isfinite(low) & np.isfinite(high)
    given = ~np.isnan(sigma)
    require(
        bool(np.all(boxed | (given & (start is not None)))),
        "x0 and sigma0 must be given for each variable without two finite bounds.",
    )
    inner_low, inner_high = inner_bounds(low, high, integer, log)
    both_low, both_high = np.where(boxed, inner_low, 0.0), np.where(boxed, inner_high, 0.0)
    # Halves first: the difference of two large floats would overflow.
    middle, half = 0.5 * both_low + 0.5 * both_high, 0.5 * both_high - 0.5 * both_low
    centre = middle if start is None else np.where(given, inner(start[0], log), middle)
    unit = np.where(given, np.where(given, sigma, 1.0) / START_DEVIATION, half / HALF_SIDE)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        edges = [
            np.where(given, (end - centre) / unit, side * HALF_SIDE) for end, side in ((inner_low, -1), (inner_high, 1))
        ]
    edge_low, edge_high = np.clip(edges, -LARGEST_COORDINATE, LARGEST_COORDINATE)
    tiny = np.finfo(float).tiny
    return Space(
        low=np.clip(low, np.where(log, tiny, -biggest), biggest),
        high=np.clip(high, -biggest, biggest),
        integer=integer,
        log=log,
        centre=centre,
        unit=unit,
        edge_low=edge_low,
        edge_high=edge_high,
        category=category,
        uniform=~given,
        x0=start,
        names=names,
    )


def points(argument: str, given: Any) -> Float[np.ndarray, "k d"]:
    """One point or several, of numbers."""
    try:
        rows = np.atleast_2d(np.asarray(given, float))
    except (TypeError, ValueError):
        raise ValueError(f"{argument} is {given!r}, but must be one point, or several, of numbers.") from None
    require(rows.ndim == 2, f"{argument} is {given}, but must be one point, or several [k, d].")
    return rows.copy()


def parse_bounds(bounds: Any, num_dims: int | None) -> tuple[Float[np.ndarray, " d"], Float[np.ndarray, " d"]]:
    """Pairs (low, high), an array [d, 2] or SciPy's `Bounds`; None and infinities are open ends."""
    if bounds is None:
        return np.full(num_dims or 0, -np.inf), np.full(num_dims or 0, np.inf)
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        size = (num_dims or max(np.size(bounds.lb), np.size(bounds.ub)),)
        low, high = (np.broadcast_to(np.asarray(ends, float), size).copy() for ends in (bounds.lb, bounds.ub))
    else:
        try:
            pairs = [(one, two) for one, two in bounds]
            low = np.array([-np.inf if low is None else float(low) for low, _ in pairs])
            high = np.array([np.inf if high is None else float(high) for _, high in pairs])
        except (TypeError, ValueError):
            raise ValueError(
                f"bounds is {bounds!r}, but must be a pair (low, high) for each variable, as in [(-5, 5), (0, 1)]."
            ) from None
        require(len(pairs) > 0, "bounds has no pair (low, high), but there must be at least one variable.")
    for position, (least, most) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        require(
            least <= most and least < np.inf and most > -np.inf,
            f"bounds of variable {position} are ({least}, {most}), but the lower must not be above the upper.",
        )
    return low, high


def flags(argument: str, value: Any, num_dims: int) -> Bool[np.ndarray, " d"]:
    """One truth value per variable; one for all may be given."""
    if value is None:
        return np.zeros(num_dims, bool)
    given = np.asarray(value)
    require(
        given.dtype.kind in "biuf" and bool(np.all((given == 0) | (given == 1))),
        f"{argument} is {value!r}, but must be True or False for each variable.",
    )
    require(
        given.ndim == 0 or given.shape == (num_dims,),
        f"{argument} has shape {given.shape}, but must be one truth value, or one for each of {num_dims} variables.",
    )
    return np.broadcast_to(given.astype(bool), (num_dims,)).copy()


def deviations(sigma0: float | Sequence[float | None] | Any, num_dims: int) -> Float[np.ndarray, " d"]:
    """One deviation per variable; NaN where none was given."""
    if sigma0 is None:
        return np.full(num_dims, np.nan)
    given = np.asarray([np.nan if one is None else one for one in np.atleast_1d(np.asarray(sigma0, object))], float)
    require(
        given.shape in ((1,), (num_dims,)),
        f"sigma0 has {given.size} values, but must be one number, or one for each of {num_dims} variables.",
    )
    sensible = np.isnan(given) | ((given > 0.0) & np.isfinite(given))
    require(bool(np.all(sensible)), f"sigma0 is {sigma0}, but must be more than 0 and finite.")
    return np.broadcast_to(given, (num_dims,)).copy()
