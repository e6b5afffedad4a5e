"""The paper's neuroevolution comparison on one task: learning curves, a table and a results file."""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from lga.analysis import figures
from lga.analysis.plays import draw_network
from lga.bench.cells import outcome, outcomes
from lga.bench.methods import Method, methods_named, require_own_names
from lga.bench.network_runs import Curve, Run, Scale, compiled_task, elite_and_state, run_cell, silence, usual_judging
from lga.bench.statistics import interval_text, mean_interval
from lga.bench.tuning import tune
from lga.core.checks import require, require_positive_integer
from lga.core.files import write_report
from lga.core.tree_io import json_form
from lga.tasks.network_task import NeuroTask
from lga.tasks.registry import NEURO_TASKS
from lga.weights import EVOSAX_LGA

GENETIC = ("gaussian_ga", "mr15_ga", "samr_ga", "gesmr_ga")
# Without lga-2: lga-net is the same below 200 weights, and meant for more.
ALGORITHMS = (*GENETIC, "sep_cma_es", "open_es", EVOSAX_LGA, "lga-paper", "lga-1", "lga-net")
MEASURES = {"elite": "elite", "mean_parent": "mean parent"}
FIRST_TUNING_SEED = 1_000_000
"""Far from the seeds that are reported."""


def compare_on_task(
    task_name: str,
    algorithms: Sequence[str],
    scale: Scale,
    num_seeds: int,
    out: Path,
    console: Console,
    render: bool = False,
    workers: int = 1,
    earlier: Path | None = None,
) -> dict[str, Any]:
    """Runs whatever is missing, then writes TASK.json and TASK.png into `out`; and the best network at work.

    Algorithms that are not among these are taken from the report in the folder `earlier`, if there is one.
    """
    require_positive_integer("workers", workers)
    task = compiled_task(task_name, scale.task)
    methods = compared_methods(task_name, task, algorithms, scale)
    if task.note:
        console.print(task.note)
    expected = cost(task_name, task, methods, scale, num_seeds)
    console.print(expected.sentence(workers))
    curves = run_all(task_name, task, methods, scale, num_seeds, out / "cells", console, workers)
    report = summary(task_name, task, scale, curves, expected)
    if earlier is not None:
        report = joined(report, json.loads((earlier / f"{task_name}.json").read_text()))
    write_report(out / f"{task_name}.json", report)
    panels = {
        f"{task_name}: {task.score} of the {label} (band: 95 %, over seeds)": {
            row["algorithm"]: row["curves"][measure] for row in report["rows"]
        }
        for measure, label in MEASURES.items()
    }
    figures.learning_curves(panels, out / f"{task_name}.png")
    console.print(result_table(report))
    if render:
        console.print(draw_best(task_name, task, scale, curves, out))
    return report


def compared_methods(task_name: str, task: NeuroTask, algorithms: Sequence[str], scale: Scale) -> list[Method]:
    methods = [method.over(scale.elite_ratios, scale.sigmas) for method in methods_named(algorithms, task.num_weights)]
    require_own_names(methods)
    return [replace(method, best_shares=best_shares(task_name, method)) for method in methods]


def best_shares(task_name: str, method: Method) -> tuple[float | None, ...]:
    """Where there is a sweep, it tells whether the parents of a game are blended: elsewhere they are."""
    is_game = NEURO_TASKS[task_name].family == "minatar"
    blends = method.weights is not None and method.weights.theta.blend is not None
    return (None, 0.25) if is_game and blends and len(method.settings) > 1 else (None,)


class Cost(NamedTuple):
    """What a comparison takes, if nothing of it is there yet."""

    tuning_generations: int
    reported_generations: int
    num_children: int
    seconds_a_generation: float
    """Evaluation of networks with random weights, on as many cores as JAX takes."""

    @property
    def hours(self) -> float:
        return (self.tuning_generations + self.reported_generations) * self.seconds_a_generation / 3600.0

    @property
    def evaluations(self) -> dict[str, int]:
        return {
            "tuning": self.tuning_generations * self.num_children,
            "reported": self.reported_generations * self.num_children,
        }

    def sentence(self, workers: int) -> str:
        tuning, reported = self.evaluations.values()
        processes = "1 process" if workers == 1 else f"{workers} processes"
        return (
            f"{reported:,} networks to evaluate and {tuning:,} to tune by: about {self.hours / workers:.1f} hours with "
            f"{processes} (policies that play longer take longer), less what is there already"
        )


