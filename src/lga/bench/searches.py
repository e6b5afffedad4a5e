"""Many searches side by side, driven from Python: one compiled evaluation of the tasks serves all algorithms.

`lga.trials.search_tasks` is the same search as one program. That is right inside of `jit`, but it would compile all
functions of BBOB again for every algorithm, which takes longer than most comparisons run.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from lga.algorithms.run import Trace
from lga.core.interfaces import Algorithm
from lga.core.population import rank_failures_last
from lga.tasks import bbob
from lga.trials import uniform_start


@jax.jit
def evaluate_runs(tasks: bbob.Task, solutions: Float[Array, "tasks seeds n d"]) -> Float[Array, "tasks seeds n"]:
    def on_task(pair):
        task, runs = pair
        return bbob.evaluate(task, runs.reshape(-1, runs.shape[-1])).reshape(runs.shape[:-1])

    # Mapped over tasks, so only the function of each task is computed.
    return jax.lax.map(on_task, (tasks, solutions))


def searches(
    algorithm: Algorithm, num_seeds: int, num_generations: int
) -> Callable[[Key[Array, ""], bbob.Task, float], Trace]:
    """The function from a key, stacked tasks and an initial rate to a trace with leaves [tasks, seeds, generations].

    Keys are used as `search_tasks` uses them, so both take the same steps, up to rounding.
    """

    def start(key: Key[Array, ""], num_dims: int):
        key_start, key_run = jax.random.split(key)
        _, key_init, key_search = jax.random.split(key_run, 3)
        generation_keys = jax.vmap(lambda k: jax.random.split(k, 3))(jax.random.split(key_search, num_generations))
        return uniform_start(key_start, algorithm.num_children, num_dims), key_init, generation_keys

    def tell(key, state, children, fitness):
        told = algorithm.tell(key, state, children, fitness)
        entry = Trace(
            best_so_far=told.progress.best_fitness,
            generation_best=jnp.min(rank_failures_last(fitness)),
            mean_sigma=jnp.mean(children.sigma),
            failures=told.progress.failures - state.progress.failures,
        )
        return told, entry

    begin = jax.jit(lambda keys, num_dims: over_runs(lambda key: start(key, num_dims))(keys), static_argnums=1)
    init = jax.jit(
        lambda keys, starts, fitness, sigma: over_runs(
            lambda key, solutions, values: algorithm.init(key, solutions, values, sigma)
        )(keys, starts, fitness)
    )
    ask, tell = jax.jit(over_runs(algorithm.ask)), jax.jit(over_runs(tell))

    def search(key: Key[Array, ""], tasks: bbob.Task, sigma: float) -> Trace:
        num_tasks, num_dims = tasks.x_opt.shape
        starts, keys_init, generation_keys = begin(jax.random.split(key, (num_tasks, num_seeds)), num_dims)
        state = init(keys_init, starts, evaluate_runs(tasks, starts), jnp.float32(sigma))
        entries = []
        for t in range(num_generations):
            keys = generation_keys[:, :, t]
            children, state = ask(keys[..., 0], state)
            state, entry = tell(keys[..., 2], state, children, evaluate_runs(tasks, children.solutions))
            entries.append(entry)
        return jax.tree.map(lambda *generations: jnp.stack(generations, axis=-1), *entries)

    return search


def over_runs(function: Callable) -> Callable:
    """Over the axes of tasks and seeds."""
    return jax.vmap(jax.vmap(function))
