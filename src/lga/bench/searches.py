"""Many searches side by side, driven from Python: one compiled evaluation of the tasks serves all algorithms.

`lga.trials.search_tasks` is the same search as one program. That is right inside of `jit`, but it would compile all
functions of BBOB again for every algorithm, which takes longer than most comparisons run.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Float, Key

from lga.algorithms.run import Trace, advance, trace_entry
from lga.bench.cells import Cell
from lga.bench.methods import Method, Size
from lga.core.interfaces import Algorithm
from lga.core.tree_io import Leaves
from lga.tasks import bbob
from lga.trials import uniform_start


@dataclass(frozen=True)
class Suite:
    """Searches on COCO instances of some functions. Equal suites give equal starting points to all methods."""

    functions: tuple[str, ...]
    instances: tuple[int, ...]
    num_dims: int
    num_seeds: int
    seed: int
    evaluate_start: bool = True
    """Whether the initial solutions are evaluated; in the paper's code they are not."""

    @property
    def key(self) -> dict[str, Any]:
        """All that decides its searches; the usual start goes without saying, so that older cells are found."""
        return {name: value for name, value in asdict(self).items() if (name, value) != ("evaluate_start", True)}

    @property
    def tasks(self) -> bbob.Task:
        return instances(self.functions, self.instances, self.num_dims)


# Making COCO's instances takes longer than a short search on them.
instances = lru_cache(maxsize=8)(bbob.instances)


def evaluations_after(size: Size, evaluate_start: bool) -> np.ndarray:
    """How many evaluations a search has made after each of its generations."""
    return size.num_children * (int(evaluate_start) + np.arange(1, size.num_generations + 1))


def gap_cell(method: Method, size: Size, suite: Suite) -> Cell:
    """The best gap so far [functions, instances, seeds, generations] of a tuned method."""
    key = method.identity | size._asdict() | suite.key
    # Not its name: a method is found again whatever a comparison calls it.
    label = f"{method.preset}-{method.elite_ratio:g}-{method.sigma:g}-n{size.num_children}-d{suite.num_dims}"
    return Cell(label, key, partial(best_gaps, replace(method, name=method.preset), size, suite))


def best_gaps(method: Method, size: Size, suite: Suite, checkpoint: Path | None = None) -> Leaves:
    """Searches of a suite are short: they need no checkpoint."""
    search = searches_of(replace(method, sigmas=(1.0,)), size, suite.evaluate_start)
    best = search(jax.random.key(suite.seed), suite.tasks, suite.num_seeds, method.sigma).best_so_far
    shape = (len(suite.functions), len(suite.instances), suite.num_seeds, size.num_generations)
    return {"best_so_far": np.asarray(best).reshape(shape)}


@lru_cache(maxsize=8)
def searches_of(method: Method, size: Size, evaluate_start: bool) -> Callable[..., Trace]:
    """Compiled once for all rates and suites."""
    return searches(method.algorithm(size.num_children), size.num_generations, evaluate_start)


@jax.jit
def evaluate_runs(tasks: bbob.Task, solutions: Float[Array, "tasks seeds n d"]) -> Float[Array, "tasks seeds n"]:
    def on_task(pair):
        task, runs = pair
        return bbob.evaluate(task, runs.reshape(-1, runs.shape[-1])).reshape(runs.shape[:-1])

    # Mapped over tasks, so only the function of each task is computed.
    return jax.lax.map(on_task, (tasks, solutions))


@partial(jax.jit, static_argnums=(1, 2, 3))
def beginnings(keys: Key[Array, "tasks seeds"], num_children: int, num_dims: int, num_generations: int):
    """Starting points of all runs, and the data of their keys: one to init, and three for each generation."""

    def beginning(key: Key[Array, ""]):
        key_start, key_run = jax.random.split(key)
        _, key_init, key_search = jax.random.split(key_run, 3)
        generation_keys = jax.vmap(lambda k: jax.random.split(k, 3))(jax.random.split(key_search, num_generations))
        start = uniform_start(key_start, num_children, num_dims)
        return start, jax.random.key_data(key_init), jax.random.key_data(generation_keys)

    return over_runs(beginning)(keys)


def searches(
    algorithm: Algorithm, num_generations: int, evaluate_start: bool = True
) -> Callable[[Key[Array, ""], bbob.Task, int, float], Trace]:
    """The function from a key, stacked tasks, a number of seeds and an initial rate to a trace.

    Its leaves are [tasks, seeds, generations]. Keys are used as `search_tasks` uses them, so both take the same steps,
    up to rounding.
    """
    runs = side_by_side(algorithm)
    entries_of = jax.jit(over_runs(trace_entry))

    def search(key: Key[Array, ""], tasks: bbob.Task, num_seeds: int, sigma: float) -> Trace:
        num_tasks, num_dims = tasks.x_opt.shape
        keys = jax.random.split(key, (num_tasks, num_seeds))
        starts, init_keys, generation_keys = beginnings(keys, algorithm.num_children, num_dims, num_generations)
        sigmas = np.full((num_tasks, num_seeds), sigma, np.float32)

        def evaluate(_: Any, solutions: Float[Array, "tasks seeds n d"]):
            return evaluate_runs(tasks, solutions), None

        fitness = evaluate_runs(tasks, starts) if evaluate_start else None
        state = runs.init(init_keys, starts, fitness, sigmas)
        # On the host, where an index costs no compilation.
        generation_keys, entries = np.asarray(generation_keys), []
        for t in range(num_generations):
            step = advance(np.moveaxis(generation_keys[:, :, t], 2, 0), runs, evaluate, state)
            entries.append(entries_of(state, step))
            state = step.state
        return jax.tree.map(lambda *generations: np.stack(generations, axis=-1), *entries)

    return search


def side_by_side(algorithm: Algorithm, compiled: Callable[[Callable], Callable] = jax.jit) -> Algorithm:
    """The same algorithm for runs along the axes of tasks and seeds, compiled; keys come as their data."""

    def keyed(function: Callable) -> Callable:
        return compiled(over_runs(lambda key_data, *rest: function(jax.random.wrap_key_data(key_data), *rest)))

    return algorithm._replace(init=keyed(algorithm.init), ask=keyed(algorithm.ask), tell=keyed(algorithm.tell))


def over_runs(function: Callable) -> Callable:
    """Over the axes of tasks and seeds."""
    return jax.vmap(jax.vmap(function))
