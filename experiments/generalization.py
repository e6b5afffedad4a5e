"""Every method at other dimensions, population sizes and horizons (the paper's figure 5)."""

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from experiments.budgets import PRESETS, BudgetSettings, log_gaps
from experiments.form import Experiment, Outcome, described
from lga.analysis.figures import learning_curves
from lga.bench.statistics import mean_interval
from lga.core.compile_cache import use_compilation_cache


def over_runs(gaps: np.ndarray) -> dict[str, float | None]:
    """Of [functions, runs]: the interval is over runs, each averaged over the functions."""
    return mean_interval(gaps.mean(axis=0))._asdict()


def line(across: list[int], gaps: list[dict[str, float | None]]) -> dict[str, list]:
    return {"generations": across, **{end: [gap[end] for gap in gaps] for end in ("mean", "low", "high")}}


def run(settings: BudgetSettings, out: Path, console: Console) -> Outcome:
    use_compilation_cache()
    budgets = [*settings.by_dims, *settings.by_population, settings.long]
    found = log_gaps(settings, budgets, console)
    methods = list(found[settings.long])
    final = {budget: {name: over_runs(gaps[..., -1]) for name, gaps in own.items()} for budget, own in found.items()}
    horizons = list(range(1, settings.long_horizon + 1))
    panels = {
        f"dimensions, {settings.num_children} children": {
            name: line(list(settings.dims), [final[budget][name] for budget in settings.by_dims]) for name in methods
        },
        f"children, {settings.num_dims} dimensions": {
            name: line(list(settings.populations), [final[budget][name] for budget in settings.by_population])
            for name in methods
        },
        f"generations, {settings.num_children} children, {settings.num_dims} dimensions": {
            name: line(horizons, [over_runs(found[settings.long][name][..., t - 1]) for t in horizons])
            for name in methods
        },
    }
    learning_curves(panels, out / "generalization.png", across="")
    rows: list[dict[str, Any]] = [
        {"num_children": b.num_children, "num_dims": b.num_dims, "num_generations": b.num_generations, "gaps": own}
        for b, own in final.items()
    ]
    table = Table("N", "D", "T", *methods)
    for row in rows:
        sizes = (str(row[name]) for name in ("num_children", "num_dims", "num_generations"))
        table.add_row(*sizes, *(f"{row['gaps'][name]['mean']:.2f}" for name in methods))
    return Outcome({"config": described(settings), "rows": rows}, table)


EXPERIMENT = Experiment("figure 5: every method at other dimensions, population sizes and horizons", PRESETS, run)
