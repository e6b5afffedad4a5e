"""Pieces of a comparison that are computed once: a pure function, all that decides its outcome, and a file for both."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from lga.core.checks import require
from lga.core.compile_cache import use_compilation_cache
from lga.core.files import sweep, write_atomically
from lga.core.tree_io import Leaves, digest, json_form, load_leaves, save_tree

RETRIES = 3
"""How often a cell is computed anew when the process that had it dies."""


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


def outcomes(cells: Sequence[Cell], folder: Path, workers: int = 1, scheduler: str | None = None) -> Iterator[Leaves]:
    """The arrays of all cells, in their order; as many processes compute what is missing, or those of a Dask scheduler
    (its address)."""
    compute = partial(outcome, folder=folder)
    if scheduler is not None:
        fetch(cells, folder, scheduler)
    if scheduler is not None or workers == 1:
        yield from map(compute, cells)
        return
    # A fork of a process whose threads run JAX may hang.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=use_compilation_cache) as pool:
        yield from pool.map(compute, cells)


def fetch(cells: Sequence[Cell], folder: Path, scheduler: str) -> None:
    """Has all missing cells computed by the workers of a scheduler, and keeps their files here.

    Files travel as bytes, so no disk need be shared, and are those that would have been written here. The name of a
    piece of work is that of its file: who asks twice, after a loss of the connection, gets the same piece.
    """
    missing = {cell.file(folder).name: cell for cell in cells if not cell.file(folder).exists()}
    if not missing:
        return
    try:
        from distributed import Client, as_completed
    except ImportError as error:
        raise ImportError(f"scheduler is {scheduler!r}, but needs Dask: pip install 'lga[dask]'.") from error
    with Client(scheduler, set_as_default=False) as client:
        futures = [client.submit(file_content, cell, key=name, retries=RETRIES) for name, cell in missing.items()]
        for future, content in as_completed(futures, loop=client.loop, with_results=True):
            write_atomically(folder / future.key, content)


def file_content(cell: Cell) -> bytes:
    """What the file of a cell holds, computed in a folder that nobody else sees."""
    with tempfile.TemporaryDirectory() as folder:
        outcome(cell, Path(folder))
        return cell.file(Path(folder)).read_bytes()
