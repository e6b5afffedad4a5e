"""The paper's neuroevolution evaluation of one task: learning curves, a table and a results file."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from lga.analysis import figures
from lga.bench.neuro import Contender, Curve, Scale, contender, evaluations_compiled, measured_run
from lga.bench.statistics import mean_interval
from lga.core.checks import require_positive_integer
from lga.core.tree_io import write_atomically
from lga.operators.theta import Theta
from lga.tasks.neuro import NeuroTask
from lga.tasks.registry import neuro_task

MEASURES = {"elite": "elite", "mean_parent": "mean parent"}


def neuro_study(
    task_name: str,
    algorithms: Sequence[str],
    weights: dict[str, Theta],
    scale: Scale,
    num_seeds: int,
    out: Path,
    console: Console,
) -> dict[str, Any]:
    """Runs whatever is missing, then writes TASK.json and TASK.png into `out`."""
    require_positive_integer("seeds", num_seeds)
    task = evaluations_compiled(neuro_task(task_name, scale.task))
    entries = [contender(name, scale, task.num_weights, weights) for name in algorithms]
    if task.note:
        console.print(task.note)
    curves = run_all(task_name, task, entries, scale, num_seeds, out / "runs", console)
    report = summary(task_name, task, entries, scale, curves)
    write_atomically(out / f"{task_name}.json", (json.dumps(report, indent=1) + "\n").encode())
    panels = {
        f"{task_name}: {task.score} of the {label}": {
            row["algorithm"]: row["curves"][measure] for row in report["rows"]
        }
        for measure, label in MEASURES.items()
    }
    figures.learning_curves(panels, out / f"{task_name}.png")
    console.print(result_table(report))
    return report


def run_all(
    task_name: str,
    task: NeuroTask,
    entries: Sequence[Contender],
    scale: Scale,
    num_seeds: int,
    folder: Path,
    console: Console,
) -> dict[str, list[Curve]]:
    columns = (MofNCompleteColumn(), BarColumn(bar_width=24), TimeElapsedColumn(), TextColumn("left"))
    curves: dict[str, list[Curve]] = {entry.name: [] for entry in entries}
    with Progress(
        TextColumn("{task.description}, generation"), *columns, TimeRemainingColumn(), console=console
    ) as progress:
        bar = progress.add_task(task_name, total=len(entries) * num_seeds * scale.num_generations)
        before = 0
        for entry in entries:
            for seed in range(num_seeds):
                progress.update(bar, description=f"{task_name}, {entry.name}, seed {seed}")

                def advance(done: int, before: int = before) -> None:
                    progress.update(bar, completed=before + done)

                file = folder / f"{task_name}-{entry.name}-{seed}.safetensors"
                curves[entry.name].append(measured_run(task_name, task, entry, scale, seed, file, advance))
                before += scale.num_generations
                if not console.is_terminal:
                    final = curves[entry.name][-1]
                    console.print(f"{task_name}, {entry.name}, seed {seed}: {task.score} {final.elite[-1]:.3f}")
    return curves


def summary(
    task_name: str, task: NeuroTask, entries: Sequence[Contender], scale: Scale, curves: dict[str, list[Curve]]
) -> dict[str, Any]:
    rows = [
        {
            "algorithm": entry.name,
            "elite_ratio": entry.elite_ratio,
            "weights": entry.fingerprint,
            "final": {
                measure: mean_interval(scores_of(curves[entry.name], measure)[:, -1])._asdict() for measure in MEASURES
            },
            "per_seed": {measure: scores_of(curves[entry.name], measure)[:, -1].tolist() for measure in MEASURES},
            "curves": {measure: curve_summary(curves[entry.name], measure) for measure in MEASURES},
        }
        for entry in entries
    ]
    return {
        "task": task_name,
        "score": task.score,
        "note": task.note,
        "num_weights": task.num_weights,
        "num_seeds": len(curves[entries[0].name]),
        "scale": asdict(scale),
        "rows": rows,
    }


def scores_of(curves: Sequence[Curve], measure: str) -> np.ndarray:
    """[seeds, tests]"""
    return np.array([getattr(curve, measure) for curve in curves])


def curve_summary(curves: Sequence[Curve], measure: str) -> dict[str, list]:
    intervals = [mean_interval(scores) for scores in scores_of(curves, measure).T]
    return {
        "generations": curves[0].generations,
        "mean": [values.mean for values in intervals],
        "low": [values.low for values in intervals],
        "high": [values.high for values in intervals],
    }


def result_table(report: dict[str, Any]) -> Table:
    table = Table(
        "algorithm",
        "rho",
        f"{report['score']} of the elite (95 %)",
        "of the mean parent (95 %)",
        title=f"{report['task']}, {report['num_weights']:,} weights, {report['num_seeds']} seeds",
    )
    for row in neuro_rows(report):
        table.add_row(*row)
    return table


def neuro_rows(report: dict[str, Any]) -> list[list[str]]:
    """The best first."""
    rows = sorted(report["rows"], key=lambda row: row["final"]["elite"]["mean"], reverse=True)
    largest = max(abs(value) for row in rows for final in row["final"].values() for value in final.values())
    digits = 3 if largest <= 1 else 2 if largest < 10 else 1

    def interval(final: dict[str, float]) -> str:
        return f"{final['mean']:.{digits}f} [{final['low']:.{digits}f}, {final['high']:.{digits}f}]"

    return [
        [row["algorithm"], f"{row['elite_ratio']:g}", *(interval(row["final"][measure]) for measure in MEASURES)]
        for row in rows
    ]
