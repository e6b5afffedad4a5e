"""What each addition to the paper's algorithm brings: the same short training, with one thing changed at a time."""

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from experiments.form import Experiment, Outcome
from lga.analysis import figures
from lga.cli.devices import use_cores
from lga.core.compile_cache import use_compilation_cache
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
class AdditionsSettings:
    training: MetaConfig = field(default_factory=short_training)
    """What all runs share."""
    num_seeds: int = 2
    runs: Path = Path("runs/additions")
    """Folder of the training runs; an interrupted one is gone on with, a finished one is not run again."""


def run(settings: AdditionsSettings, out: Path, console: Console) -> Outcome:
    """Trains what is missing; draws the curves into `out`."""
    use_cores()
    use_compilation_cache()
    report = trained(settings, console)
    generations = np.asarray(report["meta_generations"])
    curves = {row["variant"]: (generations, np.mean(row["scores"], axis=0)) for row in report["rows"]}
    figures.validation_curves(curves, out / "additions.png")
    return Outcome(report, additions_table(report))


def trained(settings: AdditionsSettings, console: Console) -> dict[str, Any]:
    jobs = [(name, seed) for seed in range(settings.num_seeds) for name in VARIANTS]
    scores: dict[str, list[list[float]]] = {name: [] for name in VARIANTS}
    generations: list[int] = []
    for name, seed in track(jobs, description="trainings", console=console):
        directory = settings.runs / f"{list(VARIANTS).index(name)}-{seed}"
        if not (directory / FINAL).exists():
            training = replace(settings.training, seed=seed, **VARIANTS[name])
            train(training, directory, resume=directory.exists())
        metrics = [entry for entry in read_metrics(directory) if "validation" in entry]
        scores[name].append([entry["validation"]["score"] for entry in metrics])
        generations = [entry["meta_generation"] for entry in metrics]
    return {
        "config": {"training": asdict(settings.training), "num_seeds": settings.num_seeds},
        "meta_generations": generations,
        "rows": [{"variant": name, "scores": own} for name, own in scores.items()],
    }


def additions_table(report: dict[str, Any]) -> Table:
    table = Table("what is learned", "validation score at the end, each seed")
    for row in report["rows"]:
        table.add_row(row["variant"], ", ".join(f"{scores[-1]:.3f}" for scores in row["scores"]))
    return table


EXPERIMENT = Experiment(
    "what each addition to the paper's algorithm brings: the same short training, one thing changed at a time",
    {
        "smoke": AdditionsSettings(
            replace(PRESETS["smoke"], optimizer="open_es", averaging=0.0, meta_generations=2, validate_every=1),
            num_seeds=1,
            runs=Path("runs/additions-smoke"),
        ),
        "paper": AdditionsSettings(),
    },
    run,
)
