"""The box that searches run in: side 10 around the origin, with mirrors for walls."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from lga.core.variables import HALF_SIDE


def to_unit(coordinates: Float[Array, "*n d"]) -> Float[Array, "*n d"]:
    """What the mirrors show, in [0, 1]: a step beyond a wall comes back by as much as it went too far."""
    turns = (coordinates + HALF_SIDE) / (4.0 * HALF_SIDE)
    # From 0 up to 1 and down again as the turn goes from 0 to 1.
    return 1.0 - jnp.abs(2.0 * (turns - jnp.floor(turns)) - 1.0)


def from_unit(points: Float[Array, "*n d"]) -> Float[Array, "*n d"]:
    return (points - 0.5) * (2.0 * HALF_SIDE)
