"""One line that tells how a search is doing."""

import sys
import time
from typing import TextIO


class ProgressLine:
    """On a terminal the line is renewed a few times a second; elsewhere a line is written now and then."""

    def __init__(self, stream: TextIO | None = None):
        self.stream = stream or sys.stderr
        self.live = self.stream.isatty()
        self.every = 0.2 if self.live else 10.0
        self.last = -float("inf")
        self.begin = time.monotonic()

    def __call__(self, evaluations: int, limit: int | None, best: float, failures: int, popsize: int) -> None:
        now = time.monotonic()
        if now - self.last < self.every:
            return
        self.last = now
        self.write(evaluations, limit, best, failures, popsize)

    def write(self, evaluations: int, limit: int | None, best: float, failures: int, popsize: int) -> None:
        of = "" if limit is None else f" of {limit:,}"
        trouble = f", {failures:,} failed" if failures else ""
        line = (
            f"{time.monotonic() - self.begin:.0f} s: {evaluations:,}{of} evaluations{trouble}, "
            f"population {popsize}, best {best:.8g}"
        )
        self.stream.write(f"\r\x1b[2K{line}" if self.live else f"{line}\n")
        self.stream.flush()

    def close(self, evaluations: int, limit: int | None, best: float, failures: int, popsize: int) -> None:
        self.write(evaluations, limit, best, failures, popsize)
        if self.live:
            self.stream.write("\n")
