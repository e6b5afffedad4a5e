"""Objectives written in JAX: recognised, compiled, and called with a whole generation."""

import functools
import logging
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from lga.core.checks import require
from lga.optimize.bounds import Space

logger = logging.getLogger("lga.optimize")


def compiled_objective(fun: Callable[[Any], Any], space: Space, vectorized: bool) -> Callable[[Any], np.ndarray]:
    """[n, d] -> [n], compiled. Solutions come in JAX's precision, still inside of the bounds."""
    program = jax.jit(fun if vectorized else jax.vmap(lambda x: jnp.reshape(fun(x), ())))

    def evaluate(solutions: Any) -> np.ndarray:
        return np.asarray(program(in_precision_of_jax(np.asarray(solutions, float), space)), float)

    return evaluate


def in_precision_of_jax(solutions: np.ndarray, space: Space) -> np.ndarray:
    """Rounded to the precision of JAX, towards the inside where rounding would leave the bounds."""
    rounded = solutions.astype(jnp.zeros(0).dtype)
    rounded = np.where(rounded > space.high, np.nextafter(rounded, -np.inf, dtype=rounded.dtype), rounded)
    return np.where(rounded < space.low, np.nextafter(rounded, np.inf, dtype=rounded.dtype), rounded)


def is_written_in_jax(fun: Callable[[Any], Any], space: Space, vectorized: bool) -> bool:
    """Whether an objective returns JAX's arrays and means the same when it is compiled.

    If its code mentions JAX it is called at two points of the box, eagerly and compiled. Where the values differ (it
    draws NumPy's random numbers, say) it is left as it is. Code that does not mention JAX is never called for this.
    """
    if not mentions_jax(fun):
        return False
    points = space.decode(space.first_population(np.random.default_rng(0), 2))
    try:
        eager = fun(points) if vectorized else [fun(point) for point in points]
        if not all(isinstance(value, jax.Array) for value in ([eager] if vectorized else eager)):
            return False
        compiled = compiled_objective(fun, space, vectorized)(points)
        with np.errstate(all="ignore"):
            expected = np.asarray([np.asarray(value) for value in eager], float).reshape(-1)
            agrees = compiled.shape == expected.shape and np.allclose(compiled, expected, 1e-3, 1e-5, equal_nan=True)
    except Exception:
        return False
    if not agrees:
        logger.warning("The objective returns JAX's arrays, but other values when compiled: it is called as it is.")
    return bool(agrees)


def mentions_jax(fun: Any, depth: int = 3) -> bool:
    """Whether a function, or a function that it refers to, uses a module of JAX."""
    while isinstance(fun, functools.partial):
        fun = fun.func
    if isinstance(fun, jax.stages.Wrapped):
        return True
    if not isinstance(fun, FunctionType):
        fun = getattr(getattr(fun, "__call__", None), "__func__", None)  # noqa: B004 (the method itself is wanted)
    if not isinstance(fun, FunctionType):
        return False
    return any(name.split(".")[0] == "jax" for name in names_in(fun.__code__)) or any(
        belongs_to_jax(thing) or (depth > 0 and isinstance(thing, FunctionType) and mentions_jax(thing, depth - 1))
        for thing in things_named(fun)
    )


def things_named(fun: FunctionType) -> Iterator[Any]:
    """Globals and enclosed variables that the code of a function names."""
    for name in names_in(fun.__code__):
        if name in fun.__globals__:
            yield fun.__globals__[name]
    for cell in fun.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue  # A variable that is not set yet.


def names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)


def belongs_to_jax(thing: Any) -> bool:
    home = thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", None)
    return isinstance(home, str) and home.split(".")[0] == "jax"


def require_jax(fun: Callable[[Any], Any], space: Space, vectorized: bool) -> None:
    """With `jit=True` a function that cannot be compiled is refused at once."""
    shape = (2, space.num_dims) if vectorized else (space.num_dims,)
    try:
        result = jax.eval_shape(fun, jax.ShapeDtypeStruct(shape, jnp.zeros(0).dtype))
    except Exception as error:
        raise ValueError(f"jit is True, but JAX cannot trace the objective: {error}") from error
    size = int(np.prod(getattr(result, "shape", (0,))))
    require(size == (2 if vectorized else 1), f"jit is True, but the objective returns {result}, not one number each.")
