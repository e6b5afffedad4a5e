"""COCO's instances of the BBOB functions as tasks."""

from collections.abc import Iterable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from numpy import ndarray

from lga.tasks.bbob import coco
from lga.tasks.bbob.family import check_dims, family_members, find_function, maps, noise_names, num_peaks
from lga.tasks.bbob.peaks import coco_peaks, no_peaks
from lga.tasks.bbob.task import Branches, Frame, Peaks, Task


def pad(array: ndarray, *shape: int) -> ndarray:
    """Zeros after the array's entries, up to `shape`."""
    return np.pad(array, [(0, size - have) for size, have in zip(shape, array.shape, strict=True)])


def instance(
    function: int | str,
    instance: int,
    num_dims: int,
    max_dims: int | None = None,
    family: str | Iterable[str] | None = None,
    noise: str = "none",
) -> Task:
    """COCO's instance of a function, computed in float64 and padded to `max_dims` coordinates.

    Tasks that are to be stacked need a common `family` that has all of their functions; by default it is the function
    alone. A noise model may be put on top.
    """
    entry = find_function(function)
    names = (entry.name,) if family is None else family_members(family)
    if entry.name not in names:
        raise ValueError(f"family must contain {entry.name}, not only {', '.join(names)}.")
    max_dims = num_dims if max_dims is None else max_dims
    check_dims((entry.name,), num_dims, max_dims)
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
    peaks = coco_peaks(entry.peaks, seed, frame.Q, x_opt) if entry.peaks else no_peaks(num_dims)
    inner, outer, scale = maps(entry, frame)
    leaves = {
        "function_index": names.index(entry.name),
        "noise_index": 0,
        "num_dims": num_dims,
        "ramp": pad(frame.ramp, max_dims),
        "x_opt": pad(x_opt, max_dims),
        "f_opt": coco.optimal_value(seed),
        "inner": pad(inner, max_dims, max_dims),
        "outer": pad(outer, max_dims, max_dims),
        "scale": pad(scale, max_dims),
        "peaks": Peaks(
            centers=pad(peaks.centers, num_peaks(names), max_dims),
            scales=pad(peaks.scales, num_peaks(names), max_dims),
            heights=pad(peaks.heights, num_peaks(names)),
        ),
    }
    return Task(**jax.tree.map(jnp.asarray, leaves), branches=Branches(names, noise_names(noise)))


def stack(tasks: Sequence[Task]) -> Task:
    """One task whose leaves have a leading task axis, to be mapped over with `jax.lax.map`."""
    kinds = {(task.branches, task.x_opt.shape) for task in tasks}
    if len(kinds) != 1:
        raise ValueError(f"tasks must have the same branches and shape, not {len(kinds)} different ones.")
    return jax.tree.map(lambda *leaves: jnp.asarray(np.stack(leaves)), *tasks)


def instances(
    functions: Sequence[int | str], instances: Sequence[int], num_dims: int, max_dims: int | None = None
) -> Task:
    """All given instances of all given functions, stacked function by function."""
    names = tuple(find_function(function).name for function in functions)
    return stack([instance(name, number, num_dims, max_dims, names) for name in names for number in instances])
