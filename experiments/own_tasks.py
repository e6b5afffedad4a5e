"""Two kinds of real problems, each with a GA trained for it, against methods that know nothing of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jaxtyping import Float
from rich.console import Console
from rich.progress import track
from rich.table import Table

from experiments.families.antennas import arrays
from experiments.families.pharmacokinetics import patients
from experiments.form import Experiment, Outcome, described
from lga.bench.own_tasks import (
    OUTCOME,
    OWN_TASKS,
    Trained,
    compared_with,
    in_words,
    minimize_from,
    outcome_table,
    train,
)
from lga.core.variables import HALF_SIDE, START_DEVIATION, Variables
from lga.meta.config import MetaConfig
from lga.meta.run_directory import CONFIG
from lga.optimize.minimize import minimize
from lga.tasks.family import Family

CASES: dict[str, tuple[Family, int]] = {"pharmacokinetics": (patients, 100), "antennas": (arrays, 200)}
"""A family and the evaluations that a search may take."""
SEED = 40_013
GENERAL = ("lga-2", "pycma")
"""As people run them who know nothing but the bounds."""

Objective = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class OwnTasksSettings:
    training: MetaConfig = OWN_TASKS
    num_tests: int = 64
    num_searched: int = 40
    """Tasks that all methods search through their own interfaces."""
    cases: tuple[str, ...] = tuple(CASES)
    runs: Path = Path("runs/own_tasks")
    """Where training is kept."""


def run(settings: OwnTasksSettings, out: Path, console: Console) -> Outcome:
    report: dict[str, Any] = {"config": described(settings), "cases": {}}
    for name in settings.cases:
        family, budget = CASES[name]
        trained = trained_for(family, budget, settings.runs / name, settings)
        console.print(outcome_table(trained.report))
        curves = searched(family, trained, budget, settings.num_searched, console)
        own = curves.pop("trained")
        rows = [compared_with(method, own, 1, theirs, 1, None) for method, theirs in curves.items()]
        report["cases"][name] = {
            "budget": budget,
            "num_dims": family.variables.num_dims if family.variables is not None else None,
            "num_searched": settings.num_searched,
            "options": trained.options,
            "held_out": trained.report,
            "rows": rows,
            "fewer_than_best_general": least_gain(rows),
        }
    return Outcome(report, summary_table(report))


def trained_for(family: Family, budget: int, directory: Path, settings: OwnTasksSettings) -> Trained:
    if (directory / OUTCOME).exists():
        return Trained.load(directory)
    return train(
        tasks=family,
        budget=budget,
        directory=directory,
        settings=settings.training,
        num_tests=settings.num_tests,
        resume=(directory / CONFIG).exists(),
    )


def least_gain(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Over the general method that comes closest."""
    general = [row for row in rows if row["method"] in GENERAL]
    return min(general, key=lambda row: row["log2_times_fewer_evaluations"]["mean"])


def searched(
    family: Family, trained: Trained, budget: int, num_tasks: int, console: Console
) -> dict[str, Float[np.ndarray, "tasks t"]]:
    """The best so far after each evaluation, by method."""
    curves: dict[str, list[np.ndarray]] = {}
    for number, objective in track(list(objectives(family, num_tasks)), "tasks", console=console):
        for method, search in searches(trained, budget).items():
            seen = Seen(objective)
            search(seen, number)
            curves.setdefault(method, []).append(seen.best_so_far(budget))
    return {method: np.stack(found) for method, found in curves.items()}


class Seen:
    """An objective that remembers its values."""

    def __init__(self, objective: Objective):
        self.objective, self.values = objective, []

    def __call__(self, x: np.ndarray) -> np.ndarray:
        values = self.objective(x)
        self.values.extend(values.tolist())
        return values

    def best_so_far(self, budget: int) -> Float[np.ndarray, " t"]:
        values = np.where(np.isfinite(self.values), self.values, np.inf)[:budget]
        return np.minimum.accumulate(np.pad(values, (0, budget - len(values)), constant_values=np.inf))


