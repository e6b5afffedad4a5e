"""How long a user waits for the first answer: imports and a first search in new processes, beside importing JAX."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from experiments.form import Experiment, Outcome

SEARCH = "import lga, numpy as np\nlga.minimize(lambda x: np.sum(x**2), [(-5, 5)] * 10, max_evaluations=2000, seed=0)"
REFERENCE = "import jax"
# What a process runs, and whether programs that an earlier one compiled are at hand.
CASES = {
    REFERENCE: (REFERENCE, True),
    "import lga": ("import lga", True),
    "import lga, and the name lga.minimize": ("import lga\nlga.minimize", True),
    "first search, nothing compiled": (SEARCH, False),
    "the same search in a second process": (SEARCH, True),
}


@dataclass(frozen=True)
class Settings:
    """A sphere in 10 dimensions with 2,000 evaluations is searched."""

    rounds: int = 5
    """Turns of each case; the median counts."""


def seconds_of(code: str, cache: Path) -> float:
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], env=os.environ | {"XDG_CACHE_HOME": str(cache)}, check=True)
    return time.perf_counter() - begin


def run(settings: Settings, out: Path, console: Console) -> Outcome:
    times: dict[str, list[float]] = {name: [] for name in CASES}
    with tempfile.TemporaryDirectory() as shared:
        for code in (REFERENCE, SEARCH):
            seconds_of(code, Path(shared))  # reads files, compiles
        for _ in range(settings.rounds):
            for name, (code, compiled) in CASES.items():
                with tempfile.TemporaryDirectory() as empty:
                    times[name].append(seconds_of(code, Path(shared if compiled else empty)))
    medians = {name: statistics.median(own) for name, own in times.items()}
    table = Table("new process", "seconds", f"times {REFERENCE}")
    for name, seconds in medians.items():
        table.add_row(name, f"{seconds:.2f}", f"{seconds / medians[REFERENCE]:.2f}")
    return Outcome({"rounds": settings.rounds, "seconds": medians}, table)


EXPERIMENT = Experiment(
    "how long a user waits for the first answer of lga.minimize in a new process, beside importing JAX",
    {"smoke": Settings(rounds=1), "paper": Settings()},
    run,
)
