"""What of `lga-hpo` helps: parts of it switched off, before and after training, on the pools that choices are made on.

These ten pools are no test tasks of HPO-B. They are small, so a hundred trials find the best of most of them: the mean
regret over all trials tells more than that after the last.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from experiments.form import Experiment, Outcome
from lga.bench.cells import outcome
from lga.bench.hpob.entries import Entry, Version, bundles, cell_of
from lga.bench.methods import as_shipped
from lga.bench.statistics import interval_text, mean_interval
from lga.core.compile_cache import use_compilation_cache
from lga.operators.designed import OFF
from lga.operators.fold import theta_layout
from lga.operators.theta import Theta, ThetaConfig
from lga.tasks.hpob import load_pools, validation_tasks
from lga.weights import Weights, resolve
from lga.weights.resolve import known_by_content

PROVENANCE = {"run": {"validation_sigma0": 1.0}}


@dataclass(frozen=True)
class ChoiceSettings:
    weights: str = "lga-hpo"
    """Trained weights, by name or file."""
    others: tuple[str, ...] = ("lga-2",)
    """Weights for other purposes, to compare with."""
    populations: tuple[int, ...] = (4, 8)
    num_trials: int = 100


def variants(settings: ChoiceSettings) -> dict[str, Weights]:
    """By what was changed; the trained weights come first."""
    trained = resolve(settings.weights).theta
    usual = theta_layout(ThetaConfig(("sample", "scatter", "screen")))
    thetas = {
        "trained": trained,
        "trained, all variables count alike": without_relevance(trained),
        "trained, without screening": replace(trained, screen=None),
        "usual constants": usual,
        "usual constants, all variables count alike": without_relevance(usual),
        "usual constants, without screening": replace(usual, screen=None),
        "usual constants, without scattering": replace(usual, scatter=None),
    }
    return {name: known_by_content(name, theta, PROVENANCE) for name, theta in thetas.items()} | {
        name: resolve(name) for name in settings.others
    }


def without_relevance(theta: Theta) -> Theta:
    assert theta.screen is not None
    return replace(theta, screen=replace(theta.screen, relevance=jnp.full(1, OFF)))


def run(settings: ChoiceSettings, out: Path, console: Console) -> Outcome:
    use_compilation_cache()
    pools = validation_tasks(load_pools())
    version = Version("discrete", settings.num_trials, out / "surrogates")

    def regrets(weights: Weights, num_children: int) -> np.ndarray:
        """Over all trials, by pool."""
        entry, found = Entry(weights.name, as_shipped(weights), num_children), {}
        for bundle in bundles(entry, pools):
            curves = outcome(cell_of(entry, version, bundle), out / "cells")["incumbents"]
            found |= {pool.name: 1.0 - curve[:, 1:].mean() for pool, curve in zip(bundle, curves, strict=True)}
        return np.array([found[pool.name] for pool in pools])

    lines = [(name, own, size) for name, own in variants(settings).items() for size in settings.populations]
    measured = {
        (name, size): regrets(own, size) for name, own, size in track(lines, description="variants", console=console)
    }
    first = next(iter(measured.values()))
    rows = [
        {
            "variant": name,
            "num_children": size,
            "mean_regret": mean_interval(values)._asdict(),
            "minus_first": mean_interval(values - first)._asdict(),
        }
        for (name, size), values in measured.items()
    ]
    return Outcome({"num_pools": len(pools), "num_trials": settings.num_trials, "rows": rows}, table(rows))


def header() -> list[str]:
    return ["weights", "N", "mean regret over all trials (95 %, over pools)", "minus the first (95 %)"]


def cells(row: dict[str, Any]) -> list[str]:
    return [
        row["variant"],
        str(row["num_children"]),
        interval_text(row["mean_regret"], 4),
        interval_text(row["minus_first"], 4, signed=True),
    ]


def table(rows: list[dict[str, Any]]) -> Table:
    shown = Table(*header())
    for row in rows:
        shown.add_row(*cells(row))
    return shown


EXPERIMENT = Experiment(
    "what of lga-hpo helps, on pools of HPO-B that are no test tasks",
    {"paper": ChoiceSettings(), "smoke": ChoiceSettings(others=(), populations=(4,), num_trials=8)},
    run,
)
