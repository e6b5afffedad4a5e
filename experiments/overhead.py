"""What an optimiser itself takes per evaluation: a function that costs next to nothing, beside pycma and SciPy.

All take turns in one process on one processor, which other programs may disturb: time of the processor counts.
"""

import os
import statistics
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from experiments.form import Experiment, Outcome, described
from experiments.optimizers import BudgetUsedError
from lga.optimize.minimize import minimize

LOW, HIGH = -5.0, 5.0


@dataclass(frozen=True)
class OverheadSettings:
    dims: tuple[int, ...] = (10, 100)
    evaluations: tuple[int, ...] = (2000, 8000)
    """For each number of dimensions; less than it takes to converge, so that nobody starts anew."""
    rounds: int = 7
    """Turns of each method; the median counts."""


def with_lga(fun: Callable[[Any], float], num_dims: int, evaluations: int, seed: int) -> None:
    minimize(fun, [(LOW, HIGH)] * num_dims, max_evaluations=evaluations, seed=seed)


def with_pycma(fun: Callable[[Any], float], num_dims: int, evaluations: int, seed: int) -> None:
    import cma

    start = np.random.default_rng(seed).uniform(LOW, HIGH, num_dims)
    cma.fmin2(fun, start, 2.0, {"bounds": [LOW, HIGH], "verbose": -9, "seed": seed + 1, "maxfevals": evaluations})


def with_scipy(fun: Callable[[Any], float], num_dims: int, evaluations: int, seed: int) -> None:
    from scipy.optimize import differential_evolution

    generator: Any = np.random.default_rng(seed)
    differential_evolution(fun, [(LOW, HIGH)] * num_dims, polish=False, tol=0.0, rng=generator)


METHODS: dict[str, Callable[[Callable[[Any], float], int, int, int], None]] = {
    "lga": with_lga,
    "pycma": with_pycma,
    "SciPy differential_evolution": with_scipy,
}


class Bowl:
    """A sphere that ends the search when its evaluations are used up."""

    def __init__(self, evaluations: int):
        self.calls, self.evaluations = 0, evaluations

    def __call__(self, x: Any) -> float:
        if self.calls == self.evaluations:
            raise BudgetUsedError
        self.calls += 1
        return float(x @ x)


def microseconds_of(method: str, num_dims: int, evaluations: int, seed: int) -> float:
    """Per evaluation, of the processor."""
    bowl = Bowl(evaluations)
    begin = time.process_time()
    with warnings.catch_warnings(), suppress(BudgetUsedError):
        warnings.simplefilter("ignore")
        METHODS[method](bowl, num_dims, evaluations, seed)
    return 1e6 * (time.process_time() - begin) / bowl.calls


def run(settings: OverheadSettings, out: Path, console: Console) -> Outcome:
    # Libraries of linear algebra read this when they are loaded: in a new process.
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        rows = pool.submit(measured, settings).result()
    table = Table("D", "evaluations", *METHODS)
    for row in rows:
        numbers = (f"{row['microseconds'][method]:.0f}" for method in METHODS)
        table.add_row(str(row["num_dims"]), str(row["evaluations"]), *numbers)
    return Outcome({"config": described(settings), "rows": rows}, table)


def measured(settings: OverheadSettings) -> list[dict[str, Any]]:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
    rows: list[dict[str, Any]] = []
    for num_dims, evaluations in zip(settings.dims, settings.evaluations, strict=True):
        times: dict[str, list[float]] = {method: [] for method in METHODS}
        # The first turn compiles and imports, and does not count.
        for turn in range(settings.rounds + 1):
            for method, own in times.items():
                own.append(microseconds_of(method, num_dims, evaluations, turn))
        medians = {method: statistics.median(own[1:]) for method, own in times.items()}
        rows.append({"num_dims": num_dims, "evaluations": evaluations, "microseconds": medians})
    return rows


EXPERIMENT = Experiment(
    "what lga.minimize, pycma and SciPy's differential evolution themselves take per evaluation",
    {"smoke": OverheadSettings((2,), (100,), rounds=1), "paper": OverheadSettings()},
    run,
)
