"""Trainings that differ in one thing at a time, side by side: what several experiments share."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from experiments.form import Outcome
from lga.analysis import figures
from lga.bench.statistics import Interval, mean_interval
from lga.cli.devices import use_cores
from lga.core.checks import require
from lga.core.compile_cache import use_compilation_cache
from lga.core.tree_io import digest, json_form
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
    """Folder of the training runs, which experiments may share; an interrupted one is gone on with, a finished one is
    not run again."""
    finished_only: bool = False
    """Trains nothing: shows the runs that are finished, so that a long study can be looked at on its way."""


def draw_scores(report: dict[str, Any], picture: Path) -> None:
    """One curve for each variant: the validation score, averaged over seeds."""
    generations = np.asarray(report["meta_generations"])
    curves = {row["variant"]: (generations, np.mean(row["scores"], axis=0)) for row in report["rows"]}
    figures.validation_curves(curves, picture)


def draw_panels(report: dict[str, Any], picture: Path) -> None:
    """As the paper does: one panel for each function and network task, with intervals over runs."""
    panels = {
        panel_title(panel): {
            row["variant"]: band(report["meta_generations"], row["panels"][panel]) for row in report["rows"]
        }
        for panel in report["rows"][0]["panels"]
    }
    figures.learning_curves(panels, picture, across="meta-generation")


def compare_variants(
    variants: Variants,
    settings: VariantsSettings,
    picture: Path,
    heading: str,
    console: Console,
    draw: Callable[[dict[str, Any], Path], None] = draw_scores,
) -> Outcome:
    """Trains what is missing, each variant with each seed; draws their curves of validation."""
    use_cores()
    use_compilation_cache()
    report = trained(variants, settings, console)
    draw(report, picture)
    table = Table(heading, "validation score at the end, each seed")
    for row in report["rows"]:
        table.add_row(row["variant"], ", ".join(f"{scores[-1]:.3f}" for scores in row["scores"]))
    return Outcome(report, table)


def band(generations: list[int], scores: list[list[float]]) -> dict[str, list]:
    """Mean over runs with Student's interval, at every validation.

    From three runs on: that of two is twelve times as wide as their distance, and would hide all other curves.
    """
    intervals = [mean_interval(np.asarray(values)) for values in zip(*scores, strict=True)]
    if len(scores) < 3:
        intervals = [Interval(interval.mean, None, None) for interval in intervals]
    mean, low, high = (list(ends) for ends in zip(*intervals, strict=True))
    return {"generations": generations, "mean": mean, "low": low, "high": high}


def trained(variants: Variants, settings: VariantsSettings, console: Console) -> dict[str, Any]:
    jobs = [(name, seed) for seed in range(settings.num_seeds) for name in variants]
    rows: dict[str, dict[str, Any]] = {
        name: {"variant": name, "scores": [], "per_scale": [], "panels": {}} for name in variants
    }
    generations: list[int] = []
    for name, seed in track(jobs, description="trainings", console=console):
        training = replace(settings.training, seed=seed, **variants[name])
        directory = settings.runs / digest({}, json_form(asdict(training)))[:16]
        if not (directory / FINAL).exists():
            if settings.finished_only:
                continue
            train(training, directory, resume=directory.exists())
        validations = {e["meta_generation"]: e["validation"] for e in read_metrics(directory) if "validation" in e}
        rows[name]["scores"].append([one["score"] for one in validations.values()])
        rows[name]["per_scale"].append(list(validations.values())[-1]["per_scale"])
        for panel in panels_of(next(iter(validations.values()))):
            curve = [panels_of(one)[panel] for one in validations.values()]
            rows[name]["panels"].setdefault(panel, []).append(curve)
        generations = list(validations)
    rows = {name: row for name, row in rows.items() if row["scores"]}
    require(bool(rows), f"finished_only is set, but no training of this study is finished in {settings.runs}.")
    for row in rows.values():
        row["final"] = {panel: final_interval(curves) for panel, curves in row["panels"].items()}
    return {
        "config": {"training": asdict(settings.training), "num_seeds": settings.num_seeds},
        "meta_generations": generations,
        "rows": list(rows.values()),
    }


def final_interval(curves: list[list[float]]) -> dict[str, float | None]:
    return mean_interval(np.asarray([curve[-1] for curve in curves]))._asdict()


def panels_of(validation: dict[str, Any]) -> dict[str, float]:
    """What one validation says, function by function and task by task."""
    return validation["per_function"] | validation.get("neuroevolution", {})


def panel_title(panel: str) -> str:
    titles = {"pendulum": "pendulum, return of the elite", "mnist-14": "MNIST 14 x 14, test accuracy of the elite"}
    return titles.get(panel, f"{panel} in 10-D, mean log10 gap")
