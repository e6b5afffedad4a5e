"""Objectives written in JAX: compiled, and called with a whole generation."""

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from lga.core.checks import require
from lga.core.tree_io import digest
from lga.optimize.bounds import Space


def compiled_objective(fun: Callable[[Any], Any], space: Space, vectorized: bool) -> Callable[[Any], np.ndarray]:
    """[n, d] -> [n], compiled. Solutions come in JAX's precision, still inside of the bounds."""
    require_jax(fun, space, vectorized)
    program = jax.jit(fun if vectorized else jax.vmap(lambda x: jnp.reshape(fun(x), ())))

    def evaluate(solutions: Any) -> np.ndarray:
        return np.asarray(program(in_precision_of_jax(np.asarray(solutions, float), space)), float)

    return evaluate


def in_precision_of_jax(solutions: np.ndarray, space: Space) -> np.ndarray:
    """Rounded to the precision of JAX, towards the inside where rounding would leave the bounds."""
    rounded = solutions.astype(jnp.zeros(0).dtype)
    rounded = np.where(rounded > space.high, np.nextafter(rounded, -np.inf, dtype=rounded.dtype), rounded)
    return np.where(rounded < space.low, np.nextafter(rounded, np.inf, dtype=rounded.dtype), rounded)


def require_jax(fun: Callable[[Any], Any], space: Space, vectorized: bool) -> None:
    """A function that cannot be compiled is refused at once. It is traced for that, not evaluated."""
    shape = (2, space.num_dims) if vectorized else (space.num_dims,)
    try:
        result = jax.eval_shape(fun, jax.ShapeDtypeStruct(shape, jnp.zeros(0).dtype))
    except Exception as error:
        raise ValueError(f"jit is True, but JAX cannot trace the objective: {error}") from error
    size = int(np.prod(getattr(result, "shape", (0,))))
    require(size == (2 if vectorized else 1), f"jit is True, but the objective returns {result}, not one number each.")
    require(
        program_of(fun, shape) == program_of(fun, shape),
        "jit is True, but the objective gives another program each time that it is traced: counters, random numbers of "
        "NumPy and the like would be frozen in the compiled one. Make it a pure function, or leave jit out.",
    )


def program_of(fun: Callable[[Any], Any], shape: tuple[int, ...]) -> tuple[str, str]:
    """What JAX makes of the objective, with all its constants."""
    # Another function object of the same name: JAX remembers what it has traced.
    traced = jax.make_jaxpr(lambda x: fun(x))(jax.ShapeDtypeStruct(shape, jnp.zeros(0).dtype))
    # Functions within a program are printed with where they lie in memory.
    return re.sub(r" at 0x[0-9a-f]+", "", str(traced.jaxpr)), digest(list(map(np.asarray, traced.consts)))
