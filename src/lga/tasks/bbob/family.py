"""Families of BBOB functions, and random tasks drawn from them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from lga.tasks.bbob.functions import FUNCTIONS, Function
from lga.tasks.bbob.noise import NOISE_MODELS
from lga.tasks.bbob.peaks import no_peaks, random_peaks
from lga.tasks.bbob.task import Branches, Frame, Task

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
    """The function of a COCO id or a name."""
    for candidate in FUNCTIONS.values():
        if function in (candidate.id, candidate.name):
            return candidate
    ids = [candidate.id for candidate in FUNCTIONS.values()]
    raise ValueError(
        f"function must be an id from {min(ids)} to {max(ids)} or one of {list(FUNCTIONS)}, not {function!r}."
    )


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
    if not names or not set(names) <= set(NOISE_MODELS):
        raise ValueError(f"noise must be one or more of {list(NOISE_MODELS)}, not {noise!r}.")
    return names


def check_dims(names: Sequence[str], min_dims: int, max_dims: int) -> None:
    for name in names:
        if min_dims < FUNCTIONS[name].min_dims:
            raise ValueError(f"{name} needs at least {FUNCTIONS[name].min_dims} dimensions, not {min_dims}.")
    if max_dims < min_dims:
        raise ValueError(f"max_dims must be at least {min_dims}, the smallest number of dimensions, not {max_dims}.")


def num_peaks(names: Sequence[str]) -> int:
    """How many peaks a task needs room for."""
    return max((peaks.count for name in names if (peaks := FUNCTIONS[name].peaks)), default=0)


def maps(function: Function, frame: Frame) -> tuple[Any, Any, Any]:
    """The function's inner map, outer map and scale; zeros where it has none."""
    inner = function.inner(frame) if function.inner else 0.0 * frame.R
    outer = function.outer(frame) if function.outer else 0.0 * frame.R
    scale = function.scale(frame) if function.scale else 0.0 * frame.ramp
    return inner, outer, scale


def random_rotation(key: Key[Array, ""], mask: Bool[Array, "d"]) -> Float[Array, "d d"]:
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
    """A random task, padded to `max_dims` coordinates. Only the key may be traced.

    Function, noise model and number of dimensions (both ends included) are uniform over what is given, rotations over
    the orthogonal group, the optimum over [-5, 5]^D or, where the function ties it to corners, over these. f_opt is 0.
    """
    names, noise_models = family_members(family), noise_names(noise)
    check_dims(names, min_dims, max_dims)
    key_function, key_dims, key_optimum, key_rotations, key_peaks, key_noise = jax.random.split(key, 6)

    num_dims = jax.random.randint(key_dims, (), min_dims, max_dims + 1)
    coordinate = jnp.arange(max_dims)
    mask = coordinate < num_dims
    R, Q = jax.vmap(random_rotation, in_axes=(0, None))(jax.random.split(key_rotations), mask)
    frame = Frame(
        R=R,
        Q=Q,
        ramp=jnp.where(mask, coordinate / jnp.maximum(num_dims - 1, 1), 0.0),
        stretch=jnp.maximum(1.0, jnp.sqrt(num_dims) / 8),
    )
    point = jax.random.uniform(key_optimum, (max_dims,), minval=-5.0, maxval=5.0)

    def place(function: Function) -> Callable[[], tuple[Array, ...]]:
        return lambda: (jnp.where(mask, function.optimum(point), 0.0), *maps(function, frame))

    function_index = jax.random.randint(key_function, (), 0, len(names))
    x_opt, inner, outer, scale = jax.lax.switch(function_index, [place(FUNCTIONS[name]) for name in names])
    if num_peaks(names):
        # Functions without peaks get those of another one: they do not look at them.
        spare = next(peaks for name in names if (peaks := FUNCTIONS[name].peaks))
        peak_sets = tuple(FUNCTIONS[name].peaks or spare for name in names)
        peaks = random_peaks(key_peaks, peak_sets, function_index, frame.Q, x_opt, mask)
    else:
        peaks = jax.tree.map(jnp.asarray, no_peaks(max_dims))
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
        branches=Branches(names, noise_models),
    )
