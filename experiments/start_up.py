"""How long a user waits for the first answer: imports and a first search in new processes, beside importing JAX."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from experiments.form import Experiment, Outcome
from lga.core.checks import require

SEARCH = "import lga, numpy as np\nlga.minimize(lambda x: np.sum(x**2), [(-5, 5)] * 10, max_evaluations=2000, seed=0)"
REFERENCE = "import jax"
# The answer is there: what Python then takes to tidy up is not waited for.
ANSWERED = "\nimport os\nos._exit(0)"
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


class Seconds(NamedTuple):
    waited: float
    of_processors: float
    """Other programs may keep a user waiting; this they change little."""


def seconds_of(code: str, cache: Path) -> Seconds:
    begin = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", code + ANSWERED], env=os.environ | {"XDG_CACHE_HOME": str(cache)})
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    require(process.returncode == 0, f"the process ended with {process.returncode}: {code}")
    return Seconds(time.perf_counter() - begin, used.ru_utime + used.ru_stime)


def run(settings: Settings, out: Path, console: Console) -> Outcome:
    times: dict[str, list[Seconds]] = {name: [] for name in CASES}
    with tempfile.TemporaryDirectory() as shared:
        for code in (REFERENCE, SEARCH):
            seconds_of(code, Path(shared))  # reads files, compiles
        for _ in range(settings.rounds):
            for name, (code, compiled) in CASES.items():
                with tempfile.TemporaryDirectory() as empty:
                    times[name].append(seconds_of(code, Path(shared if compiled else empty)))
    waited, used = (
        {name: statistics.median(one[part] for one in own) for name, own in times.items()} for part in range(2)
    )
    table = Table("new process", "seconds", "seconds of processors", f"times {REFERENCE}")
    for name, seconds in used.items():
        table.add_row(name, f"{waited[name]:.2f}", f"{seconds:.2f}", f"{seconds / used[REFERENCE]:.2f}")
    return Outcome({"rounds": settings.rounds, "seconds": waited, "processor_seconds": used}, table)


EXPERIMENT = Experiment(
    "how long a user waits for the first answer of lga.minimize in a new process, beside importing JAX",
    {"smoke": Settings(rounds=1), "paper": Settings()},
    run,
)
