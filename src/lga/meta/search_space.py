"""What the meta-optimiser moves: a flat vector, and the operators that it stands for."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from lga.core.checks import require
from lga.core.tree_io import shapes
from lga.meta.config import STRATEGY_START, MetaConfig
from lga.operators.designed import compact_steps, fixed_operators, strategy_numbers, without_parts
from lga.operators.fold import FoldedTheta, fold, folded_layout, theta_layout, unfold
from lga.operators.theta import Theta, config_of, ravel_theta
from lga.weights import resolve


class SearchSpace(NamedTuple):
    start: Float[Array, " w"]
    """Where the meta-mean starts from."""
    operators: Callable[[Float[Array, " w"]], Theta | FoldedTheta]
    """What a vector stands for, as searches take it: inside of the loop nothing is unfolded."""
    theta: Callable[[Float[Array, " w"]], Theta]
    """The same as weights, where they leave the loop."""


def search_space(config: MetaConfig) -> SearchSpace:
    """The weights themselves, the few numbers that they fold into, or some of these."""
    # Its constants are values and not tracers, wherever it is asked for.
    with jax.ensure_compile_time_eval():
        return make_search_space(config)


def make_search_space(config: MetaConfig) -> SearchSpace:
    if config.search_space == "weights":
        start = theta_layout(config.theta_config) if not config.start else starting_theta(config)
        flat, unravel = ravel_theta(start)
        return SearchSpace(flat, unravel, unravel)
    numbers = starting_numbers(config)
    steps = (
        compact_steps(config.theta_config) if config.search_space == "compact" else jax.tree.map(jnp.ones_like, numbers)
    )
    numbers, steps = without_parts(numbers, fixed_operators(steps, config.fixed), config.switched_off)
    flat, unravel = ravel_pytree(numbers)
    sizes = np.asarray(ravel_pytree(steps)[0])
    moved = np.flatnonzero(sizes)

    def operators(vector: Float[Array, " w"]) -> FoldedTheta:
        return unravel(flat.at[moved].set(vector * sizes[moved]))

    return SearchSpace(flat[moved] / sizes[moved], operators, lambda vector: unfold(operators(vector), config.key_dim))


def starting_numbers(config: MetaConfig) -> FoldedTheta:
    # From zero: a random start of usual scale multiplies rates and selects at random, and is hard to leave.
    if not config.start:
        return folded_layout(config.theta_config)
    return strategy_numbers(config.theta_config) if config.start == STRATEGY_START else fold(starting_theta(config))


def starting_theta(config: MetaConfig) -> Theta:
    if config.start == STRATEGY_START:
        return unfold(strategy_numbers(config.theta_config), config.key_dim)
    theta = resolve(config.start).theta
    require(
        shapes(theta) == shapes(theta_layout(config.theta_config)),
        f"start is {config.start!r}, which holds {config_of(theta)}, but the run is one of {config.theta_config}.",
    )
    return theta
