"""A process that outlives its parent by a moment, to end what the parent can no longer end.

A worker in C code that holds the interpreter's lock does not notice that its parent is gone, and what it has started
knows nothing of either. All of them are one process group for each worker, and the guard kills these groups when its
pipe ends, for whatever reason the parent ended.
"""

import os
import subprocess
import sys
from contextlib import suppress

# It imports next to nothing, so that it starts in a few milliseconds.
PROGRAM = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
groups = set()
for line in sys.stdin:
    (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
for group in groups:
    for end in (os.killpg, os.kill):
        try:
            end(group, signal.SIGKILL)
        except OSError:
            pass
"""


class Guard:
    """Knows the process groups of our workers. Where there are no process groups it does nothing."""

    def __init__(self) -> None:
        self.process: subprocess.Popen | None = None
        if hasattr(os, "killpg"):
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                text=True,
                bufsize=1,
                start_new_session=True,
                cwd="/",
            )

    def watch(self, group: int | None) -> None:
        self._tell(f"+{group}")

    def release(self, group: int | None) -> None:
        self._tell(f"-{group}")

    def _tell(self, line: str) -> None:
        # A guard that somebody has killed is done without: workers also ask the kernel to be ended with their parent.
        if self.process is not None and self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.write(f"{line}\n")

    def close(self) -> None:
        """When no group is left: then it has nothing to do, and need not find out that its pipe has ended."""
        if self.process is not None and self.process.stdin is not None:
            self.process.kill()
            self.process.wait()
            with suppress(OSError):
                self.process.stdin.close()
