"""`minimize`: a function in, the best point that was found out."""

import contextlib
import math
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

from scipy.optimize import OptimizeResult

from lga.core.checks import require
from lga.core.files import Lock, sweep
from lga.operators.theta import Theta
from lga.optimize.constraints import Constrained
from lga.optimize.evaluation import make_evaluator
from lga.optimize.identity import content_of, name_of
from lga.optimize.loop import Loop
from lga.optimize.options import SearchOptions, make_search
from lga.optimize.programs import DEFAULT_ALGORITHM
from lga.optimize.result import Result
from lga.optimize.state import read
from lga.optimize.variables import ByName, Names, WithArgs, parse


def minimize(
    fun: Callable[..., Any],
    bounds: Any = None,
    *,
    args: tuple[Any, ...] = (),
    x0: Any = None,
    sigma0: Any = None,
    popsize: int | None = None,
    max_evaluations: int | None = None,
    max_seconds: float | None = None,
    target: float | None = None,
    patience: int | None = None,
    direction: str = "minimize",
    seed: Any = None,
    rng: Any = None,
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
    algorithm: Any = DEFAULT_ALGORITHM,
    weights: str | Path | Theta | None = None,
    restarts: int | None = None,
    x_init: Any = None,
    y_init: Any = None,
    keep_evaluations: bool = True,
    constraints: Any = None,
    noise: str | None = None,
    polish: bool = False,
    checkpoint_objective: str = "check",
) -> Result:
    """Searches for the least value of a function of several variables, without derivatives.

    Args:
        fun: Takes a float64 array [d], returns a number. Whatever else it does (exceptions, NaN, infinities, other
            types, time-outs, death of its process) is a failed evaluation: counted, logged and survived.
        bounds: A pair (low, high) for each variable, or SciPy's `Bounds`. None or infinite ends are open. A dictionary
            names the variables: pairs, `Integer(low, high)`, `Log(low, high)`, or lists of things to choose from. Then
            the objective gets a dictionary, and the result's x is one.
        args: Further arguments of the objective: it is called with (x, *args).
        x0: A point to start from, or several [k, d], of which the first is the centre. Needed, with sigma0, for
            variables without two finite bounds.
        sigma0: Deviation of the first population around x0, for all variables or for each; in decades for log-scaled
            ones. Without it the first population is uniform in the box.
        popsize: Solutions per generation; if not given, what suits the weights: with `lga-2` 6 + 3.4 ln(d).
        max_evaluations: Budget, kept exactly. If none of max_evaluations, max_seconds, target and patience is given,
            1000 evaluations per variable.
        max_seconds: Budget of time.
        target: Stop when a value as good as this is found.
        patience: Stop after as many generations without improvement.
        direction: "minimize" or "maximize".
        seed: Equal seeds give equal results, whatever the number of workers. None draws one; the result tells it. A
            `numpy.random.Generator` draws it.
        rng: Another name for seed, as SciPy has it.
        integrality: Which variables are whole numbers.
        log_scale: Which variables are searched in their logarithm.
        vectorized: The function takes [n, d] and returns [n]; SciPy gives it the transpose. If such a call fails, all n
            count as failed, and each is tried once more, alone.
        jit: Compile an objective that is written in JAX; a generation is then one call.
        workers: Number of processes (-1: one for each processor), or a `concurrent.futures.Executor` (loky, Dask,
            mpi4py).
        timeout: Seconds that one evaluation may take; its process is then killed.
        on_error: What a failed evaluation leads to: "penalize" ranks it last, "retry" tries once more before that,
            "raise" ends the search with an `EvaluationError`.
        reevaluate: For noisy objectives: as many of the best solutions are evaluated again in each generation, and
            the mean of its values counts for a solution.
        callback: Called after each generation with the result so far; True stops the search.
        progress: Write a line about the progress to stderr.
        checkpoint: File to save to after each generation. A call with the same arguments continues from it, and ends
            with the same result as a call that was never interrupted. With larger limits a finished search goes on.
        algorithm: "lga", the name of any preset ("cma_es" is CMA-ES, with nothing learned), or an `Algorithm`, as
            `lga.cma_es(16)` is one, which keeps its population.
        weights: For learned algorithms: an installed name, a file, or weights.
        restarts: How often a search that stagnates may start anew; None means as often as the budget allows.
        x_init: Points [k, d] whose values are known already, in place of a first population. They cost no evaluation.
        y_init: Their values [k].
        keep_evaluations: Keep every evaluation, as `result.evaluations`: up to 32 MiB of them, here and in checkpoints.
        constraints: SciPy's `NonlinearConstraint` or `LinearConstraint`, a function that returns by how much each
            constraint is violated, or a list of these. What is feasible beats what is not, and of two infeasible points
            that with the smaller sum of violations is better. The objective is evaluated at feasible points alone.
        noise: "auto" evaluates two solutions twice to see whether values are noisy. If so, the last tenth of the
            evaluations chooses between the centre of the parents, the least of a quadratic fit around it and the best
            solution, and the value is a mean.
        polish: Give the last fifth of max_evaluations to a local method of SciPy's, from the best point: Nelder and
            Mead's, or L-BFGS-B for more than ten variables. For the last digits of a smooth function.
        checkpoint_objective: "check" refuses the checkpoint of an objective whose code was another; "ignore" goes on.

    Returns:
        x, fun, nfev, nit, success, status, message, population, population_values, history (one entry per generation),
        evaluations (x, value, failure, generation and seconds of each, and `to_csv(path)`), failures (counts by kind),
        failure_examples (the first of each kind), chosen (how x was chosen), restarts, seed, constr_violation,
        settings, seconds.
        success is False if nothing succeeded, if x is infeasible, or if evaluations or time ended the search.
        `result.report("run.html")` writes a page that shows all of it.

    Examples:
        >>> result = minimize(lambda x: (x[0] - 1) ** 2 + (x[1] + 2) ** 2, [(-5, 5), (-5, 5)], seed=0)
        >>> result.x.round(3).tolist()
        [1.0, -2.0]
    """
    own = ("fun", "args", "rng", "callback")
    given: dict[str, Any] = {name: value for name, value in locals().items() if name not in (*own, "own")}
    require(seed is None or rng is None, "seed and rng are two names of one thing: give one of them.")
    given["seed"] = rng if seed is None else seed
    return run_search(fun, SearchOptions(**given), callback, args)


