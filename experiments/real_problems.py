"""`lga.minimize` beside other optimisers on problems that people bring: fits, designs, schedules, simulators.

All have the same evaluations. It may be interrupted at any time and started again: searches that the folder or its
report has are not run again, unless the weights or the version of the other package have changed. Seeds come first in
the order of work, so that a run that is ended early has all methods and problems with fewer seeds.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import rankdata

from experiments.form import Experiment, Outcome
from experiments.optimizers import all_runs, described, known_runs
from experiments.problems.catalogue import CHOSEN_ON, PROBLEMS
from experiments.problems.methods import METHODS, OURS, searched
from lga.bench import cells
from lga.bench.statistics import interval_text, mean_interval
from lga.core.tree_io import Leaves

REPORT = "real_problems.json"


@dataclass(frozen=True)
class RealProblemsSettings:
    problems: tuple[str, ...] = tuple(PROBLEMS)
    methods: tuple[str, ...] = tuple(METHODS)
    num_seeds: int = 10
    workers: int = 1
    """Processes that search at the same time; what they find does not depend on their number."""


class Search(NamedTuple):
    """One search."""

    method: str
    problem: str
    seed: int

    @property
    def name(self) -> str:
        return f"{self.method}, {self.problem}, seed {self.seed}"


def searches(settings: RealProblemsSettings) -> Iterator[Search]:
    """All seeds of the quick methods come first; nevergrad's own thinking takes longer than all of their searches."""
    slow = [method for method in settings.methods if METHODS[method].is_slow]
    quick = [method for method in settings.methods if method not in slow]
    for methods in (quick, slow):
        for seed in range(settings.num_seeds):
            for method in methods:
                for problem in settings.problems:
                    if takes_part(method, problem, seed):
                        yield Search(method, problem, seed)


def takes_part(method: str, problem: str, seed: int) -> bool:
    own = METHODS[method]
    return seed < own.most_seeds and PROBLEMS[problem].evaluations <= own.most_evaluations


def value_of(search: Search, checkpoint: Path | None = None) -> Leaves:
    """The true value of the recommended point (infinite if nothing feasible was found), and the time of all."""
    begin = time.process_time()
    counted = searched(search.method, PROBLEMS[search.problem], search.seed)
    return {"value": np.asarray(counted.true_value()), "seconds": np.asarray(time.process_time() - begin)}


def in_short(leaves: Leaves) -> list[float]:
    return [float(leaves["value"]), float(leaves["seconds"])]


def identities(settings: RealProblemsSettings) -> dict[str, str]:
    return {method: METHODS[method].identity() for method in settings.methods}


def cell_of(search: Search, own: dict[str, str]) -> cells.Cell:
    problem = PROBLEMS[search.problem]
    key = search._asdict() | {"identity": own[search.method], "evaluations": problem.evaluations}
    return cells.Cell(search.name, key, partial(value_of, search))


def run(settings: RealProblemsSettings, out: Path, console: Console) -> Outcome:
    own = identities(settings)
    known, planned = known_runs(out / REPORT, own), list(searches(settings))
    runs = all_runs(planned, known, partial(cell_of, own=own), in_short, out / "cells", settings.workers, console)
    report = report_of(settings, own, runs)
    return Outcome(report, summary(report))


def report_of(settings: RealProblemsSettings, own: dict[str, str], runs: dict[str, list[float]]) -> dict[str, Any]:
    gaps = {search: gap_of(search, runs[search.name][0]) for search in searches(settings)}
    ranks = ranks_of(settings, gaps)
    return {
        "config": described(settings),
        "identities": own,
        "methods": [method_row(settings, method, gaps, ranks, runs) for method in settings.methods],
        "problems": [problem_row(settings, problem, gaps, ranks) for problem in settings.problems],
        "runs": runs,
    }


def gap_of(search: Search, value: float) -> float:
    """To the least value that is known; all gaps within the tolerance are alike."""
    problem = PROBLEMS[search.problem]
    return max(value - problem.best, problem.tolerance)


def is_solved(search: Search, gap: float) -> bool:
    return gap <= PROBLEMS[search.problem].tolerance


