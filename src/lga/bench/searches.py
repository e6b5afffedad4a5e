"""Many searches side by side, driven from Python: one compiled evaluation of the tasks serves all algorithms.

`lga.trials.search_tasks` is the same search as one program. That is right inside of `jit`, but it would compile all
functions of BBOB again for every algorithm, which takes longer than most comparisons run.
"""

from collections.abc import Callable
from functools import partial

import jax
import numpy as np
from jaxtyping import Array, Float, Key

from lga.algorithms.run import Step, Trace, trace_entry
from lga.core.interfaces import Algorithm
from lga.tasks import bbob
from lga.trials import uniform_start


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
    algorithm: Algorithm, num_seeds: int, num_generations: int
) -> Callable[[Key[Array, ""], bbob.Task, float], Trace]:
    """The function from a key, stacked tasks and an initial rate to a trace with leaves [tasks, seeds, generations].

    Keys are used as `search_tasks` uses them, so both take the same steps, up to rounding.
    """

    def init(key_data, solutions, fitness, sigma):
        return algorithm.init(jax.random.wrap_key_data(key_data), solutions, fitness, sigma)

    def ask(key_data, state):
        return algorithm.ask(jax.random.wrap_key_data(key_data), state)

    def tell(key_data, state, children, fitness):
        told = algorithm.tell(jax.random.wrap_key_data(key_data), state, children, fitness)
        return told, trace_entry(state, Step(told, children, fitness, None))

    init_runs, ask_runs, tell_runs = (jax.jit(over_runs(step)) for step in (init, ask, tell))

    def search(key: Key[Array, ""], tasks: bbob.Task, sigma: float) -> Trace:
        num_tasks, num_dims = tasks.x_opt.shape
        keys = jax.random.split(key, (num_tasks, num_seeds))
        starts, init_keys, generation_keys = beginnings(keys, algorithm.num_children, num_dims, num_generations)
        sigmas = np.full((num_tasks, num_seeds), sigma, np.float32)
        state = init_runs(init_keys, starts, evaluate_runs(tasks, starts), sigmas)
        # On the host, where an index costs no compilation.
        generation_keys, entries = np.asarray(generation_keys), []
        for t in range(num_generations):
            key_ask, _, key_tell = np.moveaxis(generation_keys[:, :, t], 2, 0)
            children, state = ask_runs(key_ask, state)
            state, entry = tell_runs(key_tell, state, children, evaluate_runs(tasks, children.solutions))
            entries.append(entry)
        return jax.tree.map(lambda *generations: np.stack(generations, axis=-1), *entries)

    return search


def over_runs(function: Callable) -> Callable:
    """Over the axes of tasks and seeds."""
    return jax.vmap(jax.vmap(function))
