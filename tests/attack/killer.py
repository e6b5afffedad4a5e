"""Ends searches, trainings and comparisons at random moments, and looks at what is left of them."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from processes import descendants, is_alive, wait_until

SECONDS_TO_DIE = 20.0
LONGEST_AFTER_A_WRITE, LONGEST_AFTER_THE_START = 0.25, 2.0
# What must come out bit by bit, whether killed or not.
OUTCOMES = {
    "searched_alone": ["result.json"],
    "searched_by_workers": ["result.json"],
    "searched_by_commands": ["result.json"],
    "trained": ["run/best.safetensors", "run/final.safetensors", "run/checkpoint.safetensors"],
    "compared": ["run/digits.json"],
}
# What a piece of work writes on its way, and how often, until it is seen to have got on. A search first tries whether
# its checkpoint can be written.
SIGNS = {"trained": ("run/checkpoint.safetensors", 1), "compared": ("run/cells", 1)}
SIGN_OF_A_SEARCH = ("run", 2)


class Lives:
    """The process that makes others, which are killed."""

    def __init__(self, cache: Path):
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", str(Path(__file__).with_name("lives.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"XDG_CACHE_HOME": str(cache)},
        )

    def begin(self, piece: str, folder: Path) -> int:
        assert self.process.stdin is not None
        folder.mkdir(parents=True, exist_ok=True)
        self.process.stdin.write(json.dumps([piece, str(folder)]) + "\n")
        self.process.stdin.flush()
        return self.read()

    def read(self) -> int:
        assert self.process.stdout is not None
        return int(self.process.stdout.readline())

    def finished(self, piece: str, folder: Path) -> None:
        self.begin(piece, folder)
        assert self.read() == 0, (folder / "output").read_text()[-2000:]


@contextmanager
def lives(cache: Path) -> Iterator[Lives]:
    maker = Lives(cache)
    try:
        yield maker
    finally:
        maker.process.kill()
        maker.process.communicate()


def outcome(piece: str, folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in OUTCOMES[piece]}


def killed_and_finished(
    maker: Lives, piece: str, folder: Path, dice: random.Random, most: int, on_kill: Callable[[], None] = lambda: None
) -> int:
    """How often it was killed before it came to its end, by itself or undisturbed after the most kills.

    Nothing that it had started may outlive it.
    """
    for kills in range(most):
        pid = maker.begin(piece, folder)
        # Most kills come at any moment of the start, the others soon after something was written.
        if dice.random() < 0.2:
            sign, writes = SIGNS.get(piece, SIGN_OF_A_SEARCH)
            for _ in range(writes):
                wait_for_progress(folder / sign, pid)
            time.sleep(dice.uniform(0.0, LONGEST_AFTER_A_WRITE))
        else:
            time.sleep(dice.uniform(0.0, LONGEST_AFTER_THE_START))
        family = list(descendants(pid))
        if is_alive(pid):
            os.kill(pid, signal.SIGKILL)
        status = maker.read()
        wait_until(lambda family=family: not any(map(is_alive, family)), SECONDS_TO_DIE)
        if status == 0:
            return kills
        assert status == -signal.SIGKILL, (folder / "output").read_text()[-2000:]
        on_kill()
    maker.finished(piece, folder)
    return most


def wait_for_progress(path: Path, pid: int) -> None:
    """Until it has written once more, so that it gets on from life to life."""
    before = newest(path)
    while is_alive(pid) and newest(path) == before:
        time.sleep(0.005)


def newest(path: Path) -> int:
    files = [*path.iterdir()] if path.is_dir() else [path]
    times = []
    for file in files:
        try:
            times.append(file.stat().st_mtime_ns)
        except FileNotFoundError:
            continue
    return max(times, default=0)


def left_behind(folder: Path) -> list[str]:
    """Files that are none of the outcome: partial ones and locks."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob(".*"))