def ranks_of(settings: RealProblemsSettings, gaps: dict[Search, float]) -> dict[Search, float]:
    """Among the methods that took part, with the same seed; equal ones share a rank, and 1 is the best."""
    ranks: dict[Search, float] = {}
    for problem in settings.problems:
        for seed in range(settings.num_seeds):
            taking = [search for search in gaps if search.problem == problem and search.seed == seed]
            ranks |= dict(zip(taking, rankdata([gaps[search] for search in taking]).tolist(), strict=True))
    return ranks


def method_row(
    settings: RealProblemsSettings,
    method: str,
    gaps: dict[Search, float],
    ranks: dict[Search, float],
    runs: dict[str, list[float]],
) -> dict[str, Any]:
    """Means over the problems of the means over their seeds; on all, and on those that nothing was chosen by."""
    own = [search for search in gaps if search.method == method]
    by_problem = {problem: [search for search in own if search.problem == problem] for problem in settings.problems}
    by_problem = {problem: some for problem, some in by_problem.items() if some}
    rank = {problem: float(np.mean([ranks[one] for one in some])) for problem, some in by_problem.items()}
    solved = {
        problem: float(np.mean([is_solved(one, gaps[one]) for one in some])) for problem, some in by_problem.items()
    }
    held_out = [problem for problem in rank if problem not in CHOSEN_ON]
    medians = {problem: median_gaps(settings, problem, gaps) for problem in rank}
    return {
        "method": method,
        "num_problems": len(rank),
        "num_searches": len(own),
        "mean_rank": mean_interval(np.array(list(rank.values())))._asdict() if len(rank) > 1 else None,
        "mean_rank_held_out": float(np.mean([rank[problem] for problem in held_out])) if held_out else None,
        "solved": float(np.mean(list(solved.values()))) if solved else None,
        "solved_held_out": float(np.mean([solved[problem] for problem in held_out])) if held_out else None,
        "worst_on": [problem for problem, found in medians.items() if is_worst(method, found)],
        "median_seconds": float(np.median([runs[one.name][1] for one in own])) if own else None,
    }


def median_gaps(settings: RealProblemsSettings, problem: str, gaps: dict[Search, float]) -> dict[str, float]:
    found: dict[str, float] = {}
    for method in settings.methods:
        own = [gap for search, gap in gaps.items() if (search.method, search.problem) == (method, problem)]
        if own:
            found[method] = float(np.median(own))
    return found


def is_worst(method: str, medians: dict[str, float]) -> bool:
    """Alone at the end."""
    others = [gap for other, gap in medians.items() if other != method]
    return bool(others) and medians[method] > max(others)


def problem_row(
    settings: RealProblemsSettings, problem: str, gaps: dict[Search, float], ranks: dict[Search, float]
) -> dict[str, Any]:
    one = PROBLEMS[problem]

    def share(method: str) -> float:
        own = [search for search in gaps if (search.method, search.problem) == (method, problem)]
        return float(np.mean([is_solved(search, gaps[search]) for search in own]))

    medians = median_gaps(settings, problem, gaps)
    return {
        "problem": problem,
        "about": one.about,
        "num_dims": one.num_dims,
        "evaluations": one.evaluations,
        "tolerance": one.tolerance,
        "chosen_on": problem in CHOSEN_ON,
        "median_gap": medians,
        "solved": {method: share(method) for method in medians},
    }


def summary(report: dict[str, Any]) -> Table:
    table = Table("method", "problems", "searches", "mean rank (95 %, over problems)", "solved", "seconds", "worst on")
    for row in report["methods"]:
        rank = "" if row["mean_rank"] is None else interval_text(row["mean_rank"], 2)
        worst = ", ".join(row["worst_on"])
        seconds, solved = f"{row['median_seconds']:.2f}", f"{100 * row['solved']:.0f} %"
        table.add_row(row["method"], str(row["num_problems"]), str(row["num_searches"]), rank, solved, seconds, worst)
    return table


EXPERIMENT = Experiment(
    "lga.minimize beside other optimisers on fits, designs, schedules and simulators",
    {
        "smoke": RealProblemsSettings(("boxbod", "three_bars"), (OURS, "pycma"), 1),
        "small": RealProblemsSettings(num_seeds=3),
        "paper": RealProblemsSettings(),
    },
    run,
)
