"""How much the settings matter (the paper's figures 11 and 19 to 30): scores over elite ratio and initial rate."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from experiments.budgets import GAS
from experiments.form import Experiment, Outcome, described
from experiments.networks import CELLS, elite_curves, scale_for
from lga.analysis.operators import setting_maps
from lga.bench.methods import HAND_DESIGNED, Method, learned
from lga.core.compile_cache import use_compilation_cache
from lga.core.tree_io import json_form
from lga.tasks.registry import NEURO_TASKS
from lga.weights import resolve


@dataclass(frozen=True)
class RobustnessSettings:
    tasks: tuple[str, ...] = tuple(name for name in NEURO_TASKS if name not in ("digits", "mnist-14"))
    weights: str = "lga-paper"
    elite_ratios: tuple[float, ...] = (0.0, 0.25, 0.5, 1.0)
    factors: tuple[float, ...] = (0.2, 0.5, 1.0, 2.0)
    """Initial rates, in units of the one that the neuroevolution comparison has for the task."""
    size: str = "paper"
    """The preset of the neuroevolution comparison that sizes are taken from."""
    num_children: int | None = None
    num_generations: int | None = None
    """In place of those of the preset."""
    num_seeds: int = 5
    cells: Path = CELLS


def settings_of(method: Method, settings: RobustnessSettings, sigma: float) -> list[Method]:
    return [method.at(ratio, factor * sigma) for ratio in settings.elite_ratios for factor in settings.factors]


def run(settings: RobustnessSettings, out: Path, console: Console) -> Outcome:
    use_compilation_cache()
    roster = [learned(resolve(settings.weights)), *(HAND_DESIGNED[name] for name in GAS)]
    rows: list[dict[str, Any]] = []
    for task in settings.tasks:
        scale = scale_for(task, settings.size, settings.num_children, settings.num_generations)
        sigma = scale.sigmas[0]
        maps = {}
        for method in roster:
            grid = settings_of(method, settings, sigma)
            _, scores = elite_curves(task, scale, grid, settings.num_seeds, settings.cells, console)
            maps[method.name] = scores[..., -1].mean(axis=1).reshape(len(settings.elite_ratios), -1)
        rates = [f"{factor * sigma:g}" for factor in settings.factors]
        ratios = [f"{ratio:g}" for ratio in settings.elite_ratios]
        setting_maps(maps, ratios, rates, f"{task}: test score", out / f"robustness_{task}.png")
        rows += [
            {"task": task, "scale": json_form(asdict(scale)), "method": name, "scores": own.tolist(), **spread(own)}
            for name, own in maps.items()
        ]
    table = Table("task", "method", "best setting", "mean of all settings", "worst setting")
    for row in rows:
        table.add_row(row["task"], row["method"], *(f"{row[name]:.4g}" for name in ("best", "mean", "worst")))
    return Outcome({"config": described(settings), "rows": rows}, table)


def spread(scores: np.ndarray) -> dict[str, float]:
    return {"best": float(scores.max()), "mean": float(scores.mean()), "worst": float(scores.min())}


EXPERIMENT = Experiment(
    "figures 11, 19-30: test scores over elite ratio and initial rate, for the learned GA and each hand-designed one",
    {
        "smoke": RobustnessSettings(("pendulum",), elite_ratios=(0.0, 1.0), factors=(1.0,), size="smoke", num_seeds=1),
        "small": RobustnessSettings(
            ("pendulum", "digits"),
            elite_ratios=(0.0, 0.5, 1.0),
            factors=(0.1, 0.5, 2.0),
            size="small",
            num_children=32,
            num_generations=100,
        ),
        "paper": RobustnessSettings(),
    },
    run,
)
