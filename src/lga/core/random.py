"""Random draws that the operators share."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

LARGEST_TRIANGLE = 64


def standard_normal(key: Key[Array, ""], num_rows: int, num_columns: int) -> Float[Array, "n d"]:
    return jax.random.normal(key, (num_rows, num_columns))


def log_uniform_factor(key: Key[Array, ""], base: float, count: int) -> Float[Array, " n"]:
    """Factors `base ** U(-1, 1)`: as likely to shrink as to grow."""
    return jnp.exp(jnp.log(base) * jax.random.uniform(key, (count,), minval=-1.0, maxval=1.0))


def uniform_index(key: Key[Array, ""], count: int, size: int) -> Int[Array, " n"]:
    """Indices below `size`, with replacement. One uniform number each: `randint` draws twice the bits."""
    return jnp.minimum((jax.random.uniform(key, (count,)) * size).astype(jnp.int32), size - 1)


def index_by_weight(uniform: Float[Array, "*rows"], weights: Float[Array, "*rows n"]) -> Int[Array, "*rows"]:
    """The index that each uniform number falls on when the weights are laid end to end (inverse of the distribution).

    One number a row, where a Gumbel draw would take one a weight. A weight of zero is never chosen.
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
