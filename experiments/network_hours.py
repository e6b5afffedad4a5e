"""How long the comparison on networks takes: runs counted, and a generation of each task timed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from experiments.form import Experiment, Outcome, described
from lga.bench.network_runs import compiled_task, scale_of
from lga.bench.neuro import ALGORITHMS, compared_methods, cost
from lga.core.compile_cache import use_compilation_cache
from lga.tasks.control import PAPER_ROBOTS

MINATAR = ("minatar-spaceinvaders", "minatar-breakout", "minatar-asterix")
PAPER_TASKS = ("pendulum", "mnist", "fashion-mnist", "k-mnist", *MINATAR, *PAPER_ROBOTS)
SEEDS = 5
HEADER = ("task", "weights", "networks to tune by", "networks of the report", "s / generation", "hours of one process")


@dataclass(frozen=True)
class HoursSettings:
    size: str = "medium"
    """Preset of `lga bench neuro`."""
    tasks: tuple[str, ...] = PAPER_TASKS


def run(settings: HoursSettings, out: Path, console: Console) -> Outcome:
    use_compilation_cache()
    rows = []
    for name in settings.tasks:
        console.print(f"{name} ...")
        rows.append(hours_of(name, settings.size))
    table = Table(*HEADER)
    for row in rows:
        table.add_row(*cells(row))
    return Outcome({"config": described(settings), "rows": rows}, table)


def hours_of(name: str, size: str) -> dict[str, Any]:
    scale = scale_of(name, size)
    task = compiled_task(name, scale.task)
    expected = cost(name, task, compared_methods(name, task, ALGORITHMS, scale), scale, SEEDS)
    return {
        "task": name,
        "num_weights": task.num_weights,
        "num_seeds": SEEDS,
        "evaluations": expected.evaluations,
        "seconds_a_generation": expected.seconds_a_generation,
        "hours": expected.hours,
    }


def cells(row: dict[str, Any]) -> list[str]:
    return [
        row["task"],
        f"{row['num_weights']:,}",
        *(f"{number:,}" for number in row["evaluations"].values()),
        f"{row['seconds_a_generation']:.2f}",
        f"{row['hours']:.1f}",
    ]


EXPERIMENT = Experiment(
    "hours that `lga bench neuro` takes on each task, by counting runs and timing a generation",
    {"smoke": HoursSettings("smoke", ("digits",)), "paper": HoursSettings()},
    run,
)