def cost(task_name: str, task: NeuroTask, methods: Sequence[Method], scale: Scale, num_seeds: int) -> Cost:
    """Counted, and timed by one generation."""
    require_positive_integer("seeds", num_seeds)
    plan = partial(run_of, task_name, task)
    key_weights, key_evaluate = jax.random.split(jax.random.key(0))
    genomes = scale.sigmas[0] * jax.random.normal(key_weights, (scale.num_children, task.num_weights))
    state = task.init()
    seconds = []
    for _ in range(2):  # The first one compiles.
        begin = time.perf_counter()
        jax.block_until_ready(task.evaluate(key_evaluate, state, genomes))
        seconds.append(time.perf_counter() - begin)
    return Cost(
        num_generations(tuning_runs(plan, scale, methods)),
        num_generations(reported_runs(plan, scale, map(any_setting, methods), num_seeds)),
        scale.num_children,
        seconds[-1],
    )


def draw_best(task_name: str, task: NeuroTask, scale: Scale, curves: dict[Method, list[Curve]], out: Path) -> str:
    """A picture of the network with the best last score of all runs; says where it is."""
    last = {(method, seed): curve.elite[-1] for method, own in curves.items() for seed, curve in enumerate(own)}
    (method, seed), score = max(last.items(), key=lambda pair: pair[1])
    leaves = outcome(run_cell(run_of(task_name, task, scale, method, seed)), out / "cells")
    found = elite_and_state(task, leaves)
    if found is None or task.show is None:
        return "no picture: the best run was made before networks were kept; delete its cell to run it again."
    genome, state = found
    shown = task.show(jax.random.key(seed), state, genome)
    title = f"{task_name}, {method.name}, {task.score} {score:.4g}"
    return f"{title}: {draw_network(shown, out / f'{task_name}_at_work', title)}"


def run_of(task_name: str, task: NeuroTask, scale: Scale, method: Method, seed: int) -> Run:
    size = method.size(scale.num_children, scale.num_generations, task.num_weights)
    return Run(task_name, scale.task, method, size, scale.test_every, seed, usual_judging(task_name, method))


def run_all(
    task_name: str,
    task: NeuroTask,
    methods: Sequence[Method],
    scale: Scale,
    num_seeds: int,
    cells: Path,
    console: Console,
    workers: int,
) -> dict[Method, list[Curve]]:
    """The curves of every tuned method, one for each seed: first all runs that tune, then all that are reported."""
    plan = partial(run_of, task_name, task)
    trials = tuning_runs(plan, scale, methods)
    columns = (MofNCompleteColumn(), BarColumn(bar_width=24), TimeElapsedColumn(), TextColumn("left"))
    with Progress(
        TextColumn("{task.description}, generation"), *columns, TimeRemainingColumn(), console=console
    ) as progress:
        total = num_generations(trials) + num_generations(
            reported_runs(plan, scale, map(any_setting, methods), num_seeds)
        )
        bar = progress.add_task(task_name, total=total)

        def curves_of(runs: Sequence[Run], begin: int) -> dict[Run, Curve]:
            """With one worker the bar moves with each generation, else with each run."""
            marks = list(accumulate((run.size.num_generations for run in runs), initial=begin))
            found = {}
            jobs = [
                run_cell(run, partial(shown, mark) if workers == 1 else silence)
                for run, mark in zip(runs, marks[:-1], strict=True)
            ]
            for run, mark, leaves in zip(runs, marks[1:], outcomes(jobs, cells, workers), strict=True):
                found[run] = Curve(*(leaves[name].tolist() for name in Curve._fields))
                name = f"{task_name}, {run.method.name}, seed {run.seed}"
                progress.update(bar, completed=mark, description=name)
                if not console.is_terminal:
                    console.print(f"{name}: {task.score} {found[run].elite[-1]:.3f}")
            return found

        def shown(begin: int, done: int) -> None:
            progress.update(bar, completed=begin + done)

        tried = curves_of(trials, 0)

        def loss(candidate: Method) -> float:
            return -float(np.mean([curve.elite[-1] for run, curve in tried.items() if run.method == candidate]))

        tuned = [tune(method, loss).method for method in methods]
        curves = curves_of(reported_runs(plan, scale, tuned, num_seeds), num_generations(trials))
    return {method: [curve for run, curve in curves.items() if run.method == method] for method in tuned}


