"""Objectives that fail in every way there is, evaluated in every way there is, and the proof that all was counted.

Each call is written down by the objective itself before it does anything. The checker replays this record: as many
calls as were counted, failures by kind, and a reported best that is the best of all values that were returned.
"""

import asyncio
import json
import math
import os
import struct
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import lga

ENTRY = struct.Struct("<Bd")


class UnspeakableError(Exception):
    def __str__(self):
        raise RuntimeError("no words")


def raises(error: BaseException):
    raise error


def forks_and_raises() -> float:
    if os.fork() == 0:
        raise RuntimeError("in the child")
    return math.nan


def closes_and_sleeps() -> None:
    os.closerange(3, 256)
    time.sleep(3600.0)


# What an objective does, and the kind of failure that it is.
HARMLESS = {
    "raises": ("exception", lambda: raises(ArithmeticError("a bad mood"))),
    "exits": ("exception", lambda: raises(SystemExit(3))),
    "is_cancelled": ("exception", lambda: raises(asyncio.CancelledError())),
    "is_unspeakable": ("exception", lambda: raises(UnspeakableError())),
    "complains_at_length": ("exception", lambda: raises(RuntimeError("x" * 100_000))),
    "gives_up": ("timeout", lambda: raises(TimeoutError("by itself"))),
    "returns_nan": ("nan", lambda: math.nan),
    "returns_inf": ("plus_inf", lambda: np.inf),
    "returns_minus_inf": ("minus_inf", lambda: -math.inf),
    "returns_text": ("wrong_type", lambda: "three"),
    "returns_none": ("wrong_type", lambda: None),
    "returns_two": ("wrong_type", lambda: np.zeros(2)),
    "returns_masked": ("wrong_type", lambda: np.ma.masked),
    "returns_complex": ("wrong_type", lambda: 1j),
}
# Only a process of its own survives these.
DEADLY = {
    "dies": ("dead_worker", lambda: os._exit(7)),
    "kills_itself": ("dead_worker", lambda: os.kill(os.getpid(), 9)),
    "closes_and_sleeps": ("dead_worker", closes_and_sleeps),
    "hangs": ("timeout", lambda: time.sleep(3600.0)),
    "forks": ("nan", forks_and_raises),
}
FAULTS = HARMLESS | DEADLY
NAMES = tuple(FAULTS)
SUCCESS = len(NAMES)


def value_of(x: np.ndarray) -> float:
    return float(np.sum((x - 0.7) ** 2) + np.sum(np.abs(np.sin(5.0 * x))))


