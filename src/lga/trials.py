"""Algorithms meet tasks: searches on BBOB tasks, batched so that a branch of a task's function is real, not masked."""

import jax
from jaxtyping import Array, Float, Key

from lga.algorithms.run import Trace, run
from lga.core.interfaces import Algorithm
from lga.tasks import bbob

DOMAIN = (-5.0, 5.0)


def uniform_start(key: Key[Array, ""], num_solutions: int, num_dims: int) -> Float[Array, "n d"]:
    """Solutions uniform in BBOB's domain."""
    return jax.random.uniform(key, (num_solutions, num_dims), minval=DOMAIN[0], maxval=DOMAIN[1])


def search_tasks(
    key: Key[Array, ""],
    algorithm: Algorithm,
    tasks: bbob.Task,
    sigma: Float[Array, ""] | float,
    *,
    num_seeds: int,
    num_generations: int,
    noisy: bool = False,
    evaluate_start: bool = True,
) -> Trace:
    """One trace for each task and seed, leaves [tasks, seeds, generations].

    A search starts from as many uniform solutions as there are children. Equal keys give equal starts, so algorithms
    with the same number of children can be compared in pairs.
    """
    num_dims = tasks.x_opt.shape[-1]

    def search(key: Key[Array, ""], task: bbob.Task) -> Trace:
        key_start, key_run = jax.random.split(key)
        start = uniform_start(key_start, algorithm.num_children, num_dims)

        def evaluate(key: Key[Array, ""], solutions: Float[Array, "n d"]) -> Float[Array, " n"]:
            return bbob.evaluate_noisy(key, task, solutions) if noisy else bbob.evaluate(task, solutions)

        return run(key_run, algorithm, evaluate, start, sigma, num_generations, evaluate_start=evaluate_start)[1]

    num_tasks = tasks.num_dims.shape[0]
    keys = jax.random.split(key, (num_tasks, num_seeds))
    # Mapped over tasks, so only the function of each task is computed; seeds fill the vector lanes.
    return jax.lax.map(lambda pair: jax.vmap(search, in_axes=(0, None))(*pair), (keys, tasks))


def log_gaps(trace: Trace) -> Float[Array, "*batch"]:
    """log10 of the best gap of each search."""
    return bbob.log10_gap(trace.best_so_far[..., -1])
