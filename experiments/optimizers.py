"""`lga.minimize` beside SciPy's differential evolution, pycma and nevergrad on BBOB, each as a user would call it.

It may be interrupted at any time and started again: searches that the folder or its report has are not run again,
unless the weights or the version of the other package have changed. The functions that the weights were trained on and
the others are told apart.
"""

import contextlib
import json
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from experiments.form import Experiment, Outcome
from lga.bench import cells
from lga.bench.statistics import interval_text, mean_interval
from lga.core.tree_io import Leaves
from lga.optimize.minimize import minimize
from lga.tasks import bbob, registry
from lga.weights import resolve

LOW, HIGH = -5.0, 5.0
BUDGETS = (100, 1000)
"""Evaluations per dimension."""
REPORT = "optimizers.json"


@dataclass(frozen=True)
class OptimizersSettings:
    dims: tuple[int, ...] = (5, 10, 20, 40)
    instances: tuple[int, ...] = tuple(range(16, 26))
    """COCO instances that neither training, validation nor the BBOB report uses. Each search has its own seed."""
    large_dims: int = 40
    """From as many dimensions on searches are long, and there are fewer of them."""
    large_instances: tuple[int, ...] = (16, 17)
    nevergrad_dims: tuple[int, ...] = (5, 10, 20)
    nevergrad_instances: tuple[tuple[int, ...], ...] = ((16, 17), (16,))
    """For each budget. nevergrad itself takes about ten milliseconds per evaluation."""
    nevergrad_evaluations: int = 10_000
    """Longer searches are left out."""
    functions: tuple[int, ...] = tuple(range(1, 25))
    workers: int = 1
    """Processes that search at the same time; what they find does not depend on their number."""
    scheduler: str | None = None
    """Address of a Dask scheduler, in place of own processes."""


class BudgetUsedError(Exception):
    pass


class Counted:
    """A BBOB function that notes its best gap at each budget and ends the search at the last."""

    def __init__(self, function: int, instance: int, num_dims: int, budgets: tuple[int, ...]):
        import ioh

        problem: Any = ioh.get_problem(function, instance=instance, dimension=num_dims)
        self.problem, self.optimum = problem, problem.optimum.y
        self.marks = [budget * num_dims for budget in budgets]
        self.calls, self.best = 0, math.inf
        self.gaps: list[float] = []

    def __call__(self, x: Any) -> float:
        if len(self.gaps) == len(self.marks):
            raise BudgetUsedError
        gap = float(self.problem(np.asarray(x, float))) - self.optimum
        self.calls += 1
        self.best = min(self.best, gap)
        if self.calls == self.marks[len(self.gaps)]:
            self.gaps.append(self.best)
        return gap


def with_lga(objective: Counted, num_dims: int, seed: int) -> None:
    minimize(objective, [(LOW, HIGH)] * num_dims, seed=seed, max_evaluations=objective.marks[-1])


def with_scipy(objective: Counted, num_dims: int, seed: int) -> None:
    """Called again, with another seed, for as long as evaluations are left: it stops when it has converged."""
    from scipy.optimize import differential_evolution

    for restart in range(10**6):
        differential_evolution(objective, [(LOW, HIGH)] * num_dims, rng=np.random.default_rng([seed, restart]))


def with_pycma(objective: Counted, num_dims: int, seed: int, **more: Any) -> None:
    """BIPOP restarts, from uniform points, with a deviation of a fifth of the box."""
    import cma

    generator = np.random.default_rng(seed)
    options = {"bounds": [LOW, HIGH], "verbose": -9, "seed": seed + 1, "maxfevals": objective.marks[-1]}

    def start() -> np.ndarray:
        return generator.uniform(LOW, HIGH, num_dims)

    while True:
        cma.fmin2(objective, start, 2.0, options, restarts=9, bipop=True, **more)


