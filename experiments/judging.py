"""What becomes of a lucky parent: networks evolved with fitness that is kept, made anew or forgotten."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from experiments.form import Experiment, Outcome, described
from experiments.networks import CELLS, scale_for
from lga.bench.cells import outcome
from lga.bench.methods import Size, methods_named
from lga.bench.network_runs import Run, compiled_task, run_cell
from lga.bench.statistics import interval_text, mean_interval
from lga.core.compile_cache import use_compilation_cache
from lga.core.tree_io import json_form
from lga.neuroevolution import ONCE, RATES_KEPT_UP, Judging

WAYS = {
    "once": ONCE,
    "again": Judging(again=True),
    "a tenth forgotten": Judging(forget=0.1),
    "half forgotten": Judging(forget=0.5),
    "all forgotten": Judging(forget=1.0),
    "a tenth of the rate": Judging(least_rate=0.1),
    "rates kept up": RATES_KEPT_UP,
}
ELITE_RATIO = 0.25
"""Of the hand-designed algorithms."""


@dataclass(frozen=True)
class JudgingSettings:
    tasks: tuple[str, ...] = ("pendulum", "digits", "mnist-14", "minatar-breakout")
    algorithms: tuple[str, ...] = ("gaussian_ga", "gesmr_ga", "lga-paper", "lga-1", "lga-2")
    ways: tuple[str, ...] = tuple(WAYS)
    size: str = "small"
    num_children: int | None = None
    num_generations: int | None = None
    num_seeds: int = 5
    cells: Path = CELLS


def run(settings: JudgingSettings, out: Path, console: Console) -> Outcome:
    """All ways make as many evaluations: who judges parents again has fewer generations. Rates are the middle ones."""
    use_compilation_cache()
    rows: list[dict[str, Any]] = []
    for task in settings.tasks:
        scale = scale_for(task, settings.size, settings.num_children, settings.num_generations)
        num_weights = compiled_task(task, scale.task).num_weights
        for method in methods_named(settings.algorithms, num_weights):
            own = method.over((ELITE_RATIO,), scale.sigmas[len(scale.sigmas) // 2 :][:1])
            own = own.at(*own.settings[0])
            final: dict[str, list[float]] = {}
            for way in track(settings.ways, description=f"{task}, {own.name}", console=console):
                size = own.size(scale.num_children, scale.num_generations, num_weights)
                cost = WAYS[way].evaluations(own.algorithm(size.num_children), keeps_parents=own.family != "strategy")
                size = Size(size.num_children, size.num_generations * size.num_children // cost)
                runs = (
                    Run(task, scale.task, own, size, scale.test_every, seed, WAYS[way])
                    for seed in range(settings.num_seeds)
                )
                final[way] = [float(outcome(run_cell(one), settings.cells)["elite"][-1]) for one in runs]
            rows.append(
                {
                    "task": task,
                    "algorithm": own.name,
                    "scale": json_form(asdict(replace(scale, sigmas=(own.sigma,), elite_ratios=(own.elite_ratio,)))),
                    "per_seed": final,
                    "final": {way: mean_interval(np.asarray(scores))._asdict() for way, scores in final.items()},
                    "lead": {way: lead_of(scores, final[settings.ways[0]]) for way, scores in final.items()},
                }
            )
    table = Table("task", "algorithm", *settings.ways)
    for row in rows:
        table.add_row(row["task"], row["algorithm"], *(interval_text(one, 2) for one in row["final"].values()))
    return Outcome({"config": described(settings), "rows": rows}, table)


def lead_of(scores: list[float], others: list[float]) -> dict[str, float | None]:
    """Over the first way, with pairs of the same seed."""
    return mean_interval(np.subtract(scores, others))._asdict()


EXPERIMENT = Experiment(
    "what becomes of a lucky parent: fitness kept, made anew or forgotten, on networks",
    {
        "smoke": JudgingSettings(("pendulum",), ("gaussian_ga", "lga-1"), ("once", "again"), "smoke", num_seeds=2),
        "small": JudgingSettings(("pendulum", "digits"), size="medium", num_generations=100, num_seeds=3),
        "paper": JudgingSettings(size="paper"),
    },
    run,
)
