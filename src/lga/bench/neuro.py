"""The paper's neuroevolution comparison on one task: learning curves, a table and a results file."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jax
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from lga.analysis import figures
from lga.analysis.plays import draw_network
from lga.bench.cells import outcome
from lga.bench.methods import Method, methods_named, require_own_names
from lga.bench.network_runs import Curve, Run, Scale, compiled_task, elite_and_state, run_cell
from lga.bench.statistics import interval_text, mean_interval
from lga.bench.tuning import tune
from lga.core.checks import require_positive_integer
from lga.core.files import write_report
from lga.core.tree_io import json_form
from lga.tasks.network_task import NeuroTask
from lga.weights import EVOSAX_LGA

ALGORITHMS = ("gaussian_ga", "mr15_ga", "samr_ga", "gesmr_ga", "sep_cma_es", EVOSAX_LGA, "lga-1", "lga-2")
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
) -> dict[str, Any]:
    """Runs whatever is missing, then writes TASK.json and TASK.png into `out`; and the best network at work."""
    require_positive_integer("seeds", num_seeds)
    task = compiled_task(task_name, scale.task)
    methods = [method.over(scale.elite_ratios, scale.sigmas) for method in methods_named(algorithms, task.num_weights)]
    require_own_names(methods)
    if task.note:
        console.print(task.note)
    curves = run_all(task_name, task, methods, scale, num_seeds, out / "cells", console)
    report = summary(task_name, task, scale, curves)
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
    return Run(task_name, scale.task, method, size, scale.test_every, seed)


def run_all(
    task_name: str,
    task: NeuroTask,
    methods: Sequence[Method],
    scale: Scale,
    num_seeds: int,
    cells: Path,
    console: Console,
) -> dict[Method, list[Curve]]:
    """The curves of every tuned method, one for each seed."""
    columns = (MofNCompleteColumn(), BarColumn(bar_width=24), TimeElapsedColumn(), TextColumn("left"))
    curves: dict[Method, list[Curve]] = {}
    with Progress(
        TextColumn("{task.description}, generation"), *columns, TimeRemainingColumn(), console=console
    ) as progress:
        bar = progress.add_task(task_name, total=sum(map(generations_of(task, scale, num_seeds), methods)))
        finished = 0

        def curve(method: Method, seed: int) -> Curve:
            nonlocal finished
            progress.update(bar, description=f"{task_name}, {method.name}, seed {seed}")
            run = run_of(task_name, task, scale, method, seed)
            before = finished
            leaves = outcome(run_cell(run, lambda done: progress.update(bar, completed=before + done)), cells)
            finished += run.size.num_generations
            progress.update(bar, completed=finished)
            found = Curve(*(leaves[name].tolist() for name in Curve._fields))
            if not console.is_terminal:
                console.print(f"{task_name}, {method.name}, seed {seed}: {task.score} {found.elite[-1]:.3f}")
            return found

        def loss(candidate: Method) -> float:
            seeds = range(FIRST_TUNING_SEED, FIRST_TUNING_SEED + scale.tuning_seeds)
            return -float(np.mean([curve(candidate, seed).elite[-1] for seed in seeds]))

        for method in methods:
            tuned = tune(method, loss).method
            curves[tuned] = [curve(tuned, seed) for seed in range(num_seeds)]
    return curves


def generations_of(task: NeuroTask, scale: Scale, num_seeds: int):
    """The function from a method to the generations of all of its runs, tuning included."""

    def count(method: Method) -> int:
        size = method.size(scale.num_children, scale.num_generations, task.num_weights)
        num_settings = len(method.settings)
        tuning_runs = num_settings * scale.tuning_seeds if num_settings > 1 else 0
        return (tuning_runs + num_seeds) * size.num_generations

    return count


def summary(task_name: str, task: NeuroTask, scale: Scale, curves: dict[Method, list[Curve]]) -> dict[str, Any]:
    rows = [
        {
            "algorithm": method.name,
            "elite_ratio": method.elite_ratio,
            "sigma0": method.sigma,
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
        "rows": rows,
    }


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
