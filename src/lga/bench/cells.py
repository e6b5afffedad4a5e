"""Pieces of a comparison that are computed once: a pure function, all that decides its outcome, and a file for both."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from lga.core.checks import require
from lga.core.files import sweep
from lga.core.tree_io import Leaves, digest, json_form, load_leaves, save_tree


@dataclass(frozen=True, eq=False)
class Cell:
    """`compute(checkpoint)` is pure, and can be pickled if the cell is to be computed elsewhere.

    It may keep unfinished work in the file `checkpoint`, to go on from when it is called again.
    """

    label: str
    """What people see: the beginning of the file's name."""
    key: dict[str, Any]
    """All that decides the outcome, as JSON holds it."""
    compute: Callable[[Path], Leaves]

    def file(self, folder: Path) -> Path:
        readable = "".join(letter if letter.isalnum() else "-" for letter in self.label.lower())
        return folder / f"{readable}-{digest({}, json_form(self.key))[:16]}.safetensors"

    def checkpoint(self, folder: Path) -> Path:
        return self.file(folder).with_suffix(".unfinished")


def outcome(cell: Cell, folder: Path) -> Leaves:
    """The arrays of a cell: from its file, or computed now and kept there.

    An interrupted comparison goes on where it stopped, and another one with the same cell finds it.
    """
    file, key = cell.file(folder), json_form(cell.key)
    if file.exists():
        leaves, found = load_leaves(file)
        require(found == key, f"{file} holds {found}, but its name stands for {key}: delete it.")
        return leaves
    sweep(folder)
    leaves = cell.compute(cell.checkpoint(folder))
    save_tree(file, leaves, key)
    cell.checkpoint(folder).unlink(missing_ok=True)
    return leaves


def outcomes(cells: Sequence[Cell], folder: Path, workers: int = 1) -> Iterator[Leaves]:
    """The arrays of all cells, in their order; as many processes compute what is missing."""
    compute = partial(outcome, folder=folder)
    if workers == 1:
        yield from map(compute, cells)
        return
    # A fork of a process whose threads run JAX may hang.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(compute, cells)
