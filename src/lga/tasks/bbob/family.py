"""BBOB tasks: COCO's instances, random tasks of a family, and their evaluation.

Everything is written for one task. A batch of tasks is mapped (`jax.lax.map`) so that only the drawn function is computed; members of
a meta-population that share a task are `vmap`ped inside of it.
"""

from collections.abc import Callable, Iterable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from lga.tasks.bbob import coco
from lga.tasks.bbob.functions import FUNCTIONS, Function
from lga.tasks.bbob.noise import NOISE_MODELS
from lga.tasks.bbob.peaks import coco_peaks, no_peaks, random_peaks
from lga.tasks.bbob.task import Frame, Peaks, Task
from lga.tasks.bbob.transforms import boundary_excess

_MEMBERS = {
    "small": ("small",),
    "medium": ("small", "medium"),
    "large": ("small", "medium", "large"),
    "all": ("small", "medium", "large", None),
}
FAMILIES: dict[str, tuple[str, ...]] = {
    family: tuple(function.name for function in FUNCTIONS.values() if function.family in members)
    for family, members in _MEMBERS.items()
}


def find_function(function: int | str) -> Function:
    """The function of a COCO id or name."""
    for candidate in FUNCTIONS.values():
        if function in (candidate.id, candidate.name):
            return candidate
    raise ValueError(f"function must be an id from 1 to {len(FUNCTIONS)} or one of {list(FUNCTIONS)}, not {function!r}.")


def family_members(family: str | Iterable[str]) -> tuple[str, ...]:
    """The function names of one of the paper's families, or of a list of names."""
    if isinstance(family, str):
        if family not in FAMILIES:
            raise ValueError(f"family must be one of {list(FAMILIES)} or a list of function names, not {family!r}.")
        return FAMILIES[family]
    names = tuple(find_function(name).name for name in family)
    if not names:
        raise ValueError("family must name at least one function, not none.")
    return names


def noise_names(noise: str | Iterable[str]) -> tuple[str, ...]:
    names = (noise,) if isinstance(noise, str) else tuple(noise)
    for name in names or ("",):
        if name not in NOISE_MODELS:
            raise ValueError(f"noise must be one or more of {list(NOISE_MODELS)}, not {noise!r}.")
    return names


def _check_dims(names: Sequence[str], min_dims: int, max_dims: int) -> None:
    for name in names:
        if min_dims < FUNCTIONS[name].min_dims:
            raise ValueError(f"{name} needs at least {FUNCTIONS[name].min_dims} dimensions, not {min_dims}.")
    if max_dims < min_dims:
        raise ValueError(f"max_dims must be at least {min_dims}, the smallest number of dimensions, not {max_dims}.")


def _num_peaks(names: Sequence[str]) -> int:
    return max((peaks.count for name in names if (peaks := FUNCTIONS[name].peaks)), default=0)


def _maps(function: Function, frame: Frame) -> tuple[Array, Array, Array]:
    """The function's inner map, outer map and scale; zeros where it has none."""
    inner = function.inner(frame) if function.inner else 0.0 * frame.R
    outer = function.outer(frame) if function.outer else 0.0 * frame.R
    scale = function.scale(frame) if function.scale else 0.0 * frame.ramp
    return inner, outer, scale


def instance(
    function: int | str,
    instance: int,
    num_dims: int,
    max_dims: int | None = None,
    family: str | Iterable[str] | None = None,
    noise: str = "none",
) -> Task:
    """COCO's instance of a function in `num_dims` dimensions, computed in float64 and padded to `max_dims` coordinates.

    Tasks that are to be stacked need a common `family`, which must contain the function; by default it is the function alone.
    """
    entry = find_function(function)
    names = (entry.name,) if family is None else family_members(family)
    if entry.name not in names:
        raise ValueError(f"family must contain {entry.name}, not only {names}.")
    max_dims = num_dims if max_dims is None else max_dims
    _check_dims((entry.name,), num_dims, max_dims)
    if instance < 1:
        raise ValueError(f"instance must be at least 1, not {instance}.")

    seed = (entry.coco_seed or entry.id) + 10000 * instance
    frame = Frame(
        R=coco.rotation(seed + 1000000, num_dims),
        Q=coco.rotation(seed, num_dims),
        ramp=np.arange(num_dims) / max(num_dims - 1, 1),
        stretch=max(1.0, num_dims**0.5 / 8),
    )
    x_opt = entry.optimum(entry.coco_optimum(seed, frame))
    peaks = coco_peaks(entry.peaks, seed, frame.Q, x_opt) if entry.peaks else no_peaks(0, num_dims)
    inner, outer, scale = _maps(entry, frame)

    def padded(array: np.ndarray, *shape: int) -> Array:
        return jnp.asarray(np.pad(array, [(0, size - have) for size, have in zip(shape, array.shape, strict=True)]))

    num_peaks = _num_peaks(names)
    return Task(
        function_index=jnp.asarray(names.index(entry.name)),
        noise_index=jnp.asarray(0),
        num_dims=jnp.asarray(num_dims),
        ramp=padded(frame.ramp, max_dims),
        x_opt=padded(x_opt, max_dims),
        f_opt=jnp.asarray(coco.optimal_value(seed)),
        inner=padded(inner, max_dims, max_dims),
        outer=padded(outer, max_dims, max_dims),
        scale=padded(scale, max_dims),
        peaks=Peaks(
            centers=padded(peaks.centers, num_peaks, max_dims),
            scales=padded(peaks.scales, num_peaks, max_dims),
            heights=padded(peaks.heights, num_peaks),
        ),
        family=names,
        noise_models=noise_names(noise),
    )