def with_nevergrad(objective: Counted, num_dims: int, seed: int) -> None:
    """NGOpt, which chooses an algorithm by the number of variables and the budget."""
    import nevergrad
    from nevergrad.optimization import metamodel

    # nevergrad 1.0 turns an array of one element into a float, which NumPy no longer does by itself.
    metamodel.float = lambda value: np.asarray(value, float).item()  # pyright: ignore[reportAttributeAccessIssue]
    space = nevergrad.p.Array(shape=(num_dims,), lower=LOW, upper=HIGH)
    space.random_state.seed(seed)
    optimizer = nevergrad.optimizers.NGOpt(parametrization=space, budget=objective.marks[-1])
    while True:
        candidate = optimizer.ask()
        optimizer.tell(candidate, objective(candidate.value))


OURS, NEVERGRAD = "lga", "nevergrad NGOpt"
METHODS: dict[str, Callable[[Counted, int, int], None]] = {
    OURS: with_lga,
    "SciPy differential_evolution": with_scipy,
    "pycma": with_pycma,
    NEVERGRAD: with_nevergrad,
}
PACKAGES = {"SciPy differential_evolution": "scipy", "pycma": "cma", NEVERGRAD: "nevergrad"}


class Search(NamedTuple):
    """One search."""

    method: str
    function: int
    instance: int
    num_dims: int
    budgets: tuple[int, ...]

    @property
    def name(self) -> str:
        budgets = "+".join(map(str, self.budgets))
        return f"{self.method}, f{self.function}, instance {self.instance}, {self.num_dims}-D, {budgets}"


def gaps_of(search: Search, checkpoint: Path | None = None) -> Leaves:
    """The gaps at the budgets."""
    objective = Counted(search.function, search.instance, search.num_dims, search.budgets)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(BudgetUsedError):
            METHODS[search.method](objective, search.num_dims, 1000 * search.function + search.instance)
    return {"gaps": np.asarray(objective.gaps)}


def cell_of(search: Search) -> cells.Cell:
    return cells.Cell(
        search.name, search._asdict() | {"identity": identities()[search.method]}, partial(gaps_of, search)
    )


def searches(settings: OptimizersSettings) -> Iterator[Search]:
    """All searches, the quick methods first."""
    for method in METHODS:
        for num_dims in settings.dims:
            for budgets, instances in plan(settings, method, num_dims):
                for function in settings.functions:
                    for instance in instances:
                        yield Search(method, function, instance, num_dims, budgets)


