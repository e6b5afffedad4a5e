"""Random search against the published one, trial by trial: how much of the difference is luck.

The published curve is of one search for each task and seed. So its standard error is that of as many searches: found by
drawing them again and again from the same pools and starts.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from rich.console import Console
from rich.progress import track
from rich.table import Table

from experiments.form import Experiment, Outcome
from lga.bench.hpob.games import PoolGame, incumbents
from lga.bench.hpob.report import MARKS
from lga.tasks.hpob import Pool, load_pools, test_tasks

FAR = 2.0
"""Standard errors."""


@dataclass(frozen=True)
class RandomSettings:
    published: Path = Path("results/hpob/published.json")
    repeats: int = 100
    seed: int = 0


def redrawn(pool: Pool, repeats: int, seed: int) -> Float[np.ndarray, "repeats marks"]:
    """Incumbents, the mean over seeds, of one benchmark after the other."""
    game, draw = PoolGame(pool, "features"), np.random.default_rng([seed, *pool.name.encode()])
    number = MARKS[-1]
    runs = [incumbents(game.initial_values, game.random_values(draw, number), number) for _ in range(repeats)]
    return np.array([run.mean(axis=0)[list(MARKS)] for run in runs])


def run(settings: RandomSettings, out: Path, console: Console) -> Outcome:
    pools = test_tasks(load_pools())
    published = json.loads(settings.published.read_text())["discrete"]["Random"]
    theirs = np.array([published[pool.name] for pool in pools])
    ours = np.array(
        [
            redrawn(pool, settings.repeats, settings.seed)
            for pool in track(pools, description="random search", console=console)
        ]
    )
    whole = ours.mean(axis=0)
    error, errors = whole.std(axis=0, ddof=1), ours.std(axis=1, ddof=1)
    gaps = theirs - ours.mean(axis=1)
    rows = [
        {
            "trial": trial,
            "published": float(theirs[:, mark].mean()),
            "ours": float(whole[:, mark].mean()),
            "standard_error": float(error[mark]),
            "in_errors": float(gaps[:, mark].mean() / error[mark]),
            "share_of_tasks_far": float(np.mean(np.abs(gaps[:, mark]) > FAR * errors[:, mark])),
        }
        for mark, trial in enumerate(MARKS)
        if trial > 0
    ]
    start = float(np.max(np.abs(gaps[:, 0])))
    return Outcome({"num_tasks": len(pools), "largest_gap_at_start": start, "rows": rows}, table(rows))


def header() -> list[str]:
    return ["trial", "published", "ours", "standard error", "difference in errors", "tasks beyond two errors"]


def cells(row: dict[str, Any]) -> list[str]:
    return [
        str(row["trial"]),
        f"{row['published']:.4f}",
        f"{row['ours']:.4f}",
        f"{row['standard_error']:.4f}",
        f"{row['in_errors']:+.1f}",
        f"{100 * row['share_of_tasks_far']:.0f} %",
    ]


def table(rows: list[dict[str, Any]]) -> Table:
    shown = Table(*header())
    for row in rows:
        shown.add_row(*cells(row))
    return shown


EXPERIMENT = Experiment(
    "random search on HPO-B against the published one",
    {"paper": RandomSettings(), "smoke": RandomSettings(repeats=4)},
    run,
)
