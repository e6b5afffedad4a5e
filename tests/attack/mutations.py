"""Every kind of file that is read, changed at random: it is refused with a sentence, or it says what it said before."""

import dataclasses
import gzip
import hashlib
import random
import struct
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

import lga
from lga.bench.cells import Cell
from lga.bench.cells import outcome as cell_outcome
from lga.bench.network_runs import unfinished
from lga.cli.minimize import parse_variables
from lga.core.tree_io import digest, save_tree
from lga.meta.config import PRESETS
from lga.meta.run_directory import CHECKPOINT, CONFIG, METRICS, RunDirectory, load_checkpoint, read_metrics
from lga.optimize.state import load_search
from lga.tasks import data
from lga.weights import load_theta

REFUSALS = (ValueError, OSError)


class Format(NamedTuple):
    file: Path
    read: Callable[[], Any]
    """What the file says, in a form that can be compared."""
    is_sealed: bool = True
    """Whether a change must be noticed."""


def mutated(content: bytes, dice: random.Random) -> bytes:
    """A few bytes changed, cut off, left out, put in or moved."""
    changed = bytearray(content)
    place = dice.randrange(len(changed))
    length = min(dice.choice([1, 1, 2, 8, 64]), len(changed) - place)
    match dice.randrange(8):
        case 0:
            changed[place] ^= 1 << dice.randrange(8)
        case 1:
            changed[place] = dice.randrange(256)
        case 2:
            del changed[place:]
        case 3:
            del changed[place : place + length]
        case 4:
            changed[place:place] = dice.randbytes(length)
        case 5:
            changed[place : place + length] = dice.randbytes(length)
        case 6:
            changed[place:place] = changed[place : place + length]
        case 7:
            digits = [at for at, byte in enumerate(changed) if chr(byte).isdigit()]
            changed[dice.choice(digits or [place])] = ord(str(dice.randrange(10)))
    return bytes(changed)


def bombarded(format: Format, number: int, dice: random.Random) -> Counter[str]:
    """How many changed files were refused, and how many said what they had said."""
    original, expected = format.file.read_bytes(), format.read()
    counts: Counter[str] = Counter()
    for _ in range(number):
        changed = mutated(original, dice)
        format.file.write_bytes(changed)
        try:
            said = format.read()
        except REFUSALS:
            counts["refused"] += 1
        else:
            assert said == expected or not format.is_sealed, f"{format.file.name} was believed: {changed[:200]!r}"
            counts["the same" if said == expected else "another text"] += 1
        format.file.write_bytes(original)
    return counts


def formats(folder: Path) -> dict[str, Format]:
    made = (weights, checkpoint, cell, unfinished_cell, images, variables, *training(folder / "training"))
    return {one.__name__: one(folder) for one in made[:6]} | dict(made[6:])


def weights(folder: Path) -> Format:
    file = folder / "weights.safetensors"
    lga.save_theta(file, lga.init_theta(jax.random.key(0), lga.ThetaConfig()), {"run": {"seed": 3}})

    def read():
        theta, provenance = load_theta(file)
        return digest(theta, provenance)

    return Format(file, read)


def checkpoint(folder: Path) -> Format:
    optimizer = lga.Optimizer([(-5.0, 5.0)] * 3, seed=0, popsize=6, algorithm="samr_ga", reevaluate=1)
    for _ in range(3):
        x = optimizer.ask()
        optimizer.tell(x, [float(row @ row) if row[0] > 0 else None for row in x])
    optimizer.ask()
    optimizer.save(folder / "run")

    def read():
        search, state = load_search(folder / "run")
        return digest(state, search.settings | {"examples": state.examples.rows})

    return Format(folder / "run", read)


def cell(folder: Path) -> Format:
    def compute(_: Path):
        return {"best_so_far": np.linspace(0.0, 1.0, 40)}

    def forbidden(_: Path):
        raise AssertionError("computed again")

    made = Cell("a cell", {"seed": 1, "sizes": [8, 16]}, compute)
    cell_outcome(made, folder / "cells")
    again = dataclasses.replace(made, compute=forbidden)
    return Format(made.file(folder / "cells"), lambda: digest(cell_outcome(again, folder / "cells")))


def unfinished_cell(folder: Path) -> Format:
    identity = {"seed": 1, "task": "digits"}
    curve = {"generations": [2], "elite": [0.5], "mean_parent": [0.25]}
    file = folder / "cell.unfinished"
    save_tree(file, {"solutions": np.arange(60.0)}, {"run": identity, "done": 2, "curve": curve})

    def read():
        done, found, leaves = unfinished(file, identity)
        return done, found, digest(leaves)

    return Format(file, read)


def images(folder: Path) -> Format:
    pixels = np.random.default_rng(0).integers(0, 256, (6, 28, 28), dtype=np.uint8)
    content = bytes([0, 0, 8, 3]) + struct.pack(">3I", *pixels.shape) + pixels.tobytes()
    file = folder / "images" / "train.gz"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(content, mtime=0))
    source = data.Source(str(file.parent), "https://localhost", {"train.gz": hashlib.sha256(content).hexdigest()})
    return Format(file, lambda: data.content(source, "train.gz"))


def variables(folder: Path) -> Format:
    """A text that people write: what is not understood is refused."""
    file = folder / "bounds.txt"
    file.write_text("# two variables\nlearning_rate=1e-5:0.1:log\nlayers=1:8:int  # whole\nshift=-3:\n")
    return Format(file, lambda: parse_variables((), file), is_sealed=False)


def training(folder: Path) -> list[tuple[str, Format]]:
    config, state = PRESETS["smoke"], {"mean": np.arange(5.0)}
    run = RunDirectory(folder, config, resume=False)
    run.begin_after(0)
    for number in range(1, 7):
        run.log({"meta_generation": number, "seconds": 0.5, "median_log10_outcome": -number / 3})
    run.save_checkpoint(6, state, {"meta_generation": 5, "validation": {"score": -1.5}})
    run.close()
    files = {name: (folder / name).read_bytes() for name in (CONFIG, METRICS, CHECKPOINT)}

    def read(changed: str):
        # A resume writes settings and metrics anew.
        for name, content in files.items():
            if name != changed:
                (folder / name).write_bytes(content)
        resumed = RunDirectory(folder, config, resume=True)
        try:
            done, found, best = load_checkpoint(folder, state, config)
            resumed.begin_after(done)
        finally:
            resumed.close()
        return done, digest(found), best, read_metrics(folder)

    return [(name, Format(folder / name, lambda name=name: read(name))) for name in (CONFIG, METRICS, CHECKPOINT)]
