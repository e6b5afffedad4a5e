"""What the workers of somebody's executor have begun.

An executor that is lost does not tell which of its tasks were evaluated for nothing, and those count. So workers write
down what they begin, in a file that is there as long as the generation is.
"""

import os
import platform
import struct
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

try:
    import fcntl
except ImportError:
    fcntl = None  # Windows: there nobody waits for the other to have written.

import numpy as np

from lga.optimize.worker import Outcome, call, call_within, failed

ENTRY = struct.Struct("<q")


class Page(NamedTuple):
    """Where a worker notes that it begins a task."""

    path: str
    machine: str
    task: int


class Ledger:
    """A file of this generation, gone when it is closed."""

    def __init__(self) -> None:
        self.descriptor, self.path = tempfile.mkstemp(prefix="lga-begun-")
        self.is_open = True

    def page(self, task: int) -> Page:
        return Page(self.path, this_machine(), task)

    def close(self) -> set[int]:
        """The tasks that were begun. From now on none is."""
        if not self.is_open:
            return set()
        self.is_open = False
        with suppress(OSError):
            lock(self.descriptor)
        Path(self.path).unlink(missing_ok=True)
        content = os.pread(self.descriptor, os.fstat(self.descriptor).st_size, 0)
        os.close(self.descriptor)
        return {task for (task,) in ENTRY.iter_unpack(content[: len(content) // ENTRY.size * ENTRY.size])}

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def call_once(page: Page, fun: Callable[[Any], Any], solution: np.ndarray, timeout: float | None) -> Outcome:
    """An evaluation in an executor's worker, if it is still wanted."""
    if not begin(page):
        return failed("missing", "the search no longer waits for it")
    return call(fun, solution) if timeout is None else call_within(fun, solution, timeout)


def begin(page: Page) -> bool:
    """Notes it down. Other machines have no ledger: what they begin is not known when an executor is lost."""
    if page.machine != this_machine():
        return True
    try:
        descriptor = os.open(page.path, os.O_WRONLY | os.O_APPEND)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        with suppress(OSError):
            lock(descriptor)
        if os.fstat(descriptor).st_nlink == 0:
            return False
        os.write(descriptor, ENTRY.pack(page.task))
        return True
    finally:
        os.close(descriptor)


def lock(descriptor: int) -> None:
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)


@cache
def this_machine() -> str:
    boot = Path("/proc/sys/kernel/random/boot_id")
    return f"{platform.node()} {boot.read_text().strip() if boot.exists() else ''}"