def plan(settings: OptimizersSettings, method: str, num_dims: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Budgets of one search, and the instances that are searched with them."""
    if method != NEVERGRAD:
        is_large = num_dims >= settings.large_dims
        return [(BUDGETS, settings.large_instances if is_large else settings.instances)]
    # It decides by its budget, so each budget is a search of its own.
    if num_dims not in settings.nevergrad_dims:
        return []
    return [
        ((budget,), instances)
        for budget, instances in zip(BUDGETS, settings.nevergrad_instances, strict=True)
        if budget * num_dims <= settings.nevergrad_evaluations
    ]


def identities() -> dict[str, str]:
    """What the outcome of each method depends on."""
    return {OURS: weights_digest()} | {method: version(package) for method, package in PACKAGES.items()}


@cache
def weights_digest() -> str:
    return resolve().digest


def run(settings: OptimizersSettings, out: Path, console: Console) -> Outcome:
    known, planned = known_runs(out / REPORT, identities()), list(searches(settings))
    runs = all_runs(planned, known, cell_of, log_gaps, out / "cells", settings.workers, console, settings.scheduler)
    report = report_of(settings, runs)
    table = Table(
        "functions", "D", "evaluations", "method", "mean log10 gap", "lga minus method (95 %, over functions)"
    )
    for row in report["rows"]:
        size = (str(row["num_dims"]), f"{row['budget'] * row['num_dims']:,}")
        difference = "" if row["method"] == OURS else interval_text(row["ours_minus_theirs"], 2, signed=True)
        table.add_row(row["split"], *size, row["method"], f"{row['mean_log10_gap']:.2f}", difference)
    return Outcome(report, table)


def all_runs(
    planned: list[Any],
    known: dict[str, Any],
    cell_of: Callable[[Any], cells.Cell],
    in_short: Callable[[Leaves], Any],
    folder: Path,
    workers: int,
    console: Console,
    scheduler: str | None = None,
) -> dict[str, Any]:
    """What a report keeps of every planned search, by its name."""
    missing = [search for search in planned if search.name not in known]
    found = cells.outcomes([cell_of(search) for search in missing], folder, workers, scheduler)
    tracked = track(found, description="searches", total=len(missing), console=console)
    new = {search.name: in_short(leaves) for search, leaves in zip(missing, tracked, strict=True)}
    return {search.name: (known | new)[search.name] for search in planned}


def log_gaps(leaves: Leaves) -> list[float]:
    """At the budgets."""
    return bbob.log10_gap(leaves["gaps"]).tolist()


def known_runs(path: Path, now: dict[str, str]) -> dict[str, Any]:
    """What an earlier report has, of methods whose identity is still the same."""
    if not path.exists():
        return {}
    report = json.loads(path.read_text())
    unchanged = {method for method, identity in now.items() if report["identities"].get(method) == identity}
    return {name: gaps for name, gaps in report["runs"].items() if name.split(",")[0] in unchanged}


def described(settings: Any) -> dict[str, Any]:
    """What decides the outcome."""
    return {name: value for name, value in asdict(settings).items() if name not in ("workers", "scheduler")}


def report_of(settings: OptimizersSettings, runs: dict[str, list[float]]) -> dict[str, Any]:
    gaps = {
        (search.method, search.function, search.instance, search.num_dims, budget): gap
        for search in searches(settings)
        for budget, gap in zip(search.budgets, runs[search.name], strict=True)
    }
    return {
        "config": described(settings),
        "identities": identities(),
        "rows": list(summaries(settings, gaps)),
        "runs": runs,
    }


def summaries(settings: OptimizersSettings, gaps: dict[tuple, float]) -> Iterator[dict[str, Any]]:
    """One row for each split, number of dimensions, budget and method."""
    for split in ("hold-out", "train"):
        functions = [function for function in settings.functions if split_of(function) == split]
        for num_dims in settings.dims:
            for budget in BUDGETS:
                for method in METHODS:
                    row = compared(gaps, method, functions, num_dims, budget)
                    if row is not None:
                        yield {"split": split, "num_dims": num_dims, "budget": budget, "method": method} | row


def split_of(function: int) -> str:
    return registry.row(str(function)).split


def compared(gaps: dict[tuple, float], method: str, functions: list[int], num_dims: int, budget: int):
    """Gaps of a method, and ours minus theirs over the searches that both have; None if there are none yet."""
    pairs = [
        [
            (gaps[key], gaps[OURS, *key[1:]])
            for key in gaps
            if key[0] == method and key[1] == function and key[3:] == (num_dims, budget) and (OURS, *key[1:]) in gaps
        ]
        for function in functions
    ]
    return compared_pairs(pairs)


def compared_pairs(pairs: list[list[tuple[float, float]]]) -> dict[str, Any] | None:
    """The pairs of their and our log gap on each function, in short."""
    if not pairs or not all(pairs):
        return None
    theirs, ours = (np.array([np.mean([pair[side] for pair in some]) for some in pairs]) for side in (0, 1))
    return {
        "num_functions": len(pairs),
        "num_searches": sum(map(len, pairs)),
        "mean_log10_gap": float(theirs.mean()),
        "median_log10_gap": float(np.median([pair[0] for some in pairs for pair in some])),
        "ours_minus_theirs": mean_interval(ours - theirs)._asdict(),
        "functions_won_by_ours": int(np.sum(ours < theirs)),
    }


EXPERIMENT = Experiment(
    "lga.minimize beside SciPy's differential evolution, pycma and nevergrad on BBOB",
    {
        "smoke": OptimizersSettings((2,), (16,), nevergrad_dims=(2,), nevergrad_evaluations=200, functions=(1, 3)),
        "small": OptimizersSettings((5,), (16,), nevergrad_dims=(5,), nevergrad_evaluations=500),
        "paper": OptimizersSettings(),
    },
    run,
)
