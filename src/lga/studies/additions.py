"""What each addition to the paper's algorithm brings: the same short training, with one thing changed at a time."""

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from lga.analysis import figures
from lga.meta.config import PRESETS, MetaConfig
from lga.meta.run_directory import FINAL, read_metrics
from lga.meta.train import train

PAPERS = ("select", "rate")
# From the paper's operators and search space, one step at a time.
VARIANTS: dict[str, dict[str, Any]] = {
    "select, rate; moving all weights": {"learned": PAPERS, "search_space": "weights"},
    "select, rate; moving folded numbers": {"learned": PAPERS},
    "and learned sampling": {"learned": (*PAPERS, "sample")},
    "and jitter instead": {"learned": (*PAPERS, "jitter")},
    "and blending instead": {"learned": (*PAPERS, "blend")},
    "sampling, jitter and blending": {"learned": (*PAPERS, "sample", "blend", "jitter")},
}


def short_training() -> MetaConfig:
    """The laptop's, by the paper's meta-optimiser: it can move all weights as well as the folded numbers."""
    steps = {"learning_rate": 0.03, "learning_rate_decay": 0.995, "learning_rate_final": 0.003, "meta_sigma": 0.1}
    return replace(PRESETS["laptop"], meta_generations=100, optimizer="open_es", averaging=0.0, **steps)


@dataclass(frozen=True)
class AdditionsConfig:
    training: MetaConfig = field(default_factory=short_training)
    num_seeds: int = 2


def additions_study(config: AdditionsConfig, runs: Path, out: Path, console: Console) -> dict[str, Any]:
    """Trains what is missing under `runs`; writes additions.json and a picture into `out`."""
    jobs = [(name, seed) for seed in range(config.num_seeds) for name in VARIANTS]
    curves: dict[str, list[list[float]]] = {name: [] for name in VARIANTS}
    for name, seed in track(jobs, description="trainings", console=console):
        directory = runs / f"{list(VARIANTS).index(name)}-{seed}"
        if not (directory / FINAL).exists():
            training = replace(config.training, seed=seed, **VARIANTS[name])
            train(training, directory, resume=directory.exists())
        metrics = [entry for entry in read_metrics(directory) if "validation" in entry]
        curves[name].append([entry["validation"]["score"] for entry in metrics])
        generations = [entry["meta_generation"] for entry in metrics]
    report = {
        "config": asdict(config),
        "meta_generations": generations,
        "rows": [{"variant": name, "scores": scores} for name, scores in curves.items()],
    }
    out.mkdir(parents=True, exist_ok=True)
    (out / "additions.json").write_text(json.dumps(report, indent=1))
    mean_curves = {name: (np.asarray(generations), np.mean(scores, axis=0)) for name, scores in curves.items()}
    figures.validation_curves(mean_curves, out / "additions.png")
    console.print(additions_table(report))
    return report


def additions_table(report: dict[str, Any]) -> Table:
    table = Table("what is learned", "validation score at the end, each seed")
    for row in report["rows"]:
        table.add_row(row["variant"], ", ".join(f"{scores[-1]:.3f}" for scores in row["scores"]))
    return table
