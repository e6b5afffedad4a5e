"""Random draws that the operators share."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key


def standard_normal(key: Key[Array, ""], num_rows: int, num_columns: int) -> Float[Array, "n d"]:
    return jax.random.normal(key, (num_rows, num_columns))


def log_uniform_factor(key: Key[Array, ""], base: float, count: int) -> Float[Array, " n"]:
    """Factors `base ** U(-1, 1)`: as likely to shrink as to grow."""
    return jnp.exp(jnp.log(base) * jax.random.uniform(key, (count,), minval=-1.0, maxval=1.0))


def uniform_index(key: Key[Array, ""], count: int, size: int) -> Int[Array, " n"]:
    """Indices below `size`, with replacement. One uniform number each: `randint` draws twice the bits."""
    return jnp.minimum((jax.random.uniform(key, (count,)) * size).astype(jnp.int32), size - 1)


def index_by_weight(uniform: Float[Array, "*rows"], weights: Float[Array, "*rows n"]) -> Int[Array, "*rows"]:
    """The index that each uniform number falls on when the weights are laid end to end (inverse of the distribution function).

    One number a row, where a Gumbel draw would take one a weight. A weight of zero is never chosen.
    """
    ends = jnp.cumsum(weights, axis=-1)
    landed = uniform * ends[..., -1]
    index = jnp.sum(ends <= landed[..., None], axis=-1, dtype=jnp.int32)
    return jnp.minimum(index, weights.shape[-1] - 1)

