"""One line that tells how a search is doing."""

import sys
import time
from contextlib import suppress
from typing import TextIO

from scipy.optimize import OptimizeResult


class ProgressLine:
    """On a terminal the line is renewed a few times a second; elsewhere a line is written now and then."""

    def __init__(self, stream: TextIO | None = None):
        self.stream: TextIO | None = stream or sys.stderr
        self.live = False
        with suppress(OSError, ValueError):
            self.live = self.stream is not None and self.stream.isatty()
        self.every = 0.2 if self.live else 10.0
        self.last = -float("inf")
        self.begin = time.monotonic()

    def __call__(self, so_far: OptimizeResult, limit: int | None, is_last: bool = False) -> None:
        now = time.monotonic()
        if now - self.last < self.every and not is_last:
            return
        self.last = now
        of = "" if limit is None else f" of {limit:,}"
        failures = sum(so_far.failures.values())
        trouble = f", {failures:,} failed" if failures else ""
        line = (
            f"{now - self.begin:.0f} s: {so_far.nfev:,}{of} evaluations{trouble}, "
            f"population {so_far.popsize}, best {so_far.fun:.8g}"
        )
        end = "\n" if is_last or not self.live else ""
        self.write(f"\r\x1b[2K{line}{end}" if self.live else f"{line}{end}")

    def say(self, what: str) -> None:
        """Something that takes a while begins. Only where the line is renewed: elsewhere it would be one more."""
        if self.live:
            self.write(f"\r\x1b[2K{what} …")

    def write(self, text: str) -> None:
        """Nobody may be there to read it: that must not cost the search."""
        if self.stream is not None:
            try:
                self.stream.write(text)
                self.stream.flush()
            except (OSError, ValueError):
                self.stream = None
