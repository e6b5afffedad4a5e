"""Trainings that differ in one thing at a time, side by side: what several experiments share."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from experiments.form import Outcome
from lga.analysis import figures
from lga.cli.devices import use_cores
from lga.core.compile_cache import use_compilation_cache
from lga.meta.config import MetaConfig
from lga.meta.run_directory import FINAL, read_metrics
from lga.meta.train import train

Variants = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class VariantsSettings:
    training: MetaConfig = field(default_factory=MetaConfig)
    """What all runs share."""
    num_seeds: int = 2
    runs: Path = Path("runs/variants")
    """Folder of the training runs; an interrupted one is gone on with, a finished one is not run again."""


def compare_variants(
    variants: Variants, settings: VariantsSettings, picture: Path, heading: str, console: Console
) -> Outcome:
    """Trains what is missing, each variant with each seed; draws their curves of validation."""
    use_cores()
    use_compilation_cache()
    report = trained(variants, settings, console)
    generations = np.asarray(report["meta_generations"])
    curves = {row["variant"]: (generations, np.mean(row["scores"], axis=0)) for row in report["rows"]}
    figures.validation_curves(curves, picture)
    table = Table(heading, "validation score at the end, each seed")
    for row in report["rows"]:
        table.add_row(row["variant"], ", ".join(f"{scores[-1]:.3f}" for scores in row["scores"]))
    return Outcome(report, table)


def trained(variants: Variants, settings: VariantsSettings, console: Console) -> dict[str, Any]:
    jobs = [(name, seed) for seed in range(settings.num_seeds) for name in variants]
    rows: dict[str, dict[str, Any]] = {name: {"variant": name, "scores": [], "per_scale": []} for name in variants}
    generations: list[int] = []
    for name, seed in track(jobs, description="trainings", console=console):
        directory = settings.runs / f"{list(variants).index(name)}-{seed}"
        if not (directory / FINAL).exists():
            training = replace(settings.training, seed=seed, **variants[name])
            train(training, directory, resume=directory.exists())
        metrics = [entry for entry in read_metrics(directory) if "validation" in entry]
        rows[name]["scores"].append([entry["validation"]["score"] for entry in metrics])
        rows[name]["per_scale"].append(metrics[-1]["validation"]["per_scale"])
        generations = [entry["meta_generation"] for entry in metrics]
    return {
        "config": {"training": asdict(settings.training), "num_seeds": settings.num_seeds},
        "meta_generations": generations,
        "rows": list(rows.values()),
    }
