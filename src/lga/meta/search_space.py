"""What the meta-optimiser moves: a flat vector, and the weights that it stands for."""

from collections.abc import Callable
from typing import NamedTuple

from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from lga.meta.config import MetaConfig
from lga.operators.theta import Theta, ravel_theta, theta_layout
from lga.operators.unfold import folded_layout, unfold


class SearchSpace(NamedTuple):
    size: int
    theta: Callable[[Float[Array, " w"]], Theta]


def search_space(config: MetaConfig) -> SearchSpace:
    """The weights themselves, or the few numbers that they fold into."""
    if config.search_space == "weights":
        flat, unravel = ravel_theta(theta_layout(config.theta_config))
        return SearchSpace(flat.size, unravel)
    flat, unravel = ravel_pytree(folded_layout(config.theta_config))
    return SearchSpace(flat.size, lambda numbers: unfold(unravel(numbers), config.key_dim))
