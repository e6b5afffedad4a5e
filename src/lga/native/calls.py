"""The kernels as functions of arrays, for one run; `vmap` puts batch axes in front. Float32 on CPUs only.

Operands that a batch shares are not copied: they get an axis of size one, over which the kernels do not move.
"""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import AbstractArray, Array, Float, Int, UInt32, jaxtyped

from lga.native.library import load

# The most that a key is split into at once.
MOST_KEYS = 16


def call(name: str, results: Any) -> Callable[..., Any]:
    load()
    return jax.ffi.ffi_call(name, results, vmap_method="expand_dims")


def refuses_other_shapes(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Holds the arrays against their annotations when a program is traced, before the handlers see their memory."""
    signature = inspect.signature(kernel)
    arrays = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if inspect.isclass(parameter.annotation) and issubclass(parameter.annotation, AbstractArray)
    }

    @wraps(kernel)
    def checked(*args, **static):
        given = signature.bind(*args, **static).arguments
        with jaxtyped("context"):
            for name, annotation in arrays.items():
                if not isinstance(given[name], annotation):
                    raise ValueError(
                        f"{name} of lga.native.{kernel.__name__} is {jax.typeof(given[name])}, but must be "
                        f"{annotation.__name__}; a letter is the same number in all arguments."
                    )
        return kernel(*args, **static)

    return checked


def floats(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def integers(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.int32)


@refuses_other_shapes
def split(key_data: UInt32[Array, "2"], num: int) -> tuple[UInt32[Array, "2"], ...]:
    """As `jax.random.split` of a Threefry key, for up to 16 keys."""
    return call("lga_split", (jax.ShapeDtypeStruct((2,), jnp.uint32),) * num)(key_data)


@refuses_other_shapes
def fold_in(key_data: UInt32[Array, "2"], data: Int[Array, ""]) -> UInt32[Array, "2"]:
    """As `jax.random.fold_in` of a Threefry key."""
    return call("lga_fold_in", jax.ShapeDtypeStruct((2,), jnp.uint32))(key_data, data)


@refuses_other_shapes
def uniform(key_data: UInt32[Array, "2"], count: int) -> Float[Array, " n"]:
    """As `jax.random.uniform` of a Threefry key."""
    return call("lga_uniform", floats(count))(key_data)


@refuses_other_shapes
def select(
    parent_fitness: Float[Array, " e"],
    child_fitness: Float[Array, " n"],
    best_fitness: Float[Array, ""],
    uniform: Float[Array, " e"],
    attend: Float[Array, "h 4 4"],
    score: Float[Array, "h 4 4"],
) -> Int[Array, " e"]:
    """Features of all, attention, and a draw for each parent: a child, or N to keep the parent."""
    result = integers(*parent_fitness.shape)
    return call("lga_select", result)(parent_fitness, child_fitness, best_fitness, uniform, attend, score)


@refuses_other_shapes
def sample(
    fitness: Float[Array, " e"],
    age: Int[Array, " e"],
    best_fitness: Float[Array, ""],
    generation: Int[Array, ""],
    uniform: Float[Array, " n"],
    attend: Float[Array, "h 5 5"],
    value: Float[Array, "h 5"],
) -> Int[Array, " n"]:
    """Features of the parents, attention, and a draw of a parent for each child."""
    result = integers(*uniform.shape)
    return call("lga_sample", result)(fitness, age, best_fitness, generation, uniform, attend, value)


@refuses_other_shapes
def blend(
    fitness: Float[Array, " e"],
    age: Int[Array, " e"],
    best_fitness: Float[Array, ""],
    generation: Int[Array, ""],
    solutions: Float[Array, "e d"],
    sigma: Float[Array, " e"],
    parent_index: Int[Array, " n"],
    attend: Float[Array, "h 5 5"],
    gate_kernel: Float[Array, "4 h"],
    gate_bias: Float[Array, " h"],
) -> tuple[Array, ...]:
    """The parents at the indices, moved towards means of all [n, d], and how far their log rates are from these [n]."""
    results = (floats(parent_index.shape[0], solutions.shape[1]), floats(*parent_index.shape))
    return call("lga_blend", results)(
        fitness,
        age,
        best_fitness,
        generation,
        solutions,
        sigma,
        parent_index,
        attend,
        gate_kernel,
        gate_bias,
    )


@refuses_other_shapes
def rate(
    fitness: Float[Array, " n"],
    sigma: Float[Array, " n"],
    best_fitness: Float[Array, ""],
    attend: Float[Array, "h 6 6"],
    value: Float[Array, "h 6"],
) -> Float[Array, " n"]:
    """Features of the sampled parents, attention, and what each one's rate is multiplied by."""
    return call("lga_rate", floats(*fitness.shape))(fitness, sigma, best_fitness, attend, value)


@refuses_other_shapes
def mutate(
    key_data: UInt32[Array, "2"],
    solutions: Float[Array, "e d"],
    parent_index: Int[Array, " n"],
    sigma: Float[Array, " n"],
) -> Float[Array, "n d"]:
    """`solutions[parent_index] + sigma * noise`, the noise being `jax.random.normal`'s of a Threefry key."""
    result = floats(parent_index.shape[0], solutions.shape[1])
    return call("lga_mutate", result)(key_data, solutions, parent_index, sigma)


@refuses_other_shapes
def bend(
    start: Float[Array, "n d"],
    sigma: Float[Array, " n"],
    noise: Float[Array, "n d"],
    drift: Float[Array, " d"],
    stretch: Float[Array, "d d"],
) -> Float[Array, "n d"]:
    """`start + sigma * stretch @ (noise + drift)`, row by row."""
    return call("lga_bend", floats(*start.shape))(start, sigma, noise, drift, stretch)


@refuses_other_shapes
def adapt(
    fitness: Float[Array, " n"],
    noise: Float[Array, "n d"],
    path: Float[Array, " d"],
    stretch: Float[Array, "d d"],
    strengths: Float[Array, "7"],
) -> tuple[Array, ...]:
    """The next path [d] and stretch [d, d], and what all mutation rates are multiplied by."""
    results = (floats(*path.shape), floats(*stretch.shape), floats())
    return call("lga_adapt", results)(fitness, noise, path, stretch, strengths)


@refuses_other_shapes
def survive(
    survivor_index: Int[Array, " e"],
    child_solutions: Float[Array, "n d"],
    child_fitness: Float[Array, " n"],
    child_sigma: Float[Array, " n"],
    parent_solutions: Float[Array, "e d"],
    parent_fitness: Float[Array, " e"],
    parent_sigma: Float[Array, " e"],
    parent_age: Int[Array, " e"],
    best_solution: Float[Array, " d"],
    best_fitness: Float[Array, ""],
) -> tuple[Array, ...]:
    """Solutions, fitness, sigma and age of the survivors; best solution so far, its fitness; failures of children."""
    (size,), num_dims = survivor_index.shape, best_solution.shape[0]
    results = (
        floats(size, num_dims),
        floats(size),
        floats(size),
        integers(size),
        floats(num_dims),
        floats(),
        integers(),
    )
    return call("lga_survive", results)(
        survivor_index,
        child_solutions,
        child_fitness,
        child_sigma,
        parent_solutions,
        parent_fitness,
        parent_sigma,
        parent_age,
        best_solution,
        best_fitness,
    )


@refuses_other_shapes
def convolve(
    images: Float[Array, "b h w c"], filters: Float[Array, "k k c f"], bias: Float[Array, " f"], *, pooled: bool
) -> Float[Array, "b h2 w2 f"]:
    """Filters of odd width over images with a border of zeros; the largest of every 2 x 2 pixels if `pooled`."""
    num_images, *sides, _ = images.shape
    result = floats(num_images, *(side // 2 if pooled else side for side in sides), bias.shape[0])
    return call("lga_convolve", result)(images, filters, bias, pooled=pooled)