def run_search(
    fun: Callable[..., Any], options: SearchOptions, callback: Callable | None = None, args: tuple[Any, ...] = ()
) -> Result:
    """`minimize` with its options in one piece."""
    begin = time.monotonic()
    require(callable(fun), f"fun is {fun!r}, but must be a function.")
    require(callback is None or callable(callback), f"callback is {callback!r}, but must be a function.")
    objective, options, names = understood(fun, options, args)
    if options.checkpoint is None:
        return search_on(objective, options, begin, callback, names)
    # The objective may change the working directory.
    checkpoint = Path(options.checkpoint).resolve()
    sentence = f"checkpoint is {str(checkpoint)!r}, but another search is at work with it."
    with contextlib.closing(Lock(checkpoint.with_name(f".{checkpoint.name[:200]}.lock"), sentence)):
        sweep(checkpoint.parent, checkpoint.name)
        return search_on(objective, replace(options, checkpoint=checkpoint), begin, callback, names)


def understood(
    fun: Callable[..., Any], options: SearchOptions, args: tuple[Any, ...]
) -> tuple[Callable[[Any], Any], SearchOptions, Names | None]:
    """An objective of numbers alone, and options that say so."""
    together = "jit" if options.jit else "vectorized" if options.vectorized else None
    if len(args) > 0:
        fun = WithArgs(fun, tuple(args))
    if options.constraints is not None:
        require(together is None, f"constraints are for single solutions, but {together} is True.")
        fun = Constrained(fun, options.constraints)
    options = replace(options, constraints=None)
    if not isinstance(options.bounds, Mapping):
        return fun, options, None
    require(together is None, f"bounds have names, so the objective takes a dictionary, but {together} is True.")
    require(
        options.integrality is None and options.log_scale is None,
        "bounds have names: say Integer(low, high) and Log(low, high) there, and not integrality and log_scale.",
    )
    names, numbers = parse(options.bounds)
    start = None if options.x0 is None else names.numbers(options.x0)
    return ByName(fun, names), replace(options, x0=start, **numbers), names


def search_on(
    fun: Callable[[Any], Any],
    options: SearchOptions,
    begin: float,
    callback: Callable | None,
    names: Names | None,
) -> Result:
    """From the beginning, or from the checkpoint if there is one."""
    saved = read(options.checkpoint) if options.checkpoint is not None and Path(options.checkpoint).exists() else None
    if saved is not None and options.seed is None:
        options = replace(options, seed=saved[1]["settings"]["seed"])
    search = make_search(options)
    seconds = search.options.max_seconds
    deadline = None if seconds is None or math.isinf(seconds) else begin + seconds
    loop = Loop(search, {"fun": name_of(fun), "content": content_of(fun)}, deadline, callback, names)
    if saved is not None:
        loop.resume(*saved)
    if loop.stop is None:
        with contextlib.closing(make_evaluator(fun, search)) as evaluator:
            loop.run(evaluator)
    return loop.result()