@dataclass(frozen=True)
class Objective:
    """Fails in a given share of its calls, in the given ways; the seed and the number of the call decide."""

    log: str
    faults: tuple[str, ...]
    share: float
    seed: int

    def __call__(self, x: Any) -> Any:
        descriptor = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        dice = np.random.default_rng([self.seed, os.fstat(descriptor).st_size // ENTRY.size, os.getpid()])
        fails = dice.uniform() < self.share
        fault = NAMES.index(self.faults[dice.integers(len(self.faults))]) if fails else SUCCESS
        value = value_of(np.asarray(x))
        os.write(descriptor, ENTRY.pack(fault, value))
        os.close(descriptor)
        return FAULTS[NAMES[fault]][1]() if fails else value


@dataclass(frozen=True)
class Vectorized:
    """Rows that fail by their value; exceptions spoil the whole call, and each row is then tried alone."""

    one: Objective

    def __call__(self, x: np.ndarray) -> np.ndarray:
        # All of them are called, also after one that fails: in a call that is spoilt all rows count.
        rows = [self.row(one) for one in x]
        bad = [row for row in rows if not isinstance(row, float)]
        if bad:
            raise ValueError(f"{len(bad)} bad rows")
        return np.array(rows)

    def row(self, x: np.ndarray) -> Any:
        try:
            return self.one(x)
        except BaseException as error:
            return error


@dataclass(frozen=True)
class Case:
    evaluator: str
    on_error: str
    faults: tuple[str, ...]
    share: float
    seed: int
    popsize: int
    num_dims: int
    budget: int
    direction: str = "minimize"
    reevaluate: int = 0
    algorithm: str = "samr_ga"
    """Quick to compile; what is attacked is around the algorithm."""


EVALUATORS = ("in_process", "vectorized", "threads", "processes")


def attack(case: Case, folder: Path) -> Counter[str]:
    """Runs one search and checks all that it tells; returns the faults that were injected, by what was done."""
    log = folder / "calls"
    log.unlink(missing_ok=True)
    objective = Objective(str(log), case.faults, case.share, case.seed)
    arguments: dict[str, Any] = {
        "popsize": case.popsize,
        "seed": case.seed,
        "max_evaluations": case.budget,
        "on_error": case.on_error,
        "direction": case.direction,
        "reevaluate": case.reevaluate,
        "algorithm": case.algorithm,
    }
    box = [(-5.0, 5.0)] * case.num_dims
    before = footprint()
    match case.evaluator:
        case "in_process":
            result = lga.minimize(objective, box, **arguments)
        case "vectorized":
            result = lga.minimize(Vectorized(objective), box, vectorized=True, **arguments)
        case "threads":
            with ThreadPoolExecutor(3) as executor:
                result = lga.minimize(objective, box, workers=executor, **arguments)
        case "processes":
            result = lga.minimize(objective, box, workers=2, timeout=5.0, **arguments)
        case _:
            raise ValueError(case.evaluator)
    check(case, result, log, box)
    after = footprint()
    assert after == before, f"descriptors, children and files were {before} and are {after}"
    return Counter(NAMES[fault] for fault, _ in calls(log) if fault != SUCCESS)


def calls(log: Path) -> list[tuple[int, float]]:
    return list(ENTRY.iter_unpack(log.read_bytes())) if log.exists() else []


def check(case: Case, result: Any, log: Path, box: list[tuple[float, float]]) -> None:
    done = calls(log)
    sign = 1.0 if case.direction == "minimize" else -1.0
    assert len(done) == result.nfev <= case.budget, f"{len(done)} calls, {result.nfev} counted"
    if case.evaluator != "vectorized":
        expected = Counter(FAULTS[NAMES[fault]][0] for fault, _ in done if fault != SUCCESS)
        counted = Counter({kind: count for kind, count in result.failures.items() if count})
        assert counted == expected, f"failures are {counted}, but were {expected}"
    successes = [value for fault, value in done if fault == SUCCESS]
    if result.x is None:
        # A row that succeeds in a call that another one has spoilt has no value.
        assert not successes or case.evaluator == "vectorized"
        return
    assert all(low <= one <= high for one, (low, high) in zip(result.x, box, strict=True))
    assert result.fun == value_of(result.x) or case.reevaluate
    if case.evaluator != "vectorized" and not case.reevaluate:
        assert sign * result.fun == min(sign * value for value in successes), "the best is not the best"
    parents, values = result.population, result.population_values
    for solution, value in zip(parents, values, strict=True):
        assert not math.isfinite(value) or value == value_of(solution) or case.reevaluate


def footprint() -> tuple[int, int]:
    """Open descriptors and children of this process, other than multiprocessing's tracker."""
    task = Path(f"/proc/{os.getpid()}/task")
    children = [pid for one in task.glob("*/children") for pid in one.read_text().split()]
    own = [pid for pid in children if b"resource_tracker" not in command_line(pid)]
    descriptors = [os.path.realpath(one) for one in Path("/proc/self/fd").iterdir()]
    return sum(":" in one or "deleted" in one for one in descriptors) - bool(len(children) - len(own)), len(own)


def command_line(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def command_case(case: Case, folder: Path) -> Counter[str]:
    """The same through the command line, where every call is a program."""
    log, script = folder / "calls", folder / "program.py"
    log.unlink(missing_ok=True)
    script.write_text(PROGRAM)
    words = [sys.executable, "-S", str(script), str(log), str(case.share), str(case.seed)]
    command = " ".join([*words, *(f"{{x{place}}}" for place in range(case.num_dims))])
    limits = ["--popsize", case.popsize, "--seed", case.seed, "--max-evaluations", case.budget, "--no-progress"]
    search = ["--command", command, "--bounds", *["-5:5"] * case.num_dims, "--workers", 2, "--on-error", case.on_error]
    out = folder / "result.json"
    done = subprocess.run([sys.executable, "-m", "lga", "minimize", *map(str, [*search, *limits, "--out", out])])
    assert done.returncode == 0
    result = json.loads(out.read_text())
    lines = log.read_text().split()
    assert len(lines) == result["nfev"]
    assert sum(result["failures"].values()) == lines.count("fails")
    values = [float(line) for line in lines if line != "fails"]
    assert result["fun"] == (min(values) if values else None)
    return Counter(command_fails=lines.count("fails"))


PROGRAM = """
import os, sys
log, share, seed, *x = sys.argv[1:]
descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
fails = (hash((seed, os.fstat(descriptor).st_size, *x)) % 1000) / 1000 < float(share)
value = sum((float(one) - 0.7) ** 2 for one in x)
os.write(descriptor, ("fails" if fails else repr(value)).encode() + b"\\n")
if fails:
    [sys.exit, lambda code: print("no number"), lambda code: os.abort()][os.getpid() % 3](3)
else:
    print("cost", repr(value))
"""


def random_case(dice: np.random.Generator, evaluator: str, budget: int) -> Case:
    """A case of the large run; what hypothesis draws in the tests."""
    can_die = evaluator == "processes"
    faults = [*HARMLESS, *("dies", "kills_itself", "forks")] if can_die else list(HARMLESS)
    chosen = dice.choice(faults, size=dice.integers(1, len(faults) + 1), replace=False)
    return Case(
        evaluator=evaluator,
        on_error=str(dice.choice(["penalize", "retry"])),
        faults=tuple(map(str, chosen)),
        share=float(dice.choice([0.02, 0.05]) if can_die else dice.uniform(0.3, 1.0)),
        seed=int(dice.integers(2**31)),
        popsize=int(dice.choice([8, 16])),
        num_dims=int(dice.choice([2, 3])),
        budget=budget,
        direction=str(dice.choice(["minimize", "maximize"])),
        reevaluate=int(dice.choice([0, 0, 2])),
        algorithm=str(dice.choice(["lga", "samr_ga", "samr_ga", "samr_ga"])),
    )
