"""Fitness features against what the operators make of them (the paper's figure 31)."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from experiments.dissection import Dissected, Searches, dissect
from experiments.form import Experiment, Outcome, described
from lga.analysis.operators import feature_scatter

FEATURES = {"rank": 1, "z-score": 2}


@dataclass(frozen=True)
class ReverseSettings:
    weights: tuple[str, ...] = ("lga-paper", "lga-1", "lga-2")
    searches: Searches = field(default_factory=Searches)


def pairs(found: Dissected) -> dict[str, dict[str, tuple[np.ndarray, np.ndarray]]]:
    """For each output and each feature all points: of parents for the rate, of children for selection."""
    change = np.log(np.asarray(found.multipliers)).ravel()
    # Rows of the selection matrix are averaged: the logit of a child, whoever the parent is.
    logits = np.asarray(found.logits).mean(axis=-2).ravel()
    of_parents, of_children = np.asarray(found.parents_of_children), np.asarray(found.child_features)
    return {
        "log of the rate's multiplier": {name: (of_parents[..., k].ravel(), change) for name, k in FEATURES.items()},
        "mean selection logit": {name: (of_children[..., k].ravel(), logits) for name, k in FEATURES.items()},
    }


def line(points: tuple[np.ndarray, np.ndarray]) -> dict[str, float]:
    """The straight line through the points, and how much of their variance it tells."""
    x, y = points
    slope, offset = np.polyfit(x, y, 1)
    return {"slope": float(slope), "offset": float(offset), "r_squared": float(np.corrcoef(x, y)[0, 1] ** 2)}


def run(settings: ReverseSettings, out: Path, console: Console) -> Outcome:
    rows: list[dict[str, Any]] = []
    for name in settings.weights:
        points = pairs(dissect(name, settings.searches))
        feature_scatter(points, name, out / f"reverse_engineering_{name}.png")
        rows += [
            {"weights": name, "output": output, "feature": feature, **line(own)}
            for output, features in points.items()
            for feature, own in features.items()
        ]
    table = Table("weights", "output", "feature", "slope", "R squared")
    for row in rows:
        table.add_row(row["weights"], row["output"], row["feature"], f"{row['slope']:+.2f}", f"{row['r_squared']:.2f}")
    return Outcome({"config": described(settings), "rows": rows}, table)


EXPERIMENT = Experiment(
    "figure 31: rank and z-score against the change of the rate and the selection logits, as scatter plots",
    {
        "smoke": ReverseSettings(("lga-paper",), Searches(num_generations=3, num_seeds=2)),
        "small": ReverseSettings(),
        "paper": ReverseSettings(),
    },
    run,
)
