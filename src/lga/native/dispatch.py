"""A function of arrays with two bodies: JAX everywhere, C++ where that is possible."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from lga.native.library import status

NATIVE_TYPES = tuple(map(jnp.dtype, ("float32", "int32", "uint32")))
THREEFRY = "threefry2x32"


def with_kernel(native: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates a JAX function with its native twin, a function of the same trees of arrays and static keywords.

    The twin runs on CPUs if the kernel is in use and all arrays have 32 bits. The platform is asked when a program is
    compiled, so one that was traced here runs elsewhere. Derivatives are those of the JAX function.
    """

    def decorate(reference: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(reference)
        def dispatch(*trees, **static):
            if status().kernel == "native" and all(leaf.dtype in NATIVE_TYPES for leaf in jax.tree.leaves(trees)):
                return either(partial(native, **static), partial(reference, **static))(*trees)
            return reference(*trees, **static)

        return dispatch

    return decorate


def either(native: Callable[..., Any], reference: Callable[..., Any]) -> Callable[..., Any]:
    @jax.custom_jvp
    def function(*trees):
        return jax.lax.platform_dependent(*trees, cpu=native, default=reference)

    @function.defjvp
    def _(primals, tangents):
        return jax.jvp(reference, primals, tangents)

    return function


def draws_numbers_of(key: Key[Array, ""]) -> bool:
    """Whether the native kernel is in use and draws the same numbers from the key as JAX."""
    partitionable = jax.config.jax_threefry_partitionable  # pyright: ignore[reportAttributeAccessIssue]
    return status().kernel == "native" and str(jax.random.key_impl(key)) == THREEFRY and bool(partitionable)
