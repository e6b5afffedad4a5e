"""Objectives for tests, in a module that worker processes can import, and the comparison of results."""

import fcntl
import os
import time
import zlib
from pathlib import Path

import numpy as np

KINDS = ("raises", "nan", "plus_inf", "minus_inf", "string", "wrong_shape", "hangs", "dies")
HARMLESS_FATES = KINDS[:6]
FAILURE_OF = {
    "raises": "exception",
    "nan": "nan",
    "plus_inf": "plus_inf",
    "minus_inf": "minus_inf",
    "string": "wrong_type",
    "wrong_shape": "wrong_type",
    "hangs": "timeout",
    "dies": "dead_worker",
}


def failures_of(result) -> dict[str, int]:
    """Those that happened."""
    return {kind: count for kind, count in result.failures.items() if count}


def assert_same(one, other):
    """Two results of one search, bit by bit."""
    np.testing.assert_array_equal(one.x, other.x)
    np.testing.assert_array_equal(one.population, other.population)
    for name, column in other.history.items():
        np.testing.assert_array_equal(one.history[name], column)
    assert (one.fun, one.nfev, one.nit, one.failures) == (other.fun, other.nfev, other.nit, other.failures)
    assert (one.restarts, one.message, one.status) == (other.restarts, other.message, other.status)


def sphere(x):
    return float(np.sum((np.asarray(x) - 0.7) ** 2))


def slow_sphere(x):
    time.sleep(0.002)
    return sphere(x)


def slow_and_recorded(x, folder):
    (folder / str(os.getpid())).touch()
    time.sleep(30.0)


def steps(x):
    """Flat nearly everywhere, so that a search on it stagnates."""
    return float(np.sum(np.floor(np.abs(x))))


def fate(x, share: int = 3) -> str:
    """What is to become of a solution: one in three is bad, and it is the same for a solution in all processes."""
    number = zlib.crc32(np.asarray(x, float).tobytes())
    return KINDS[number // share % len(KINDS)] if number % share == 0 else "succeeds"


class Faulty:
    """Every third call fails, in every way there is by turns. All processes share the log of what was done."""

    def __init__(self, log: Path, kinds=KINDS):
        self.log, self.kinds = log, kinds

    def __call__(self, x):
        with open(self.log, "a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            turn = len(file.readlines())
            kind = self.kinds[turn // 3 % len(self.kinds)] if turn % 3 == 2 else "succeeds"
            file.write(f"{kind}\n")
        return misbehave(kind, x)

    def counts(self) -> dict[str, int]:
        done = self.log.read_text().split()
        return {kind: done.count(kind) for kind in ("succeeds", *KINDS)}

    def failures(self) -> dict[str, int]:
        expected: dict[str, int] = {}
        for kind, count in self.counts().items():
            if kind != "succeeds" and count:
                expected[FAILURE_OF[kind]] = expected.get(FAILURE_OF[kind], 0) + count
        return expected


def misbehave(kind: str, x):
    match kind:
        case "raises":
            raise ArithmeticError("the objective is in a bad mood")
        case "nan":
            return float("nan")
        case "plus_inf":
            return float("inf")
        case "minus_inf":
            return -np.inf
        case "string":
            return "three"
        case "wrong_shape":
            return np.zeros(2)
        case "hangs":
            time.sleep(3600)
        case "dies":
            os._exit(7)
    return sphere(x)


class DiesUnlessMarked:
    """The first evaluation of all kills its worker; a file remembers that."""

    def __init__(self, mark: Path):
        self.mark = mark

    def __call__(self, x):
        try:
            self.mark.touch(exist_ok=False)
        except FileExistsError:
            return sphere(x)
        os._exit(3)
