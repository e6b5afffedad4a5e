"""Optima on a bound and close to it: a sphere whose optimum lies at a fraction of the box from its corner."""

import contextlib
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from experiments.form import Experiment, Outcome, described
from experiments.optimizers import BudgetUsedError
from lga.bench import cells
from lga.core.tree_io import Leaves
from lga.optimize.minimize import minimize

SIDE = 1000.0
MIXED = "mixed"
"""Every variable has another fraction."""


@dataclass(frozen=True)
class NearBoundsSettings:
    fractions: tuple[float, ...] = (0.0, 1e-4, 1e-3, 0.003, 0.01, 0.03, 0.1, 0.5)
    dims: tuple[int, ...] = (2, 10)
    evaluations: tuple[int, ...] = (2000, 4000)
    """For each number of dimensions."""
    num_seeds: int = 5


class Counted:
    """The distance to the optimum, squared: its least value, and an end when the evaluations are used up."""

    def __init__(self, optimum: np.ndarray, evaluations: int):
        self.optimum, self.left, self.least = optimum, evaluations, math.inf

    def __call__(self, x: Any) -> float:
        if self.left == 0:
            raise BudgetUsedError
        self.left -= 1
        gap = float(np.sum((np.asarray(x, float) - self.optimum) ** 2))
        self.least = min(self.least, gap)
        return gap


def with_lga(fun: Counted, num_dims: int, seed: int) -> None:
    minimize(fun, [(0.0, SIDE)] * num_dims, max_evaluations=fun.left, seed=seed)


def with_scipy(fun: Counted, num_dims: int, seed: int) -> None:
    from scipy.optimize import differential_evolution

    for restart in range(10**6):
        generator: Any = np.random.default_rng([seed, restart])
        differential_evolution(fun, [(0.0, SIDE)] * num_dims, rng=generator)


def with_pycma(fun: Counted, num_dims: int, seed: int) -> None:
    import cma

    start = np.random.default_rng(seed).uniform(0.0, SIDE, num_dims)
    options = {"bounds": [0.0, SIDE], "verbose": -9, "seed": seed + 1, "maxfevals": fun.left}
    cma.fmin2(fun, start, 0.2 * SIDE, options)


METHODS: dict[str, Callable[[Counted, int, int], None]] = {
    "lga": with_lga,
    "SciPy differential_evolution": with_scipy,
    "pycma": with_pycma,
}


class Search(NamedTuple):
    method: str
    fraction: float | str
    num_dims: int
    evaluations: int
    seed: int


def optimum_of(fraction: float | str, fractions: tuple[float, ...], num_dims: int) -> np.ndarray:
    places = np.resize(fractions, num_dims) if fraction == MIXED else np.full(num_dims, fraction)
    # Every other variable has its optimum near the upper bound.
    return SIDE * np.where(np.arange(num_dims) % 2 == 1, 1.0 - places, places)


def least_of(search: Search, fractions: tuple[float, ...], checkpoint: Path | None = None) -> Leaves:
    fun = Counted(optimum_of(search.fraction, fractions, search.num_dims), search.evaluations)
    with warnings.catch_warnings(), contextlib.suppress(BudgetUsedError):
        warnings.simplefilter("ignore")
        METHODS[search.method](fun, search.num_dims, search.seed)
    return {"least": np.asarray(fun.least)}


def run(settings: NearBoundsSettings, out: Path, console: Console) -> Outcome:
    sizes = zip(settings.dims, settings.evaluations, strict=True)
    plan = [(*size, fraction) for size in sizes for fraction in (*settings.fractions, MIXED)]
    rows: list[dict[str, Any]] = []
    for num_dims, evaluations, fraction in track(plan, description="places", console=console):
        row: dict[str, Any] = {"num_dims": num_dims, "evaluations": evaluations, "fraction": fraction}
        for method in METHODS:
            gaps = [
                float(
                    cells.outcome(
                        cell_of(Search(method, fraction, num_dims, evaluations, seed), settings), out / "cells"
                    )["least"]
                )
                for seed in range(settings.num_seeds)
            ]
            row[method] = {"median": float(np.median(gaps)), "worst": max(gaps)}
        rows.append(row)
    table = Table("D", "fraction", *METHODS)
    for row in rows:
        table.add_row(
            str(row["num_dims"]), str(row["fraction"]), *(f"{row[method]['worst']:.1e}" for method in METHODS)
        )
    return Outcome({"config": described(settings), "rows": rows}, table)


def cell_of(search: Search, settings: NearBoundsSettings) -> cells.Cell:
    label = ", ".join(map(str, search))
    key = search._asdict() | {"fractions": settings.fractions}
    return cells.Cell(label, key, partial(least_of, search, settings.fractions))


EXPERIMENT = Experiment(
    "optima on a bound and close to it: lga, differential evolution and pycma on a sphere",
    {
        "smoke": NearBoundsSettings((0.0, 0.01), (2,), (100,), num_seeds=1),
        "small": NearBoundsSettings(dims=(2,), evaluations=(2000,), num_seeds=2),
        "paper": NearBoundsSettings(),
    },
    run,
)
