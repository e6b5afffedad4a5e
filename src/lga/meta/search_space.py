"""What the meta-optimiser moves: a flat vector, and the operators that it stands for."""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from lga.core.checks import require
from lga.core.tree_io import shapes
from lga.meta.config import MetaConfig
from lga.operators.fold import FoldedTheta, fold, folded_layout, theta_layout, unfold
from lga.operators.theta import Theta, config_of, ravel_theta
from lga.weights import resolve


class SearchSpace(NamedTuple):
    size: int
    operators: Callable[[Float[Array, " w"]], Theta | FoldedTheta]
    """What a vector stands for, as searches take it: inside of the loop nothing is unfolded."""
    theta: Callable[[Float[Array, " w"]], Theta]
    """The same as weights, where they leave the loop."""
    flat: Callable[[Theta], Float[Array, " w"]]
    """A vector that stands for weights which do the same."""


def search_space(config: MetaConfig) -> SearchSpace:
    """The weights themselves, or the few numbers that they fold into."""
    if config.search_space == "weights":
        flat, unravel = ravel_theta(theta_layout(config.theta_config))
        return SearchSpace(flat.size, unravel, unravel, lambda theta: ravel_theta(theta)[0])
    flat, unravel = ravel_pytree(folded_layout(config.theta_config))
    return SearchSpace(
        flat.size,
        unravel,
        lambda numbers: unfold(unravel(numbers), config.key_dim),
        lambda theta: ravel_pytree(fold(theta))[0],
    )


def starting_point(config: MetaConfig, space: SearchSpace) -> Float[Array, " w"]:
    """Zeros, or what stands for the weights that the settings name."""
    if not config.start:
        # From zero: a random start of usual scale multiplies rates and selects at random, and is hard to leave.
        return jnp.zeros(space.size)
    theta = resolve(config.start).theta
    require(
        shapes(theta) == shapes(theta_layout(config.theta_config)),
        f"start is {config.start!r}, which holds {config_of(theta)}, but the run is one of {config.theta_config}.",
    )
    return space.flat(theta)
