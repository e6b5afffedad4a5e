"""Learned operators in a Gaussian GA (the paper's figure 10): selection alone, the rate alone, and both."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from experiments.form import Experiment, Outcome, described
from experiments.networks import CELLS, elite_curves, scale_for
from experiments.variants import band
from lga.analysis.figures import learning_curves
from lga.bench.methods import HAND_DESIGNED, Method, learned
from lga.bench.network_runs import Scale
from lga.bench.statistics import interval_text, mean_interval
from lga.core.compile_cache import use_compilation_cache
from lga.core.tree_io import json_form
from lga.weights import resolve


@dataclass(frozen=True)
class TransferSettings:
    tasks: tuple[str, ...] = ("hopper", "halfcheetah", "minatar-breakout", "mnist")
    weights: str = "lga-paper"
    size: str = "paper"
    """The preset of the neuroevolution comparison that sizes are taken from."""
    num_children: int | None = None
    num_generations: int | None = None
    """In place of those of the preset."""
    elite_ratio: float = 0.25
    """Of the Gaussian GA and those with one learned operator; the whole learned GA has 1, as in training."""
    num_seeds: int = 5
    cells: Path = CELLS


def roster(settings: TransferSettings, scale: Scale) -> list[Method]:
    weights = resolve(settings.weights)
    parts = {
        "Gaussian GA with learned selection": replace(weights.theta, rate=None),
        "Gaussian GA with learned rate": replace(weights.theta, select=None),
    }
    sigma = scale.sigmas[0]
    plugged = [replace(learned(resolve(theta)), name=name) for name, theta in parts.items()]
    gaussian = [method.at(settings.elite_ratio, sigma) for method in (HAND_DESIGNED["gaussian_ga"], *plugged)]
    return [*gaussian, learned(weights).at(1.0, sigma)]


def run(settings: TransferSettings, out: Path, console: Console) -> Outcome:
    use_compilation_cache()
    rows: list[dict[str, Any]] = []
    panels: dict[str, dict[str, dict[str, list]]] = {}
    for task in settings.tasks:
        scale = scale_for(task, settings.size, settings.num_children, settings.num_generations)
        methods = roster(settings, scale)
        generations, scores = elite_curves(task, scale, methods, settings.num_seeds, settings.cells, console)
        curves = dict(zip([method.name for method in methods], scores, strict=True))
        panels[task] = {name: band(generations, own.tolist()) for name, own in curves.items()}
        final = {name: mean_interval(own[:, -1])._asdict() for name, own in curves.items()}
        rows.append({"task": task, "scale": json_form(asdict(scale)), "final": final})
    learning_curves(panels, out / "transfer.png")
    table = Table("task", *rows[0]["final"])
    for row in rows:
        table.add_row(row["task"], *(interval_text(own, 2) for own in row["final"].values()))
    return Outcome({"config": described(settings), "rows": rows}, table)


EXPERIMENT = Experiment(
    "figure 10: learned selection or learned rate in a Gaussian GA, on network tasks",
    {
        "smoke": TransferSettings(("pendulum",), size="smoke", num_seeds=1),
        "small": TransferSettings(("pendulum", "minatar-breakout", "digits", "mnist"), size="small"),
        "paper": TransferSettings(),
    },
    run,
)
