"""The main job on a small scale: discover a genetic algorithm, then try it on functions that it has never seen."""

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from lga.analysis import figures
from lga.bench.protocol import Budget, Tuned, baselines, learned, measure, tune
from lga.bench.statistics import log10_gaps, mean_interval
from lga.meta.config import PRESETS, MetaConfig
from lga.meta.live import LiveReport
from lga.meta.run_directory import read_metrics
from lga.meta.train import train
from lga.operators.theta import Theta
from lga.tasks import bbob, registry
from lga.trials import log_gaps

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
    budget: Budget = field(default_factory=Budget)


def quickstart(config: QuickstartConfig, out: Path, console: Console) -> dict[str, Any]:
    """Writes the report folder and returns what its table says."""
    console.print(f"[bold]1. Discover[/bold] a genetic algorithm on {len(config.training.functions)} functions")
    with LiveReport(config.training.meta_generations, console) as live:
        theta = train(config.training, out / "training", report=live)
    figures.training_curves(read_metrics(out / "training"), out / "training_curves.png")

    console.print("[bold]2. Tune[/bold] the hand-designed algorithms on the training functions")
    contenders = tuned_methods(config, theta, console)

    held_out = tuple(row.name for row in registry.bbob_rows() if row.split == "hold-out")
    console.print(f"[bold]3. Test[/bold] all of them on {len(held_out)} functions that none has seen")
    tasks = bbob.instances(held_out, config.test_instances, config.num_dims)
    traces = {
        contender.method.name: jax.tree.map(np.asarray, measure(contender, tasks, config.budget, TEST_SEED))
        for contender in track(contenders, description="testing", console=console)
    }
    report = summarise(config, contenders, traces, held_out)
    (out / "report.json").write_text(json.dumps(report, indent=1))
    curves = {name: log10_gaps(trace.best_so_far).mean(axis=(0, 1)) for name, trace in traces.items()}
    figures.convergence(curves, out / "convergence.png")
    figures.gaps_by_function(report["per_function"], out / "gaps_by_function.png")
    console.print(result_table(report))
    return report


def tuned_methods(config: QuickstartConfig, theta: Theta, console: Console) -> list[Tuned]:
    tasks = bbob.instances(config.training.functions, config.tuning_instances, config.num_dims)
    methods = [learned("learned GA (discovered just now)", theta), *baselines(config.elite_ratios, config.sigmas)]
    return [
        tune(method, tasks, config.budget, TUNING_SEED)
        for method in track(methods, description="tuning", console=console)
    ]


def summarise(
    config: QuickstartConfig, contenders: list[Tuned], traces: dict[str, Any], functions: tuple[str, ...]
) -> dict[str, Any]:
    gaps = {name: np.asarray(log_gaps(trace)).reshape(len(functions), -1) for name, trace in traces.items()}
    ours = gaps[contenders[0].method.name]
    rows = []
    for contender in contenders:
        theirs = gaps[contender.method.name]
        rows.append(
            {
                "method": contender.method.name,
                "elite_ratio": contender.elite_ratio,
                "sigma0": contender.sigma,
                "mean_log10_gap": float(theirs.mean()),
                "ours_minus_theirs": mean_interval((ours - theirs).mean(axis=1))._asdict(),
                "functions_won_by_ours": int(np.sum(ours.mean(axis=1) < theirs.mean(axis=1))),
            }
        )
    per_function = {
        name: dict(zip(functions, values.mean(axis=1).tolist(), strict=True)) for name, values in gaps.items()
    }
    return {"config": asdict(config), "rows": rows, "per_function": per_function, "num_functions": len(functions)}


def result_table(report: dict[str, Any]) -> Table:
    table = Table("method", "rho", "sigma0", "mean log10 gap", "learned GA minus method (95 %)", "functions won")
    for row in sorted(report["rows"], key=lambda row: row["mean_log10_gap"]):
        difference = row["ours_minus_theirs"]
        is_ours = row is report["rows"][0]
        table.add_row(
            row["method"],
            f"{row['elite_ratio']:g}",
            f"{row['sigma0']:g}",
            f"{row['mean_log10_gap']:.3f}",
            "" if is_ours else f"{difference['mean']:+.3f}  [{difference['low']:+.3f}, {difference['high']:+.3f}]",
            "" if is_ours else f"{row['functions_won_by_ours']} of {report['num_functions']}",
            style="bold" if is_ours else None,
        )
    return table