Plan = Callable[[Scale, Method, int], Run]


def tuning_runs(plan: Plan, scale: Scale, methods: Sequence[Method]) -> list[Run]:
    """Of every setting of the methods that have more than one."""
    return [
        plan(scale.for_tuning, candidate, FIRST_TUNING_SEED + seed)
        for method in methods
        if len(method.candidates) > 1
        for candidate in method.candidates
        for seed in range(scale.tuning_seeds)
    ]


def reported_runs(plan: Plan, scale: Scale, methods: Iterable[Method], num_seeds: int) -> list[Run]:
    return [plan(scale, method, seed) for method in methods for seed in range(num_seeds)]


def any_setting(method: Method) -> Method:
    """Of a method that is yet to be tuned: runs take as long with all settings."""
    return method.candidates[0]


def num_generations(runs: Sequence[Run]) -> int:
    return sum(run.size.num_generations for run in runs)


def summary(
    task_name: str, task: NeuroTask, scale: Scale, curves: dict[Method, list[Curve]], cost: Cost
) -> dict[str, Any]:
    rows = [
        {
            "algorithm": method.name,
            "elite_ratio": method.elite_ratio,
            "sigma0": method.sigma,
            "best_share": method.best_share,
            "judging": asdict(usual_judging(task_name, method)),
            "weights": method.weights.digest if method.weights is not None else "",
            "final": {measure: mean_interval(scores_of(own, measure)[:, -1])._asdict() for measure in MEASURES},
            "per_seed": {measure: scores_of(own, measure)[:, -1].tolist() for measure in MEASURES},
            "curves": {measure: curve_summary(own, measure) for measure in MEASURES},
        }
        for method, own in curves.items()
    ]
    return {
        "task": task_name,
        "score": task.score,
        "note": task.note,
        "num_weights": task.num_weights,
        "num_seeds": len(next(iter(curves.values()))),
        "scale": json_form(asdict(scale)),
        "evaluations": cost.evaluations,
        "rows": rows,
    }


def joined(report: dict[str, Any], earlier: dict[str, Any]) -> dict[str, Any]:
    """With the rows of an earlier report of the same size, less those that were made anew."""
    for name in ("task", "scale", "num_seeds", "num_weights"):
        require(
            report[name] == earlier[name],
            f"{name} is {report[name]}, but was {earlier[name]} in the earlier report: they cannot be compared.",
        )
    anew = {row["algorithm"] for row in report["rows"]}
    kept = [row for row in earlier["rows"] if row["algorithm"] not in anew]
    evaluations = {part: number + earlier["evaluations"][part] for part, number in report["evaluations"].items()}
    return report | {"rows": [*kept, *report["rows"]], "evaluations": evaluations}


def scores_of(curves: Sequence[Curve], measure: str) -> np.ndarray:
    """[seeds, tests]"""
    return np.array([getattr(curve, measure) for curve in curves])


def curve_summary(curves: Sequence[Curve], measure: str) -> dict[str, list]:
    scores = scores_of(curves, measure)
    mean, low, high = (list(ends) for ends in zip(*map(mean_interval, scores.T), strict=True))
    return {
        "generations": curves[0].generations,
        "mean": mean,
        "low": low,
        "high": high,
        "per_seed": scores.tolist(),
    }


def table_header(report: dict[str, Any]) -> list[str]:
    measures = (f"{report['score']} of the elite", "of the mean parent")
    return ["algorithm", "elite ratio", *(f"{measure} (95 %, over seeds)" for measure in measures)]


def result_table(report: dict[str, Any]) -> Table:
    title = f"{report['task']}, {report['num_weights']:,} weights, {report['num_seeds']} seeds"
    table = Table(*table_header(report), title=title)
    for row in table_rows(report):
        table.add_row(*row)
    return table


def table_rows(report: dict[str, Any]) -> list[list[str]]:
    """The best first."""
    rows = sorted(report["rows"], key=lambda row: row["final"]["elite"]["mean"], reverse=True)
    largest = max(abs(final["mean"]) for row in rows for final in row["final"].values())
    digits = 3 if largest <= 1 else 2 if largest < 10 else 1
    return [
        [
            row["algorithm"],
            f"{row['elite_ratio']:g}",
            *(interval_text(row["final"][measure], digits) for measure in MEASURES),
        ]
        for row in rows
    ]
