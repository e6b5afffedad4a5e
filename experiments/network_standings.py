"""The paper's figure 7: curves of all networks that were evolved, and who is ahead of whom on which task."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from experiments.form import Experiment, Outcome, described
from lga.analysis import figures
from lga.bench.methods import HAND_DESIGNED
from lga.bench.neuro import GENETIC
from lga.bench.statistics import Interval, interval_text, mean_interval
from lga.core.checks import require
from lga.weights import EVOSAX_LGA

MEASURE = "elite"
BASELINES = tuple(HAND_DESIGNED[name].name for name in GENETIC)
HEADER = ("task", "algorithm", "best hand-designed GA", "ahead of it by", f"ahead of {EVOSAX_LGA} by", "place")


@dataclass(frozen=True)
class StandingsSettings:
    reports: Path = Path("results/neuro/medium")
    """Folder of the reports of `lga bench neuro`, one for each task."""
    ours: tuple[str, ...] = ("lga-paper", "lga-1", "lga-net")


def run(settings: StandingsSettings, out: Path, console: Console) -> Outcome:
    reports = [json.loads(path.read_text()) for path in sorted(settings.reports.glob("*.json"))]
    reports = [report for report in reports if "score" in report]
    require(bool(reports), f"{settings.reports} holds no report of lga bench neuro.")
    panels = {
        f"{report['task']}: {report['score']}": {row["algorithm"]: row["curves"][MEASURE] for row in report["rows"]}
        for report in reports
    }
    out.mkdir(parents=True, exist_ok=True)
    figures.learning_curves(panels, out / "curves.png", columns=3)
    rows = [standing for report in reports for standing in standings(report, settings.ours)]
    table = Table(*HEADER)
    for row in rows:
        table.add_row(*cells(row))
    return Outcome({"config": described(settings), "rows": rows}, table)


def standings(report: dict[str, Any], ours: Iterable[str]) -> list[dict[str, Any]]:
    """Of each of our algorithms on one task: differences to others, paired by seed, since seeds share their luck."""
    scores = {row["algorithm"]: np.asarray(row["per_seed"][MEASURE]) for row in report["rows"]}
    order = sorted(scores, key=lambda name: -scores[name].mean())
    best = next(name for name in order if name in BASELINES)

    def lead(name: str, other: str) -> Interval:
        return mean_interval(scores[name] - scores[other])

    return [
        {
            "task": report["task"],
            "algorithm": name,
            "best_genetic": best,
            "ahead_of_genetic": lead(name, best)._asdict(),
            "ahead_of_evosax": lead(name, EVOSAX_LGA)._asdict() if EVOSAX_LGA in scores else None,
            "place": order.index(name) + 1,
            "num_algorithms": len(order),
            "digits": 1 if max(abs(own.mean()) for own in scores.values()) > 10 else 3,
        }
        for name in ours
        if name in scores
    ]


COUNTS = ("algorithm", "tasks", "ahead of all hand-designed GAs", "beyond chance", f"ahead of {EVOSAX_LGA}", "last")


def counts(rows: Iterable[dict[str, Any]]) -> list[list[str]]:
    """On how many tasks each of our algorithms is ahead: by the mean over seeds, and by the whole interval."""

    def row(name: str) -> list[str]:
        own = [row for row in rows if row["algorithm"] == name]
        theirs = [row["ahead_of_evosax"] for row in own if row["ahead_of_evosax"] is not None]
        numbers = (
            len(own),
            sum(row["ahead_of_genetic"]["mean"] > 0 for row in own),
            sum(row["ahead_of_genetic"]["low"] > 0 for row in own),
            sum(lead["mean"] > 0 for lead in theirs),
            sum(row["place"] == row["num_algorithms"] for row in own),
        )
        return [name, *map(str, numbers)]

    rows = list(rows)
    return [row(name) for name in dict.fromkeys(row["algorithm"] for row in rows)]


def cells(row: dict[str, Any]) -> list[str]:
    theirs = row["ahead_of_evosax"]
    return [
        row["task"],
        row["algorithm"],
        row["best_genetic"],
        interval_text(row["ahead_of_genetic"], row["digits"], signed=True),
        "" if theirs is None else interval_text(theirs, row["digits"], signed=True),
        f"{row['place']} of {row['num_algorithms']}",
    ]


EXPERIMENT = Experiment(
    "networks evolved by all algorithms: curves of all tasks, and who is ahead (from results of `lga bench neuro`)",
    {"paper": StandingsSettings()},
    run,
)
