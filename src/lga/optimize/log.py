"""All evaluations of a search, one row for each, as far as memory is given to them."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int, Shaped

from lga.core.files import write_atomically
from lga.core.tree_io import Leaves, TreeFileError
from lga.optimize.variables import Names
from lga.optimize.worker import FAILURES, Noted, Outcome

MOST_NUMBERS = 2**22
"""Coordinates that are kept, 32 MiB: as many rows as that gives. Later evaluations are counted, and not kept."""
SUCCEEDED = ""
FAILURE_NAMES = np.array([SUCCEEDED, *FAILURES])


@dataclass(frozen=True)
class Evaluations:
    """What was evaluated, in the order of asking; a second try is a row of its own.

    `seconds` is when the outcome was known, counted from the start of the search.
    """

    x: Float[np.ndarray, "n d"]
    value: Float[np.ndarray, " n"]
    """NaN where it failed."""
    failure: Shaped[np.ndarray, " n"]
    """The kind of failure; empty where there was none."""
    generation: Int[np.ndarray, " n"]
    seconds: Float[np.ndarray, " n"]
    names: tuple[str, ...]
    left_out: int = 0
    """Evaluations that there was no room for."""
    variables: Names | None = None
    """If they were named: a file then has whole numbers and things as they are."""

    def __len__(self) -> int:
        return len(self.value)

    def to_csv(self, path: str | Path) -> None:
        """Writes a line for each, below a line with the names."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*self.names, "value", "failure", "generation", "seconds"])
        # Python's own numbers are written with all their digits.
        columns = (self.value, self.failure, self.generation, self.seconds)
        points = self.x.tolist() if self.variables is None else [self.variables.by_name(x).values() for x in self.x]
        rows = zip(points, *(column.tolist() for column in columns), strict=True)
        writer.writerows([*x, *rest] for x, *rest in rows)
        write_atomically(Path(path), text.getvalue().encode())


def failure_number(outcome: Outcome) -> int:
    return 0 if outcome.failure is None else 1 + FAILURES.index(outcome.failure)


class Log:
    """Rows as they arrive, in arrays that are doubled when they are full."""

    def __init__(self, num_dims: int, keep: bool):
        self.most = MOST_NUMBERS // num_dims if keep else 0
        self.number = self.left_out = 0
        self.x = np.empty((0, num_dims))
        self.rest = np.empty((0, 5))
        """Value, failure, generation, position in the generation, seconds."""
        self.seconds_before = 0.0
        """Of the processes that have worked on this search before."""

    def add(self, generation: int, solutions: Float[np.ndarray, "n d"], ended: Sequence[tuple[Noted, float]]) -> None:
        """Outcomes of the solutions of a generation, and when they were known."""
        kept = ended[: self.most - self.number]
        self.left_out += len(ended) - len(kept)
        begin, end = self.number, self.number + len(kept)
        if not kept:
            return
        if end > len(self.x):
            room = min(max(64, 2 * end), self.most) - len(self.x)
            self.x = np.concatenate([self.x, np.empty((room, self.x.shape[1]))])
            self.rest = np.concatenate([self.rest, np.empty((room, 5))])
        self.x[begin:end] = solutions[[noted.position for noted, _ in kept]]
        self.rest[begin:end] = [
            (noted.outcome.value, failure_number(noted.outcome), generation, noted.position, self.seconds_before + when)
            for noted, when in kept
        ]
        self.number = end

    def leaves(self) -> Leaves:
        """For a file."""
        return {
            "x": self.x[: self.number],
            "rest": self.rest[: self.number],
            "left_out": np.asarray(self.left_out),
        }

    def restore(self, leaves: Leaves) -> None:
        """Goes on from a file; files from before there was a log have none."""
        if leaves:
            x, rest = (np.asarray(leaves.get(name, ()), float) for name in ("x", "rest"))
            is_whole = x.ndim == 2 and x.shape[1] == self.x.shape[1] and rest.shape == (len(x), self.rest.shape[1])
            if not is_whole or not np.isin(rest[:, 1], np.arange(len(FAILURE_NAMES))).all():
                raise TreeFileError(
                    f"the log of evaluations has shapes {x.shape} and {rest.shape}, or unknown failures."
                )
            self.x, self.rest, self.number = x.copy(), rest.copy(), len(x)
            self.left_out = int(leaves.get("left_out", np.zeros(())))
            self.seconds_before = float(self.rest[:, 4].max(initial=0.0))

    def known(self, sign: float) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, " n"]]:
        """Points and values, to be minimised."""
        return self.x[: self.number], sign * self.rest[: self.number, 0]

    def generations(self) -> Float[np.ndarray, " n"]:
        return self.rest[: self.number, 2]

    def evaluations(self, names: tuple[str, ...], variables: Names | None) -> Evaluations:
        # They arrive in the order in which workers finish, which is nobody's concern.
        order = np.lexsort((self.rest[: self.number, 3], self.rest[: self.number, 2]))
        value, failure, generation, _, seconds = self.rest[order].T
        return Evaluations(
            x=self.x[order],
            value=value,
            failure=FAILURE_NAMES[failure.astype(int)],
            generation=generation.astype(int),
            seconds=seconds,
            names=names,
            left_out=self.left_out,
            variables=variables,
        )