def objectives(family: Family, num_tasks: int) -> Iterator[tuple[int, Objective]]:
    """Values [n] of points [n, d] in the units of the family, on tasks that nothing was chosen by."""
    variables = family.variables
    assert variables is not None
    observe = jax.jit(family.observe)

    def on_task(task: Any, key: Any, x: np.ndarray) -> np.ndarray:
        centre, matrix = variables.frame
        coordinates = (variables.inner(np.atleast_2d(x)) - centre) / np.diag(matrix)
        return np.asarray(observe(key, task, coordinates.astype(np.float32))[0], float)

    for number in range(num_tasks):
        key_task, key_noise = jax.random.split(jax.random.key(SEED + number))
        task = family.draw(key_task, (variables.num_dims, variables.num_dims))
        yield number, partial(on_task, task, key_noise)


def searches(trained: Trained, budget: int) -> dict[str, Callable[[Objective, int], Any]]:
    """Our own and pycma, from the bounds alone and from the start that training has found."""
    found = trained.variables
    assert found is not None
    anywhere = found._replace(x0=None, spread=None, first=None)
    space = {"bounds": np.stack([found.low, found.high], axis=1), "log_scale": found.log, "integrality": found.integer}
    limits: dict[str, Any] = {"max_evaluations": budget, "vectorized": True}
    return {
        "trained": lambda objective, seed: trained.minimize(objective, vectorized=True, seed=seed),
        "lga-2": lambda objective, seed: minimize(objective, **space, **limits, seed=seed),
        "pycma": lambda objective, seed: by_pycma(objective, anywhere, budget, seed),
        "lga-2, learned start": lambda objective, seed: minimize_from(found, objective, **limits, seed=seed),
        "pycma, learned start": lambda objective, seed: by_pycma(objective, found, budget, seed),
    }


def by_pycma(objective: Objective, variables: Variables, budget: int, seed: int) -> None:
    """From the middle of the box with three tenths of its side, within bounds; or from the start and its deviation: the
    best of its points, if it has some, which are evaluated first.

    Variables that span orders of magnitude are log-scaled for it, too.
    """
    import cma

    options: dict[str, Any] = {"maxfevals": budget, "seed": seed + 1, "verbose": -9}
    x0, sigma0 = np.zeros(variables.num_dims), START_DEVIATION
    if variables.x0 is None:
        sigma0, options["bounds"] = 0.6 * HALF_SIDE, [-HALF_SIDE, HALF_SIDE]
    evaluations = 0
    if variables.first is not None:
        x0 = variables.encode(variables.first)[np.argmin(objective(variables.first))]
        evaluations = len(variables.first)
    strategy = cma.CMAEvolutionStrategy(x0, sigma0, options)
    while evaluations < budget:
        points = strategy.ask()
        values = objective(variables.decode(np.stack(points)))
        strategy.tell(points, np.where(np.isfinite(values), values, 1e30).tolist())
        evaluations += len(points)


def summary_table(report: dict[str, Any]) -> Table:
    table = Table("case", "D", "evaluations", "against", "times fewer evaluations, mean (95 %)", "lower at the end")
    for name, case in report["cases"].items():
        for row in case["rows"]:
            table.add_row(name, str(case["num_dims"]), str(case["budget"]), row["method"], *in_words(row))
    return table


SMOKE = OwnTasksSettings(
    replace(OWN_TASKS, meta_generations=2, meta_population=4, num_tasks=2, validate_every=1),
    num_tests=4,
    num_searched=2,
    cases=("antennas",),
    runs=Path("runs/own_tasks-smoke"),
)
SMALL = OwnTasksSettings(
    replace(OWN_TASKS, meta_generations=40, meta_population=24, num_tasks=32),
    num_searched=32,
    runs=Path("runs/own_tasks-small"),
)
PRESETS = {"smoke": SMOKE, "small": SMALL, "paper": OwnTasksSettings()}
EXPERIMENT = Experiment(shows=str(__doc__), presets=PRESETS, run=run)
