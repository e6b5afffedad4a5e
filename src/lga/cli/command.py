"""An objective that starts a program. Worker processes import this: it must not import JAX."""

import re
import shlex
import string
import subprocess
import threading
from typing import IO, Any, NamedTuple

from lga.core.checks import require

MOST_OUTPUT = 65536
"""Bytes that are kept of what a program writes: its end, where the value is."""

SHELL_SIGNS = ("|", "||", "&&", "&", ";", ">", ">>", "<", "2>", "2>&1")


class Variable(NamedTuple):
    name: str
    low: float | None
    high: float | None
    integer: bool
    log: bool


def by_name(variables: list[Variable], x: Any) -> dict[str, int | float]:
    pairs = zip(variables, x, strict=True)
    return {variable.name: int(value) if variable.integer else float(value) for variable, value in pairs}


class Command:
    """Runs in a worker process, and in its process group: with the worker ends all that the program has started."""

    def __init__(self, template: str, variables: list[Variable], shell: bool = False):
        self.words, self.variables = ["/bin/sh", "-c", template] if shell else shlex.split(template), variables
        used = {field for word in self.words for _, field, _, _ in string.Formatter().parse(word) if field is not None}
        known = {variable.name for variable in variables}
        require(
            used <= known,
            f"command uses {sorted(used - known)}, but the variables are: {', '.join(sorted(known))}.",
        )
        require(
            bool(used) or not known,
            f"command is {template!r}, but uses none of the variables: write {{NAME}} where one belongs.",
        )
        signs = [word for word in self.words if word in SHELL_SIGNS and not shell]
        require(
            not signs,
            f"command is {template!r}, which is started without a shell, but {signs[0] if signs else ''!r} is for one: "
            "give --shell, or put it into a script.",
        )
        # A checkpoint knows the objective by its name.
        self.__qualname__ = template

    def __call__(self, x: Any) -> float:
        values = by_name(self.variables, x)
        words = [word.format(**values) for word in self.words]
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        with subprocess.Popen(words, stdin=nothing, stdout=pipe, stderr=pipe) as process:
            printed, complaint = Tail(process.stdout), Tail(process.stderr)
            printed.thread.join()
            complaint.thread.join()
        if process.returncode != 0:
            raise RuntimeError(f"{shlex.join(words)} ended with {process.returncode}: {complaint.text.strip()[-400:]}")
        value = last_number(printed.text)
        if value is None:
            raise RuntimeError(f"{shlex.join(words)} printed no number: {printed.text.strip()[-400:]!r}")
        return value


class Tail:
    """The end of a stream, read by a thread of its own, so that a program never waits for us to read."""

    def __init__(self, stream: IO[bytes] | None):
        self.stream, self.content, self.is_cut = stream, b"", False
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self) -> None:
        while self.stream is not None and (chunk := self.stream.read1(MOST_OUTPUT)):  # pyright: ignore[reportAttributeAccessIssue]
            whole = self.content + chunk
            self.content, self.is_cut = whole[-MOST_OUTPUT:], self.is_cut or len(whole) > MOST_OUTPUT

    @property
    def text(self) -> str:
        text = self.content.decode(errors="replace")
        # Of a number that was cut in two, the second half is another number.
        return re.sub(r"^\S*", "", text) if self.is_cut else text


def last_number(printed: str) -> float | None:
    """The last word that is a number, as in "cost = 3.5 (2 s)" the 3.5."""
    for word in reversed(re.split(r"[\s,;:=]+", printed)):
        try:
            return float(word)
        except ValueError:
            continue
    return None
