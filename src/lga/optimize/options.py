"""The options of a search, their defaults and their checks; and the search that they describe."""

import math
from dataclasses import asdict, dataclass, replace
from numbers import Number
from pathlib import Path
from typing import Any

import numpy as np

from lga.core.checks import require, require_known
from lga.core.interfaces import Algorithm
from lga.optimize.bounds import Space, deviations, make_space, usual_arithmetic
from lga.optimize.programs import ALGORITHMS, DEFAULT_ALGORITHM, LEARNED, Programs, programs
from lga.weights import Weights, resolve

DIRECTIONS = {"minimize": 1.0, "maximize": -1.0}
ON_ERROR = ("penalize", "retry", "raise")
CHECKPOINT_OBJECTIVE = ("check", "ignore")
EVALUATIONS_PER_VARIABLE = 1000
SMALLEST_POPULATION, LARGEST_POPULATION = 4, 2**20
"""No sensible search has more, and a file that asks for more must not cost the memory for it."""
ALL_PROCESSORS = -1
OWN_ALGORITHM = "the caller's own"
"""What a file says of an algorithm that was given as it is."""
FIRST_SIZE = 16
"""Of algorithms that have no weights; weights know what suits them."""
LARGEST_GROWTH = 3
"""Doublings of the population."""


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
    seed: Any = None
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
    algorithm: Any = DEFAULT_ALGORITHM
    weights: Any = None
    restarts: int | None = None
    x_init: Any = None
    y_init: Any = None
    keep_evaluations: bool = True
    categories: Any = None
    names: Any = None
    constraints: Any = None
    noise: str | None = None
    polish: bool = False
    checkpoint_objective: str = "check"


# These may change from call to call without making it another search.
INCIDENTAL = ("max_seconds", "workers", "timeout", "progress", "checkpoint", "keep_evaluations", "constraints")
INCIDENTAL += ("checkpoint_objective",)
KINDS = {
    **dict.fromkeys(("popsize", "max_evaluations", "patience", "seed", "reevaluate", "restarts", "workers"), int),
    **dict.fromkeys(("max_seconds", "target", "timeout"), float),
    **dict.fromkeys(("vectorized", "jit", "progress", "keep_evaluations", "polish"), bool),
}
IN_WORDS = {int: "a whole number", float: "a number", bool: "True or False"}
LIMITS = ("max_evaluations", "max_seconds", "target", "patience")


