"""`minimize`: a function in, the best point that was found out."""

import contextlib
import time
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from scipy.optimize import OptimizeResult

from lga.core.checks import require, require_known
from lga.operators.theta import Theta
from lga.optimize import storage
from lga.optimize.evaluation import Evaluator, Vectorized, make_evaluator
from lga.optimize.loop import ON_ERROR, Limits, Loop
from lga.optimize.objectives import compiled_objective, is_written_in_jax, require_jax
from lga.optimize.optimizer import Optimizer
from lga.optimize.programs import DEFAULT_ALGORITHM
from lga.optimize.progress import ProgressLine

EVALUATIONS_PER_VARIABLE = 1000


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
    jit: bool | None = None,
    workers: int | Executor | Any = 1,
    timeout: float | None = None,
    on_error: str = "penalise",
    reevaluate: int = 0,
    callback: Callable[[OptimizeResult], Any] | None = None,
    progress: bool = False,
    checkpoint: str | Path | None = None,
    algorithm: str = DEFAULT_ALGORITHM,
    weights: str | Path | Theta | None = None,
    restarts: int | None = None,
) -> OptimizeResult:
    """Searches for the least value of a function of several variables, without derivatives.

    Args:
        fun: Takes a float64 array [d], returns a number. Whatever else it does (exceptions, NaN, infinities, other
            types, time-outs, death of its process) is a failed evaluation: counted, logged and survived.
        bounds: A pair (low, high) for each variable, or SciPy's `Bounds`. None or infinite ends are open.
        x0: A point to start from. Needed, with sigma0, for variables without two finite bounds.
        sigma0: Deviation of the first population around x0, for all variables or for each; in decades for log-scaled
            ones. Without it the first population is uniform in the box.
        popsize: Solutions a generation.
        max_evaluations: Budget, kept exactly. If none of max_evaluations, max_seconds, target and patience is given,
            1000 evaluations a variable.
        max_seconds: Budget of time.
        target: Stop when a value as good as this is found.
        patience: Stop after as many generations without improvement.
        direction: "minimize" or "maximize".
        seed: Equal seeds give equal results, whatever the number of workers. None draws one; the result tells it.
        integrality: Which variables are whole numbers.
        log_scale: Which variables are searched in their logarithm.
        vectorized: The function takes [n, d] and returns [n].
        jit: Compile an objective written in JAX. None finds out: code that uses JAX is tried out at two points.
        workers: Number of processes, or a `concurrent.futures.Executor` (loky, Dask, mpi4py).
        timeout: Seconds that one evaluation may take; its process is then killed.
        on_error: What a failed evaluation leads to: "penalise" ranks it last, "retry" tries once more before that,
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

    Returns:
        x, fun, nfev, nit, success, status, message, population, population_values, history (one entry a generation),
        failures (counts by kind), failure_examples (the first of each kind), chosen (how x was chosen), restarts, seed.
    """
    begin = time.monotonic()
    require_known("on_error", on_error, ON_ERROR)
    for name, limit in (("max_evaluations", max_evaluations), ("max_seconds", max_seconds), ("patience", patience)):
        require(limit is None or limit > 0, f"{name} is {limit}, but must be more than 0.")
    saved = storage.read(checkpoint) if checkpoint is not None and Path(checkpoint).exists() else None
    if saved is not None and seed is None:
        seed = saved[1]["settings"]["seed"]
    optimizer = Optimizer(
        bounds,
        x0=x0,
        sigma0=sigma0,
        popsize=popsize,
        seed=seed,
        algorithm=algorithm,
        weights=weights,
        direction=direction,
        integrality=integrality,
        log_scale=log_scale,
        restarts=restarts,
        reevaluate=reevaluate,
    )
    if all(limit is None for limit in (max_evaluations, max_seconds, target, patience)):
        max_evaluations = EVALUATIONS_PER_VARIABLE * optimizer.space.num_dims
    deadline = None if max_seconds is None else begin + max_seconds
    loop = Loop(
        optimizer,
        Limits(max_evaluations, deadline, target, patience),
        on_error=on_error,
        callback=callback,
        progress=ProgressLine() if progress else None,
        checkpoint=None if checkpoint is None else Path(checkpoint),
        identity={"fun": name_of(fun), "vectorized": vectorized, "jit": jit},
    )
    if saved is not None:
        loop.resume(*saved)
    if loop.stop is None:
        with contextlib.closing(choose_evaluator(fun, optimizer, workers, timeout, vectorized, jit)) as evaluator:
            loop.run(evaluator)
    return loop.result()


def choose_evaluator(fun, optimizer: Optimizer, workers, timeout, vectorized: bool, jit: bool | None) -> Evaluator:
    apart = workers != 1 or timeout is not None
    require(
        not (jit and apart), "jit is True, so all solutions are one program, but workers and timeout are for others."
    )
    if jit:
        require_jax(fun, optimizer.space, vectorized)
    if jit or (jit is None and not apart and is_written_in_jax(fun, optimizer.space, vectorized)):
        return Vectorized(compiled_objective(fun, optimizer.space, vectorized))
    return make_evaluator(fun, workers, timeout, vectorized)


def name_of(fun: Any) -> str:
    """What a checkpoint knows of the objective."""
    named = fun if hasattr(fun, "__qualname__") else type(fun)
    return f"{named.__module__}.{named.__qualname__}"
