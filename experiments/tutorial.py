"""The pictures of `docs/tutorial.md`."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console

from experiments.form import Experiment, Outcome
from lga.analysis import figures
from lga.optimize.minimize import minimize


def valleys(x: np.ndarray) -> float:
    """A bowl with waves: many valleys, one of them the deepest, at (1, -2, 1, -2, …)."""
    offset = np.asarray(x) - np.resize([1.0, -2.0], len(x))
    return float(np.sum(offset**2) + 4.0 * np.sum(1.0 - np.cos(3.0 * offset)) + 1e-3)


@dataclass(frozen=True)
class TutorialSettings:
    max_evaluations: int = 12_000
    """Of the longer search, in six dimensions."""
    resolution: int = 160


def draw(settings: TutorialSettings, out: Path, console: Console) -> Outcome:
    seen: list[np.ndarray] = []

    def objective(x: np.ndarray) -> float:
        seen.append(x)
        return valleys(x)

    result = minimize(objective, [(-5, 5), (-5, 5)], seed=0)
    ticks = np.linspace(-5.0, 5.0, settings.resolution)
    values = np.array([[valleys(np.array([a, b])) for a in ticks] for b in ticks])
    title = f"{result.nfev:,} evaluations, restarts: {result.restarts}"
    figures.search_in_plane(ticks, np.sqrt(values), np.array(seen), result.x, title, out / "tutorial_search.png")
    longer = minimize(valleys, [(-5, 5)] * 6, seed=0, max_evaluations=settings.max_evaluations)
    figures.search_history(longer.history, out / "tutorial_history.png")
    return Outcome()


EXPERIMENT = Experiment(
    "how a search looks: the pictures of the tutorial",
    {"smoke": TutorialSettings(500, 10), "paper": TutorialSettings()},
    draw,
    out=Path("docs/pictures"),
)
