"""Scattered mutation, for boxes: few coordinates at a time, by steps of many sizes, and now and then anywhere.

Where a search has a hundred evaluations there is nothing to learn a shape from. Variables may be switches, which small
steps never turn, and most of them may not matter: a child that differs in a few coordinates tells more than one that
differs in all.
"""

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from lga.core.box import from_unit
from lga.core.interfaces import MutationShape
from lga.operators.theta import ScatterTheta

# Where the numbers are zero.
USUAL_SHARE = 0.0
"""Logit of the share of coordinates that are mutated."""
USUAL_ANEW = math.log(0.5)
"""Logarithm of how many coordinates of a child are drawn anew, on average."""
USUAL_NEWCOMERS = -1.5
"""Logit of the share of children that are drawn anew altogether."""
USUAL_SPREAD = 0.0
"""Logarithm of the spread of the logarithm of a step's size."""


def scattered(folded: ScatterTheta) -> MutationShape:
    """Nothing is remembered, and nothing learned while it searches."""

    def mutate(
        key: Key[Array, ""],
        memory: tuple[()],
        solutions: Float[Array, "e d"],
        index: Int[Array, " n"],
        sigma: Float[Array, " n"],
    ) -> tuple[Float[Array, "n d"], None]:
        key_size, key_noise, key_share, key_anew, key_newcomer, key_place = jax.random.split(key, 6)
        start = solutions[index]
        (count, num_dims), dtype = start.shape, start.dtype
        spread = jnp.exp(USUAL_SPREAD + folded.spread[0])
        size = sigma * jnp.exp(folded.size[0] + spread * jax.random.normal(key_size, (count,), dtype)).astype(dtype)
        steps = size[:, None] * jax.random.normal(key_noise, start.shape, dtype)
        # At least one coordinate, on average, however few there are.
        share = jnp.maximum(jax.nn.sigmoid(USUAL_SHARE + along(folded.share, num_dims)), 1.0 / num_dims)
        moved = start + jnp.where(jax.random.uniform(key_share, start.shape) < share, steps, 0.0)
        anew = jnp.exp(USUAL_ANEW + along(folded.anew, num_dims)) / num_dims
        newcomer = jax.nn.sigmoid(USUAL_NEWCOMERS + folded.newcomers[0])
        is_anew = jax.random.uniform(key_anew, start.shape) < anew
        is_newcomer = jax.random.uniform(key_newcomer, (count, 1)) < newcomer
        anywhere = from_unit(jax.random.uniform(key_place, start.shape, dtype))
        return jnp.where(is_anew | is_newcomer, anywhere, moved), None

    return MutationShape(lambda solutions: (), mutate, lambda memory, children, fitness: (memory, None))


def along(pair: Float[Array, "2"], num_dims: int) -> Float[Array, ""]:
    return pair[0] + pair[1] * math.log(num_dims / 10.0)


SCATTERINGS: dict[str, Callable[..., MutationShape]] = {"scattered": scattered}
