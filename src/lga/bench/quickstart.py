"""The main job on a small scale: discover a genetic algorithm, then try it on functions that it has never seen."""

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from lga.analysis import figures
from lga.bench.cells import outcome
from lga.bench.methods import QUICK_BASELINES, Method, Size, as_shipped
from lga.bench.searches import Suite, gap_cell
from lga.bench.statistics import interval_text, mean_interval
from lga.bench.tuning import tune
from lga.core.files import write_report
from lga.meta.config import PRESETS, MetaConfig
from lga.meta.live import LiveReport
from lga.meta.report import write_training_page
from lga.meta.run_directory import read_metrics
from lga.meta.train import train
from lga.operators.theta import Theta
from lga.tasks import bbob, registry
from lga.weights import resolve

TUNING_SEED, TEST_SEED = 11, 12


@dataclass(frozen=True)
class QuickstartConfig:
    training: MetaConfig = field(default_factory=lambda: replace(PRESETS["laptop"], meta_generations=120))
    num_dims: int = 10
    tuning_instances: tuple[int, ...] = (101, 102)
    """COCO instances of the training functions, for the baselines to be tuned on."""
    test_instances: tuple[int, ...] = (1, 2, 3)
    """COCO instances of the functions that were held out of training."""
    elite_ratios: tuple[float, ...] = (0.0, 0.5)
    sigmas: tuple[float, ...] = (0.1, 0.25, 0.5, 1.0)
    num_children: int = 32
    num_generations: int = 50
    num_seeds: int = 5


def quickstart(config: QuickstartConfig, out: Path, console: Console) -> dict[str, Any]:
    """Writes the report folder and returns what its table says."""
    console.print(f"[bold]1. Discover[/bold] a genetic algorithm on {len(config.training.functions)} functions")
    with LiveReport(config.training.meta_generations, console) as live:
        theta = train(config.training, out / "training", report=live)
    figures.training_curves(read_metrics(out / "training"), out / "training_curves.png")

    console.print("[bold]2. Tune[/bold] the hand-designed algorithms on the training functions")
    size = Size(config.num_children, config.num_generations)

    def best_gaps(method: Method, functions: tuple[str, ...], instances: tuple[int, ...], seed: int) -> np.ndarray:
        suite = Suite(functions, instances, config.num_dims, config.num_seeds, seed)
        return outcome(gap_cell(method, size, suite), out / "cells")["best_so_far"]

    def loss(candidate: Method) -> float:
        gaps = best_gaps(candidate, config.training.functions, config.tuning_instances, TUNING_SEED)
        return float(bbob.log10_gap(gaps[..., -1]).mean())

    methods = [tune(method, loss).method for method in track(contenders(config, theta), "tuning", console=console)]

    held_out = tuple(row.name for row in registry.bbob_rows() if row.split == "hold-out")
    console.print(f"[bold]3. Test[/bold] all of them on {len(held_out)} functions that none has seen")
    gaps = {
        method.name: bbob.log10_gap(best_gaps(method, held_out, config.test_instances, TEST_SEED))
        for method in track(methods, description="testing", console=console)
    }
    report = summarise(config, methods, {name: curves[..., -1] for name, curves in gaps.items()}, held_out)
    write_report(out / "report.json", report)
    figures.convergence({name: curves.mean(axis=(0, 1, 2)) for name, curves in gaps.items()}, out / "convergence.png")
    figures.gaps_by_function(report["per_function"], out / "gaps_by_function.png")
    write_training_page(out / "training", report["per_function"], out / "report.html")
    console.print(result_table(report))
    return report


def contenders(config: QuickstartConfig, theta: Theta) -> list[Method]:
    ours = replace(as_shipped(resolve(theta)), name="learned GA (discovered just now)")
    return [ours, *(method.over(config.elite_ratios, config.sigmas) for method in QUICK_BASELINES)]


def summarise(
    config: QuickstartConfig, methods: list[Method], gaps: dict[str, np.ndarray], functions: tuple[str, ...]
) -> dict[str, Any]:
    per_function = {name: values.mean(axis=(1, 2)) for name, values in gaps.items()}
    ours = per_function[methods[0].name]
    rows = [
        {
            "method": method.name,
            "elite_ratio": method.elite_ratio,
            "sigma0": method.sigma,
            "mean_log10_gap": float(per_function[method.name].mean()),
            "ours_minus_theirs": mean_interval(ours - per_function[method.name])._asdict(),
            "functions_won_by_ours": int(np.sum(ours < per_function[method.name])),
        }
        for method in methods
    ]
    means = {name: dict(zip(functions, values.tolist(), strict=True)) for name, values in per_function.items()}
    return {"config": asdict(config), "rows": rows, "per_function": means, "num_functions": len(functions)}


def result_table(report: dict[str, Any]) -> Table:
    difference = "learned GA minus method (95 %, over functions)"
    table = Table("method", "rho", "sigma0", "mean log10 gap", difference, "functions won")
    for row in sorted(report["rows"], key=lambda row: row["mean_log10_gap"]):
        is_ours = row is report["rows"][0]
        table.add_row(
            row["method"],
            f"{row['elite_ratio']:g}",
            f"{row['sigma0']:g}",
            f"{row['mean_log10_gap']:.3f}",
            "" if is_ours else interval_text(row["ours_minus_theirs"], 3, signed=True),
            "" if is_ours else f"{row['functions_won_by_ours']} of {report['num_functions']}",
            style="bold" if is_ours else None,
        )
    return table
