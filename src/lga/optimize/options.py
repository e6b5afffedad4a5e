"""The options of a search, their defaults and their checks; and the search that they describe."""

import math
from dataclasses import asdict, dataclass, replace
from numbers import Number
from pathlib import Path
from typing import Any

import numpy as np

from lga.core.checks import require, require_known
from lga.optimize.bounds import Space, deviations, make_space, usual_arithmetic
from lga.optimize.programs import ALGORITHMS, DEFAULT_ALGORITHM, LEARNED, Programs, programs
from lga.weights import Weights, resolve

DIRECTIONS = {"minimize": 1.0, "maximize": -1.0}
ON_ERROR = ("penalize", "retry", "raise")
EVALUATIONS_PER_VARIABLE = 1000
SMALLEST_POPULATION, LARGEST_POPULATION = 4, 2**20
"""No sensible search has more, and a file that asks for more must not cost the memory for it."""
FIRST_SIZE = 16
"""Of algorithms that have no weights; weights know what suits them."""
LARGEST_GROWTH = 3


@dataclass(frozen=True)
class SearchOptions:
    """What `minimize`, `Optimizer` and the command line share; `minimize` explains each."""

    bounds: Any = None
    x0: Any = None
    sigma0: Any = None
    popsize: int | None = None
    max_evaluations: int | None = None
    max_seconds: float | None = None
    target: float | None = None
    patience: int | None = None
    direction: str = "minimize"
    seed: int | None = None
    integrality: Any = None
    log_scale: Any = None
    vectorized: bool = False
    jit: bool = False
    workers: Any = 1
    timeout: float | None = None
    on_error: str = "penalize"
    reevaluate: int = 0
    progress: bool = False
    checkpoint: str | Path | None = None
    algorithm: str = DEFAULT_ALGORITHM
    weights: Any = None
    restarts: int | None = None
    x_init: Any = None
    y_init: Any = None


# These may change from call to call without making it another search.
INCIDENTAL = ("max_seconds", "workers", "timeout", "progress", "checkpoint")
KINDS = {
    **dict.fromkeys(("popsize", "max_evaluations", "patience", "seed", "reevaluate", "restarts", "workers"), int),
    **dict.fromkeys(("max_seconds", "target", "timeout"), float),
    **dict.fromkeys(("vectorized", "jit", "progress"), bool),
}
IN_WORDS = {int: "a whole number", float: "a number", bool: "True or False"}
LIMITS = ("max_evaluations", "max_seconds", "target", "patience")


def population_size(popsize: int, restarts: int) -> int:
    """Solutions per generation, doubled by each of the first restarts."""
    return popsize * 2 ** min(restarts, LARGEST_GROWTH)


@dataclass(frozen=True)
class Search:
    """What does not change in a search: options with nothing left open, the map of its variables, its weights."""

    options: SearchOptions
    space: Space
    weights: Weights | None

    @property
    def sign(self) -> float:
        """Values are minimised inside."""
        return DIRECTIONS[self.options.direction]

    def size(self, restarts: int) -> int:
        assert self.options.popsize is not None
        return population_size(self.options.popsize, restarts)

    def programs(self, restarts: int) -> Programs:
        return programs(self.options.algorithm, self.weights, self.size(restarts), self.space.num_dims)

    @property
    def settings(self) -> dict[str, Any]:
        """What makes it this search and no other, as JSON; weights by their content."""
        plain = asdict(replace(self.options, weights=None, workers=1))
        own = {name: value for name, value in plain.items() if name not in INCIDENTAL}
        return own | {"weights": None if self.weights is None else self.weights.digest}


