"""Families written in NumPy, as the processes see them that evaluate. They import this: no JAX here."""

import importlib.util
import os
import sys
import threading
from collections.abc import Callable
from functools import lru_cache
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from lga.core.checks import require
from lga.core.parcel import unpack

Seed = tuple[int, ...]
Job = tuple[Seed, np.ndarray]
"""A seed, and solutions [n, d] or whatever else is worked on."""
KEPT_TASKS = 256


def on_seeds(
    draw: Callable[[np.random.Generator], Any], evaluate: Callable[[Any, Float[np.ndarray, "n d"]], Any]
) -> Callable[[Job], Float[np.ndarray, " n"]]:
    """Values of solutions on the task that is drawn from a seed. The last tasks are kept, since searches are long."""
    task = lru_cache(maxsize=KEPT_TASKS)(lambda seed: draw(np.random.default_rng(seed)))

    def values(job: Job) -> Float[np.ndarray, " n"]:
        seed, solutions = job
        found = np.asarray(evaluate(task(seed), solutions), float)
        require(
            found.shape == solutions.shape[:1],
            f"evaluate returned an array of shape {found.shape}, but must give one value for each of the "
            f"{len(solutions)} solutions.",
        )
        return found

    return values


def module_from(file: Path, name: str) -> Any:
    """The module of that name, made from a file that is on no path."""
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[name] = loaded
    spec.loader.exec_module(loaded)
    return loaded


# In a worker process.

here: dict[str, Callable[[Job], Float[np.ndarray, " n"]]] = {}


def begin(module: str, file: str | None, functions: bytes) -> None:
    """Finds the functions. A worker does not outlive the process that has started it."""
    threading.Thread(target=end_with_parent, daemon=True).start()
    if file is not None and module not in sys.modules and importlib.util.find_spec(module) is None:
        module_from(Path(file), module)
    here["values"] = on_seeds(*unpack(functions))


def end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def work(job: Job) -> Float[np.ndarray, " n"]:
    return here["values"](job)