def population_size(popsize: int, restarts: int) -> int:
    """Solutions per generation. Restarts are small and large by turns: 1, 1, 2, 1, 4, 1, 8, 1, 8, … times as many.

    Small ones look at more places with what is left, large ones see through noise and local optima; and a small one has
    nothing to compile.
    """
    is_large = restarts > 0 and restarts % 2 == 0
    return popsize * 2 ** min(restarts // 2, LARGEST_GROWTH) if is_large else popsize


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

    @property
    def screens(self) -> bool:
        """Whether the weights choose children from many candidates."""
        return self.weights is not None and self.weights.theta.screens

    @property
    def is_own(self) -> bool:
        """Whether the algorithm was given as it is, and not by a name."""
        return isinstance(self.options.algorithm, Algorithm)

    def size(self, restarts: int) -> int:
        assert self.options.popsize is not None
        if self.is_own:
            return self.options.popsize
        return population_size(self.options.popsize, restarts)

    def programs(self, restarts: int) -> Programs:
        return programs(self.options.algorithm, self.weights, self.size(restarts), self.space.num_dims)

    @property
    def settings(self) -> dict[str, Any]:
        """What makes it this search and no other, as JSON; weights by their content."""
        algorithm = OWN_ALGORITHM if self.is_own else self.options.algorithm
        plain = asdict(replace(self.options, weights=None, workers=1, algorithm=algorithm))
        own = {name: value for name, value in plain.items() if name not in INCIDENTAL}
        return own | {"weights": None if self.weights is None else self.weights.digest}


@usual_arithmetic
def make_search(options: SearchOptions) -> Search:
    """Checks the options, fills in what was left open and makes the search of it."""
    if isinstance(options.seed, np.random.Generator):
        options = replace(options, seed=int(options.seed.integers(2**63)))
    options = replace(options, **plain_numbers(options))
    space = make_space(
        options.bounds,
        options.x0,
        options.sigma0,
        options.integrality,
        options.log_scale,
        options.categories,
        options.names,
    )
    num_dims = space.num_dims
    name: str = options.algorithm if isinstance(options.algorithm, str) else OWN_ALGORITHM
    own: Algorithm | None = options.algorithm if isinstance(options.algorithm, Algorithm) else None
    if own is None:
        require(
            isinstance(options.algorithm, str),
            f"algorithm is {options.algorithm!r}, but must be a name or an Algorithm, as lga.ma_es(16) is one.",
        )
        require_known("algorithm", name, ALGORITHMS)
    else:
        require(
            options.popsize in (None, own.num_children),
            f"popsize is {options.popsize}, but the algorithm has {own.num_children} children in a generation.",
        )
    require_known("direction", options.direction, DIRECTIONS)
    require_known("on_error", options.on_error, ON_ERROR)
    require(options.noise in (None, "auto"), f"noise is {options.noise!r}, but must be None or 'auto'.")
    require(
        not options.polish or (options.noise is None and options.reevaluate == 0),
        "polish is True, but a local method cannot work with noisy values: leave out noise and reevaluate.",
    )
    require(
        options.noise is None or options.reevaluate == 0,
        'noise is "auto" and reevaluate is given, but these are two ways: choose one.',
    )
    require_known("checkpoint_objective", options.checkpoint_objective, CHECKPOINT_OBJECTIVE)
    is_learned = name in LEARNED
    require(options.weights is None or is_learned, f"weights are given, but {name} has none.")
    weights = resolve(options.weights, num_dims) if is_learned else None
    require(
        weights is None or not weights.needs_box or bool(np.all(space.uniform)),
        f"weights is {options.weights!r}, which searches in a box: each variable needs two bounds, and no sigma0.",
    )
    own_size = own.num_children if own is not None else suited_size(name, weights, num_dims)
    popsize, restarts = own_size if options.popsize is None else options.popsize, options.restarts
    starts = 0 if space.x0 is None else len(space.x0)
    require(starts <= popsize, f"x0 has {starts} points, but the first population only {popsize}: raise popsize.")
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
        x0=None if space.x0 is None else plain_start(space),
        sigma0=None if options.sigma0 is None else deviations(options.sigma0, num_dims).tolist(),
        integrality=space.integer.tolist(),
        log_scale=space.log.tolist(),
        categories=space.category.tolist(),
        names=list(space.names),
        popsize=popsize,
        seed=seed,
        x_init=None if options.x_init is None else np.atleast_2d(np.asarray(options.x_init, float)).tolist(),
        y_init=None if options.y_init is None else np.atleast_1d(np.asarray(options.y_init, float)).tolist(),
        **checked_limits(options, num_dims),
    )
    return Search(complete, space, weights)


def suited_size(algorithm: str, weights: Weights | None, num_dims: int) -> int:
    """Weights know what suits them; what has a shape needs more children for more variables."""
    if weights is not None:
        return weights.population(num_dims)
    if algorithm == "cma_es":
        return 4 + int(3.0 * math.log(num_dims))
    return 6 + round(3.4 * math.log(num_dims)) if algorithm == "ma_es" else FIRST_SIZE


def plain_start(space: Space) -> list[Any]:
    """One point, or several."""
    assert space.x0 is not None
    return space.x0[0].tolist() if len(space.x0) == 1 else space.x0.tolist()


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
    # A target alone may be missed forever.
    unlimited = all(limits[name] is None for name in ("max_evaluations", "max_seconds", "patience"))
    return limits | ({"max_evaluations": EVALUATIONS_PER_VARIABLE * num_dims} if unlimited else {})


def check_evaluation(options: SearchOptions) -> None:
    workers, timeout = options.workers, options.timeout
    require(timeout is None or timeout > 0.0, f"timeout is {timeout}, but must be more than 0 seconds.")
    require(
        not isinstance(workers, int) or workers >= 1 or workers == ALL_PROCESSORS,
        f"workers is {workers}, but must be at least 1, or {ALL_PROCESSORS} for all processors.",
    )
    require(
        isinstance(workers, int) or callable(getattr(workers, "submit", None)),
        f"workers is {workers!r}, but must be a number of processes or an executor with a submit method.",
    )
    together = "jit" if options.jit else "vectorized" if options.vectorized else None
    require(
        together is None or (workers == 1 and timeout is None),
        f"{together} is True, so all solutions are one call, but workers and timeout are for single ones.",
    )