@usual_arithmetic
def make_search(options: SearchOptions) -> Search:
    """Checks the options, fills in what was left open and makes the search of it."""
    options = replace(options, **plain_numbers(options))
    space = make_space(options.bounds, options.x0, options.sigma0, options.integrality, options.log_scale)
    num_dims = space.num_dims
    require_known("algorithm", options.algorithm, ALGORITHMS)
    require_known("direction", options.direction, DIRECTIONS)
    require_known("on_error", options.on_error, ON_ERROR)
    is_learned = options.algorithm in LEARNED
    require(options.weights is None or is_learned, f"weights are given, but {options.algorithm} has none.")
    weights = resolve(options.weights, num_dims) if is_learned else None
    require(
        weights is None or not weights.needs_box or bool(np.all(space.uniform)),
        f"weights is {options.weights!r}, which searches in a box: each variable needs two bounds, and no sigma0.",
    )
    own_size = FIRST_SIZE if weights is None else weights.population(num_dims)
    popsize, restarts = own_size if options.popsize is None else options.popsize, options.restarts
    require(popsize >= SMALLEST_POPULATION, f"popsize is {popsize}, but must be at least {SMALLEST_POPULATION}.")
    require(popsize <= LARGEST_POPULATION, f"popsize is {popsize}, but must be at most {LARGEST_POPULATION}.")
    require(restarts is None or restarts >= 0, f"restarts is {restarts}, but must be 0 or more, or None.")
    require(
        0 <= options.reevaluate <= popsize, f"reevaluate is {options.reevaluate}, but must lie between 0 and {popsize}."
    )
    seed = int(np.random.SeedSequence().generate_state(1)[0]) if options.seed is None else options.seed
    require(0 <= seed < 2**64, f"seed is {seed}, but must lie between 0 and 2**64 - 1.")
    check_evaluation(options)
    require(
        (options.x_init is None) == (options.y_init is None), "x_init and y_init belong together: points and values."
    )
    complete = replace(
        options,
        bounds=np.stack([space.low, space.high], axis=1).tolist(),
        x0=None if space.x0 is None else space.x0.tolist(),
        sigma0=None if options.sigma0 is None else deviations(options.sigma0, num_dims).tolist(),
        integrality=space.integer.tolist(),
        log_scale=space.log.tolist(),
        popsize=popsize,
        seed=seed,
        x_init=None if options.x_init is None else np.atleast_2d(np.asarray(options.x_init, float)).tolist(),
        y_init=None if options.y_init is None else np.atleast_1d(np.asarray(options.y_init, float)).tolist(),
        **checked_limits(options, num_dims),
    )
    return Search(complete, space, weights)


def plain_numbers(options: SearchOptions) -> dict[str, Any]:
    """Numbers of NumPy and JAX, and whole ones that are written as 1e3, as Python's own: files hold no others."""
    found = {}
    for name, kind in KINDS.items():
        value: Any = getattr(options, name)
        is_executor = name == "workers" and not isinstance(value, Number)
        if value is None or is_executor:
            continue
        is_number = np.ndim(np.asarray(value)) == 0 and not isinstance(value, str | bytes)
        try:
            found[name] = kind(value)
        except (TypeError, ValueError, OverflowError):
            is_number = False
        is_plain = is_number and (kind is float or found[name] == value)
        require(is_plain, f"{name} is {value!r}, but must be {IN_WORDS[kind]}.")
    return found


def checked_limits(options: SearchOptions, num_dims: int) -> dict[str, Any]:
    limits = {name: getattr(options, name) for name in LIMITS}
    for name in ("max_evaluations", "max_seconds", "patience"):
        require(limits[name] is None or limits[name] > 0, f"{name} is {limits[name]}, but must be more than 0.")
    target = options.target
    require(target is None or not math.isnan(target), "target is NaN, but must be a number.")
    unlimited = all(limit is None for limit in limits.values())
    return limits | ({"max_evaluations": EVALUATIONS_PER_VARIABLE * num_dims} if unlimited else {})


def check_evaluation(options: SearchOptions) -> None:
    workers, timeout = options.workers, options.timeout
    require(timeout is None or timeout > 0.0, f"timeout is {timeout}, but must be more than 0 seconds.")
    require(not isinstance(workers, int) or workers >= 1, f"workers is {workers}, but must be at least 1.")
    require(
        isinstance(workers, int) or callable(getattr(workers, "submit", None)),
        f"workers is {workers!r}, but must be a number of processes or an executor with a submit method.",
    )
    together = "jit" if options.jit else "vectorized" if options.vectorized else None
    require(
        together is None or (workers == 1 and timeout is None),
        f"{together} is True, so all solutions are one call, but workers and timeout are for single ones.",
    )