def stack(tasks: Sequence[Task]) -> Task:
    """One task whose leaves have a leading task axis, to be mapped over; the tasks must share family, noise models and shapes."""
    if len({(task.family, task.noise_models, task.x_opt.shape) for task in tasks}) != 1:
        raise ValueError(f"tasks must share one family, one list of noise models and one shape; these {len(tasks)} do not.")
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *tasks)


def instances(
    functions: Sequence[int | str], instances: Sequence[int], num_dims: int, max_dims: int | None = None
) -> Task:
    """All instances of all functions, stacked function by function."""
    names = tuple(find_function(function).name for function in functions)
    return stack([instance(name, i, num_dims, max_dims, family=names) for name in names for i in instances])


def _random_rotation(key: Key[Array, ""], mask: Array) -> Float[Array, "d d"]:
    """A rotation of the active coordinates, uniform over the orthogonal group (Haar); zero elsewhere."""
    block = mask[:, None] & mask[None, :]
    normals = jax.random.normal(key, block.shape)
    orthogonal, triangular = jnp.linalg.qr(jnp.where(block, normals, jnp.eye(len(mask))))
    # The decomposition is unique, hence uniform, once the diagonal is positive.
    return jnp.where(block, orthogonal * jnp.sign(jnp.diag(triangular))[None, :], 0.0)


def sample_task(
    key: Key[Array, ""],
    family: str | Iterable[str] = "large",
    min_dims: int = 2,
    max_dims: int = 10,
    noise: str | Iterable[str] = tuple(NOISE_MODELS),
) -> Task:
    """A random task, padded to `max_dims` coordinates: function, noise model and number of dimensions (both ends included) uniform,
    rotations uniform, the optimum uniform in [-5, 5]^D or, where the function ties it to corners, a random corner. `f_opt` is zero.
    """
    names = family_members(family)
    noise_models = noise_names(noise)
    _check_dims(names, min_dims, max_dims)
    key_function, key_dims, key_optimum, key_R, key_Q, key_peaks, key_noise = jax.random.split(key, 7)

    num_dims = jax.random.randint(key_dims, (), min_dims, max_dims + 1)
    coordinate = jnp.arange(max_dims)
    mask = coordinate < num_dims
    frame = Frame(
        R=_random_rotation(key_R, mask),
        Q=_random_rotation(key_Q, mask),
        ramp=jnp.where(mask, coordinate / jnp.maximum(num_dims - 1, 1), 0.0),
        stretch=jnp.maximum(1.0, jnp.sqrt(num_dims) / 8),
    )
    point = jax.random.uniform(key_optimum, (max_dims,), minval=-5.0, maxval=5.0)

    def place(function: Function) -> Callable[[], tuple[Array, ...]]:
        return lambda: (jnp.where(mask, function.optimum(point), 0.0), *_maps(function, frame))

    function_index = jax.random.randint(key_function, (), 0, len(names))
    x_opt, inner, outer, scale = jax.lax.switch(function_index, [place(FUNCTIONS[name]) for name in names])
    if _num_peaks(names):
        # Functions without peaks get those of any other: they do not look at them.
        default = next(peaks for name in names if (peaks := FUNCTIONS[name].peaks))
        peak_sets = tuple(FUNCTIONS[name].peaks or default for name in names)
        peaks = random_peaks(key_peaks, peak_sets, function_index, frame.Q, x_opt, mask)
    else:
        peaks = jax.tree.map(jnp.asarray, no_peaks(0, max_dims))
    return Task(
        function_index=function_index,
        noise_index=jax.random.randint(key_noise, (), 0, len(noise_models)),
        num_dims=num_dims,
        ramp=frame.ramp,
        x_opt=x_opt,
        f_opt=jnp.zeros(()),
        inner=inner,
        outer=outer,
        scale=scale,
        peaks=peaks,
        family=names,
        noise_models=noise_models,
    )


def _gap_and_penalty(task: Task, solutions: Float[Array, "n d"]) -> tuple[Float[Array, "n"], Float[Array, "n"]]:
    if solutions.ndim != 2 or solutions.shape[1] != task.x_opt.shape[-1]:
        raise ValueError(f"solutions must have shape (n, {task.x_opt.shape[-1]}), not {solutions.shape}.")

    def branch(function: Function) -> Callable[[Task, Array], tuple[Array, Array]]:
        def at_point(task: Task, x: Float[Array, "d"]) -> tuple[Array, Array]:
            gap = function.gap(task, jnp.where(task.mask, x - task.x_opt, 0.0))
            if function.penalty is None:
                return gap, jnp.zeros_like(gap)
            return gap, function.penalty(task.num_dims) * boundary_excess(jnp.where(task.mask, x, 0.0))

        return jax.vmap(at_point, in_axes=(None, 0))

    return jax.lax.switch(task.function_index, [branch(FUNCTIONS[name]) for name in task.family], task, solutions)


def evaluate(task: Task, solutions: Float[Array, "n d"]) -> Float[Array, "n"]:
    """The gap to the optimal value, boundary penalty included."""
    gap, penalty = _gap_and_penalty(task, solutions)
    return gap + penalty


def evaluate_noisy(key: Key[Array, ""], task: Task, solutions: Float[Array, "n d"]) -> Float[Array, "n"]:
    """The gap under the task's noise model; the boundary penalty is added undisturbed, as in the noisy suite.

    The random numbers depend on the key alone: members that are `vmap`ped over with one key see the same noise.
    """
    gap, penalty = _gap_and_penalty(task, solutions)
    models = [NOISE_MODELS[name] for name in task.noise_models]
    return jax.lax.switch(task.noise_index, models, key, gap, task.num_dims) + penalty


def coco_value(task: Task, solutions: Float[Array, "n d"]) -> Float[Array, "n"]:
    """What COCO reports: the gap plus the optimal value."""
    return evaluate(task, solutions) + task.f_opt
