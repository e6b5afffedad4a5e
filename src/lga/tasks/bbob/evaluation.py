"""The values of a BBOB task at a set of solutions.

Everything is written for one task. Batches of tasks are mapped (`jax.lax.map`), so that only the drawn function is
computed; members of a meta-population that share a task are `vmap`ped inside of the map.

float64 (with `jax_enable_x64`) agrees with COCO to a relative error of 1e-9. A float32 gap is off by at most 64 float32
roundings of its own, plus twice the spread of float64 gaps when every coordinate of x moves by up to eight roundings of
5. At uniform points of the box the relative error stays below 2e-3; that much is lost by the most rugged functions only
(Griewank-Rosenbrock, Weierstrass, Katsuura). At the optimum every gap is exactly zero.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from lga.tasks.bbob.functions import FUNCTIONS, Function
from lga.tasks.bbob.noise import NOISE_MODELS
from lga.tasks.bbob.task import Task
from lga.tasks.bbob.transforms import boundary_excess

GapAndPenalty = tuple[Float[Array, "n"], Float[Array, "n"]]


def _with_penalty(function: Function) -> Callable[[Task, Array, Array], GapAndPenalty]:
    def gap_and_penalty(task: Task, x: Float[Array, "d n"], offset: Float[Array, "d n"]) -> GapAndPenalty:
        gap = function.gap(task, offset)
        if function.penalty is None:
            return gap, jnp.zeros_like(gap)
        return gap, function.penalty(task.num_dims) * boundary_excess(x)

    return gap_and_penalty


def _gap_and_penalty(task: Task, solutions: Float[Array, "n d"]) -> GapAndPenalty:
    max_dims = task.x_opt.shape[0]
    if solutions.ndim != 2 or solutions.shape[1] != max_dims:
        raise ValueError(f"solutions must have shape (n, {max_dims}), not {solutions.shape}.")
    # Points are columns from here on: constants differ between coordinates only, so the inner loop vectorises.
    active = task.mask[:, None]
    x = jnp.where(active, solutions.T, 0.0)
    offset = jnp.where(active, solutions.T - task.x_opt[:, None], 0.0)
    branches = [_with_penalty(FUNCTIONS[name]) for name in task.branches.functions]
    with jax.default_matmul_precision("highest"):  # Accelerators would round the factors of a product.
        return jax.lax.switch(task.function_index, branches, task, x, offset)


def evaluate(task: Task, solutions: Float[Array, "n d"]) -> Float[Array, "n"]:
    """The gap to the optimal value, boundary penalty included; padded coordinates of the solutions do not matter."""
    gap, penalty = _gap_and_penalty(task, solutions)
    return gap + penalty


def observe(
    key: Key[Array, ""], task: Task, solutions: Float[Array, "n d"]
) -> tuple[Float[Array, "n"], Float[Array, "n"]]:
    """The gap, and the gap under the task's noise model; the boundary penalty is undisturbed, as in the noisy suite.

    The random numbers depend on the key alone: members that are `vmap`ped over with one key meet the same noise.
    Schwefel's penalty is part of its formula, so it is disturbed with the gap.
    """
    gap, penalty = _gap_and_penalty(task, solutions)
    models = [NOISE_MODELS[name] for name in task.branches.noise_models]
    noisy = jax.lax.switch(task.noise_index, models, key, gap, task.num_dims)
    return gap + penalty, noisy + penalty


def evaluate_noisy(key: Key[Array, ""], task: Task, solutions: Float[Array, "n d"]) -> Float[Array, "n"]:
    """What an optimiser sees of `observe`."""
    _, noisy = observe(key, task, solutions)
    return noisy


def coco_value(task: Task, solutions: Float[Array, "n d"]) -> Float[Array, "n"]:
    """What COCO reports: the gap plus the optimal value."""
    return evaluate(task, solutions) + task.f_opt
