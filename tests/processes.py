"""Processes as the tests see them, in /proc."""

import time
from collections.abc import Callable
from pathlib import Path


def wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def is_alive(pid: int) -> bool:
    return state_and_parent(pid)[0] not in ("", "Z")


def state_and_parent(pid: int) -> tuple[str, int]:
    try:
        state, parent, *_ = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return "", 0
    return state, int(parent)


def descendants(parent: int) -> dict[int, list[str]]:
    """All that a process has started, and what that has started, with their command lines; zombies are gone."""
    numbers = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    parents = {pid: origin for pid in numbers for state, origin in [state_and_parent(pid)] if state not in ("", "Z")}
    found: dict[int, list[str]] = {}
    generation = [parent]
    while generation:
        generation = [pid for pid, origin in parents.items() if origin in generation]
        found |= {pid: words_of(pid) for pid in generation}
    return found


def words_of(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except (FileNotFoundError, ProcessLookupError):
        return []
