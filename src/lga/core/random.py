"""Random draws that the operators share."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, UInt32

from lga import native

LARGEST_TRIANGLE = 64
LARGEST_RIGHT_ANGLED = 200
"""The most columns for which rows of balanced noise are brought to right angles."""


def split(key: Key[Array, ""], num: int = 2) -> tuple[Key[Array, ""], ...]:
    """As `jax.random.split`."""
    if not native.draws_numbers_of(key) or num > native.MOST_KEYS:
        return tuple(jax.random.split(key, num))
    return tuple(map(threefry_key, split_threefry(jax.random.key_data(key), num=num)))


def fold_in(key: Key[Array, ""], data: Int[Array, ""]) -> Key[Array, ""]:
    """As `jax.random.fold_in`."""
    if not native.draws_numbers_of(key):
        return jax.random.fold_in(key, data)
    return threefry_key(fold_in_threefry(jax.random.key_data(key), data))


def uniform(key: Key[Array, ""], count: int, dtype: Any = None) -> Float[Array, " n"]:
    """Numbers in [0, 1), as `jax.random.uniform` draws them."""
    if not native.draws_numbers_of(key) or jnp.zeros((), dtype).dtype != jnp.float32:
        return jax.random.uniform(key, (count,), dtype)
    return uniform_threefry(jax.random.key_data(key), count=count)


def mutate(
    key: Key[Array, ""], solutions: Float[Array, "e d"], index: Int[Array, " n"], sigma: Float[Array, " n"]
) -> Float[Array, "n d"]:
    """The solutions at the indices, each with Gaussian noise of its own deviation."""
    if not native.draws_numbers_of(key):
        return add_noise(key, solutions, index, sigma)
    return mutate_threefry(jax.random.key_data(key), solutions, index, sigma)


def add_noise(
    key: Key[Array, ""], solutions: Float[Array, "e d"], index: Int[Array, " n"], sigma: Float[Array, " n"]
) -> Float[Array, "n d"]:
    start = solutions[index]
    return start + sigma[:, None] * standard_normal(key, *start.shape, dtype=start.dtype)


def standard_normal(key: Key[Array, ""], num_rows: int, num_columns: int, dtype: Any = None) -> Float[Array, "n d"]:
    return jax.random.normal(key, (num_rows, num_columns), dtype)


def normal(key: Key[Array, ""], num_rows: int, num_columns: int, dtype: Any = None) -> Float[Array, "n d"]:
    """Standard normal numbers, as `jax.random.normal` draws them."""
    zeros = jnp.zeros((1, num_columns), dtype)
    return mutate(key, zeros, jnp.zeros(num_rows, jnp.int32), jnp.ones(num_rows, zeros.dtype))


def balanced_normal(key: Key[Array, ""], num_rows: int, num_columns: int, dtype: Any = None) -> Float[Array, "n d"]:
    """Rows that are standard normal each, but not independent: the second half mirrors the first, whose rows are at
    right angles, as many at a time as there are columns. Where there are far more columns than rows, they nearly are
    by themselves."""
    num_directions = (num_rows + 1) // 2
    if num_columns > LARGEST_RIGHT_ANGLED:
        directions = normal(key, num_directions, num_columns, dtype)
    else:
        in_block = min(num_directions, num_columns)
        num_blocks = -(-num_directions // in_block)
        directions = normal(key, num_blocks * in_block, num_columns, dtype)
        directions = jax.vmap(at_right_angles)(directions.reshape(num_blocks, in_block, num_columns))
        directions = directions.reshape(-1, num_columns)[:num_directions]
    return jnp.concatenate([directions, -directions])[:num_rows]


def at_right_angles(rows: Float[Array, "k d"]) -> Float[Array, "k d"]:
    """Rows, not more than columns, turned one after the other until they are orthogonal; their lengths stay.

    By Gram and Schmidt, twice each, which is as exact as a decomposition. LAPACK's threads would wait for each other
    longer than the arithmetic takes.
    """

    def turn(units: Float[Array, "k d"], place_and_row):
        place, row = place_and_row
        for _ in range(2):
            shares = jnp.matmul(units, row, precision="highest")
            row = row - jnp.matmul(shares, units, precision="highest")
        return units.at[place].set(row / jnp.linalg.norm(row)), None

    units, _ = jax.lax.scan(turn, jnp.zeros_like(rows), (jnp.arange(rows.shape[0]), rows))
    return jnp.linalg.norm(rows, axis=-1, keepdims=True) * units


def even_uniform(key: Key[Array, ""], count: int, dtype: Any = None) -> Float[Array, " n"]:
    """Numbers in [0, 1), each uniform, and together evenly spread: one in each of `count` parts of the interval."""
    places = (uniform(key, 1, dtype) + jnp.arange(count, dtype=dtype) / count) % 1.0
    # Rounding must not make a one of the last.
    return jnp.minimum(places, 1.0 - jnp.finfo(places.dtype).eps)


def threefry_key(key_data: UInt32[Array, "2"]) -> Key[Array, ""]:
    return jax.random.wrap_key_data(key_data, impl=native.THREEFRY)


@native.with_kernel(native.split)
def split_threefry(key_data: UInt32[Array, "2"], num: int) -> tuple[UInt32[Array, "2"], ...]:
    return tuple(jax.random.key_data(jax.random.split(threefry_key(key_data), num)))


@native.with_kernel(native.fold_in)
def fold_in_threefry(key_data: UInt32[Array, "2"], data: Int[Array, ""]) -> UInt32[Array, "2"]:
    return jax.random.key_data(jax.random.fold_in(threefry_key(key_data), data))


@native.with_kernel(native.uniform)
def uniform_threefry(key_data: UInt32[Array, "2"], count: int) -> Float[Array, " n"]:
    return jax.random.uniform(threefry_key(key_data), (count,), jnp.float32)


@native.with_kernel(native.mutate)
def mutate_threefry(
    key_data: UInt32[Array, "2"], solutions: Float[Array, "e d"], index: Int[Array, " n"], sigma: Float[Array, " n"]
) -> Float[Array, "n d"]:
    return add_noise(threefry_key(key_data), solutions, index, sigma)


def log_uniform_factor(key: Key[Array, ""], base: float, count: int) -> Float[Array, " n"]:
    """Factors `base ** U(-1, 1)`: as likely to shrink as to grow."""
    return jnp.exp(jnp.log(base) * jax.random.uniform(key, (count,), minval=-1.0, maxval=1.0))


def uniform_index(key: Key[Array, ""], count: int, size: int) -> Int[Array, " n"]:
    """Indices below `size`, with replacement. One uniform number each: `randint` draws twice the bits."""
    return jnp.minimum((uniform(key, count) * size).astype(jnp.int32), size - 1)


def index_by_weight(uniform: Float[Array, "*rows"], weights: Float[Array, "*rows n"]) -> Int[Array, "*rows"]:
    """The index that each uniform number falls on when the weights are laid end to end (inverse of the distribution).

    One number per row, where a Gumbel draw would take one per weight. A weight of zero is never chosen.
    """
    ends = running_sum(weights)
    if weights.shape[-1] > LARGEST_TRIANGLE:
        # A scan adds in a tree, so the end of a zero weight can round above its neighbour's: it is put out of reach.
        ends = jnp.where(weights > 0.0, ends, 0.0)
        landed = uniform * jnp.max(ends, axis=-1)
        return jnp.argmax(ends > landed[..., None], axis=-1).astype(jnp.int32)
    landed = uniform * ends[..., -1]
    index = jnp.sum(ends <= landed[..., None], axis=-1, dtype=jnp.int32)
    return jnp.minimum(index, weights.shape[-1] - 1)


def running_sum(weights: Float[Array, "*rows n"]) -> Float[Array, "*rows n"]:
    n = weights.shape[-1]
    if n > LARGEST_TRIANGLE:
        return jnp.cumsum(weights, axis=-1)
    # One small product takes a fifth of the time of a scan's many steps.
    return jnp.matmul(weights, jnp.triu(jnp.ones((n, n), weights.dtype)), precision="highest")
