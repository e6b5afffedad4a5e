"""Families written in NumPy, called from compiled programs: a task is the seed that it is drawn from.

Solutions go to the host, a generation of one search at a time, whatever the number of processes: so the outcome does
not depend on that number, even if sums of an evaluation depend on how many solutions it is given.
"""

import inspect
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float, Key, UInt32

from lga.core.checks import require, require_positive_integer
from lga.core.parcel import ObjectiveError, pack, require_picklable
from lga.tasks.numpy_worker import Job, begin, on_seeds, work


class InJax(NamedTuple):
    """The functions of a family as those of a family in JAX."""

    draw: Callable[[Key[Array, ""]], UInt32[Array, " k"]]
    evaluate: Callable[[UInt32[Array, " k"], Float[Array, "n d"]], Float[Array, " n"]]
    noise: Callable[[Key[Array, ""], Float[Array, " n"]], Float[Array, " n"]] | None


def in_jax(draw: Any, evaluate: Any, noise: Any, workers: int) -> InJax:
    require_positive_integer("workers", workers)
    mapped = in_processes(draw, evaluate, workers) if workers > 1 else in_this_process(draw, evaluate)

    def measured(jobs: list[Job]) -> list[Any]:
        return [noise(np.random.default_rng(seed), true) for seed, true in jobs]

    return InJax(
        jax.random.key_data,
        lambda seed, solutions: on_host(mapped, seed, solutions, solutions.shape[-2:]),
        None if noise is None else lambda key, true: on_host(measured, jax.random.key_data(key), true, true.shape[-1:]),
    )


def on_host(
    function: Callable[[list[Job]], list[Any]], seed: UInt32[Array, " k"], numbers: Array, block: tuple[int, ...]
) -> Float[Array, " n"]:
    """What a function of seeds and blocks of numbers gives; under `vmap` it is called once with all blocks."""

    def called(seed: Array, numbers: Array) -> np.ndarray:
        words, values = np.asarray(seed), np.asarray(numbers, float)
        searches = np.broadcast_shapes(words.shape[:-1], values.shape[: -len(block)])
        seeds, blocks = (
            np.broadcast_to(one, (*searches, *own)) for one, own in ((words, words.shape[-1:]), (values, block))
        )
        jobs = [(tuple(seeds[place].tolist()), blocks[place]) for place in np.ndindex(searches)]
        return np.stack(function(jobs)).reshape(*searches, block[0]).astype(numbers.dtype)

    kind = jax.ShapeDtypeStruct(block[:1], numbers.dtype)
    return jax.pure_callback(called, kind, seed, numbers, vmap_method="expand_dims")


Mapped = Callable[[list[Job]], list[Float[np.ndarray, " n"]]]


def in_this_process(draw: Any, evaluate: Any) -> Mapped:
    values = on_seeds(draw, evaluate)
    return lambda jobs: [values(job) for job in jobs]


def in_processes(draw: Any, evaluate: Any, workers: int) -> Mapped:
    try:
        require_picklable((draw, evaluate))
    except ObjectiveError as error:
        raise ValueError(
            f"workers is {workers}, but draw and evaluate cannot be sent to other processes: "
            "define them at the top of a module."
        ) from error
    require(draw.__module__ == evaluate.__module__, "draw and evaluate must be defined in one module, for workers.")
    module = evaluate.__module__
    # A script is found by the workers themselves.
    file = None if module == "__main__" else inspect.getsourcefile(evaluate)

    @cache
    def pool() -> ProcessPoolExecutor:
        # JAX has threads, which a fork would lose.
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(workers, context, begin, (module, file, pack((draw, evaluate))))

    return lambda jobs: list(pool().map(work, jobs))
