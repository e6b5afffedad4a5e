"""`minimize`: a function in, the best point that was found out."""

import contextlib
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

from scipy.optimize import OptimizeResult

from lga.operators.theta import Theta
from lga.optimize.evaluation import make_evaluator
from lga.optimize.loop import Loop
from lga.optimize.options import SearchOptions, make_search
from lga.optimize.programs import DEFAULT_ALGORITHM
from lga.optimize.state import read


def minimize(
    fun: Callable[[Any], Any],
    bounds: Any = None,
    *,
    x0: Any = None,
    sigma0: Any = None,
    popsize: int | None = None,
    max_evaluations: int | None = None,
    max_seconds: float | None = None,
    target: float | None = None,
    patience: int | None = None,
    direction: str = "minimize",
    seed: int | None = None,
    integrality: Any = None,
    log_scale: Any = None,
    vectorized: bool = False,
    jit: bool = False,
    workers: int | Executor | Any = 1,
    timeout: float | None = None,
    on_error: str = "penalize",
    reevaluate: int = 0,
    callback: Callable[[OptimizeResult], Any] | None = None,
    progress: bool = False,
    checkpoint: str | Path | None = None,
    algorithm: str = DEFAULT_ALGORITHM,
    weights: str | Path | Theta | None = None,
    restarts: int | None = None,
    x_init: Any = None,
    y_init: Any = None,
) -> OptimizeResult:
    """Searches for the least value of a function of several variables, without derivatives.

    Args:
        fun: Takes a float64 array [d], returns a number. Whatever else it does (exceptions, NaN, infinities, other
            types, time-outs, death of its process) is a failed evaluation: counted, logged and survived.
        bounds: A pair (low, high) for each variable, or SciPy's `Bounds`. None or infinite ends are open.
        x0: A point to start from. Needed, with sigma0, for variables without two finite bounds.
        sigma0: Deviation of the first population around x0, for all variables or for each; in decades for log-scaled
            ones. Without it the first population is uniform in the box.
        popsize: Solutions per generation; if not given, what suits the weights: with `lga-2` 6 + 3.4 ln(d).
        max_evaluations: Budget, kept exactly. If none of max_evaluations, max_seconds, target and patience is given,
            1000 evaluations per variable.
        max_seconds: Budget of time.
        target: Stop when a value as good as this is found.
        patience: Stop after as many generations without improvement.
        direction: "minimize" or "maximize".
        seed: Equal seeds give equal results, whatever the number of workers. None draws one; the result tells it.
        integrality: Which variables are whole numbers.
        log_scale: Which variables are searched in their logarithm.
        vectorized: The function takes [n, d] and returns [n]. If such a call fails, all n count as failed, and each is
            tried once more, alone.
        jit: Compile an objective that is written in JAX; a generation is then one call.
        workers: Number of processes, or a `concurrent.futures.Executor` (loky, Dask, mpi4py).
        timeout: Seconds that one evaluation may take; its process is then killed.
        on_error: What a failed evaluation leads to: "penalize" ranks it last, "retry" tries once more before that,
            "raise" ends the search with an `EvaluationError`.
        reevaluate: For noisy objectives: as many of the best solutions are evaluated again in each generation, and
            the mean of its values counts for a solution.
        callback: Called after each generation with the result so far; True stops the search.
        progress: Write a line about the progress to stderr.
        checkpoint: File to save to after each generation. A call with the same arguments continues from it, and ends
            with the same result as a call that was never interrupted.
        algorithm: "lga", or the name of any preset.
        weights: For learned algorithms: an installed name, a file, or weights.
        restarts: How often a search that stagnates may start anew; None means as often as the budget allows.
        x_init: Points [k, d] whose values are known already, in place of a first population. They cost no evaluation.
        y_init: Their values [k].

    Returns:
        x, fun, nfev, nit, success, status, message, population, population_values, history (one entry per generation),
        failures (counts by kind), failure_examples (the first of each kind), chosen (how x was chosen), restarts, seed.
    """
    given = {name: value for name, value in locals().items() if name not in ("fun", "callback")}
    return run_search(fun, SearchOptions(**given), callback)


def run_search(fun: Callable[[Any], Any], options: SearchOptions, callback: Callable | None = None) -> OptimizeResult:
    """`minimize` with its options in one piece."""
    deadline = None if options.max_seconds is None else time.monotonic() + options.max_seconds
    saved = read(options.checkpoint) if options.checkpoint is not None and Path(options.checkpoint).exists() else None
    if saved is not None and options.seed is None:
        options = replace(options, seed=saved[1]["settings"]["seed"])
    search = make_search(options)
    loop = Loop(search, name_of(fun), deadline, callback)
    if saved is not None:
        loop.resume(*saved)
    if loop.stop is None:
        with contextlib.closing(make_evaluator(fun, search)) as evaluator:
            loop.run(evaluator)
    return loop.result()


def name_of(fun: Any) -> str:
    """What a checkpoint knows of the objective."""
    named = fun if hasattr(fun, "__qualname__") else type(fun)
    return f"{named.__module__}.{named.__qualname__}"
