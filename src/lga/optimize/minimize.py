"""`minimize`: a function in, the best point that was found out."""

import contextlib
import hashlib
import math
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from lga.core.files import Lock, sweep
from lga.core.tree_io import digest
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
    begin = time.monotonic()
    if options.checkpoint is None:
        return search_on(fun, options, begin, callback)
    # The objective may change the working directory.
    checkpoint = Path(options.checkpoint).resolve()
    sentence = f"checkpoint is {str(checkpoint)!r}, but another search is at work with it."
    with contextlib.closing(Lock(checkpoint.with_name(f".{checkpoint.name[:200]}.lock"), sentence)):
        sweep(checkpoint.parent, checkpoint.name)
        return search_on(fun, replace(options, checkpoint=checkpoint), begin, callback)


def search_on(fun: Callable[[Any], Any], options: SearchOptions, begin: float, callback: Callable | None) -> Any:
    """From the beginning, or from the checkpoint if there is one."""
    saved = read(options.checkpoint) if options.checkpoint is not None and Path(options.checkpoint).exists() else None
    if saved is not None and options.seed is None:
        options = replace(options, seed=saved[1]["settings"]["seed"])
    search = make_search(options)
    seconds = search.options.max_seconds
    deadline = None if seconds is None or math.isinf(seconds) else begin + seconds
    loop = Loop(search, name_of(fun), deadline, callback)
    if saved is not None:
        loop.resume(*saved)
    if loop.stop is None:
        with contextlib.closing(make_evaluator(fun, search)) as evaluator:
            loop.run(evaluator)
    return loop.result()


def name_of(fun: Any) -> str:
    """What a checkpoint knows of the objective: its name and, if some arguments are filled in, these."""
    if isinstance(fun, partial):
        filled_in = [shown(value) for value in fun.args]
        filled_in += [f"{name}={shown(value)}" for name, value in sorted(fun.keywords.items())]
        return f"partial({', '.join([name_of(fun.func), *filled_in])})"
    named = fun if hasattr(fun, "__qualname__") else type(fun)
    return f"{named.__module__}.{named.__qualname__}"


def shown(value: Any) -> str:
    """An argument, by its content where that is the same in every process; other things by what they are called."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | Path):
        text = repr(value)
        return text if len(text) <= 80 else hashlib.sha256(text.encode()).hexdigest()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name!r}: {shown(one)}' for name, one in value.items())}}}"
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return digest({"value": np.asarray(value)}) if np.asarray(value).dtype.kind != "O" else name_of(value)
    return name_of(value)
