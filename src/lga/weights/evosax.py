"""Weights of evosax's learned genetic algorithm in our layout.

They are taken from the dictionary that an evosax `LearnedGA` object holds as `lga_params`: no pickle is opened here.
"""

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from lga.core.checks import require
from lga.operators.features import NUM_FITNESS_FEATURES, NUM_RATE_FEATURES, NUM_SAMPLING_FEATURES
from lga.operators.theta import AttentionTheta, Dense, Heads, ReadoutTheta, SelectionTheta, Theta

EVOSAX_LGA = "evosax-lga"
"""The name that evosax's weights go by in comparisons."""


def evosax_theta(num_dims: int) -> Theta:
    """The weights that evosax's `LearnedGA` uses for solutions of this length."""
    try:
        from evosax.algorithms import LearnedGA
    except ImportError as error:
        raise ImportError(f"{EVOSAX_LGA} comes with evosax: pip install 'lga[bench]'.") from error
    return theta_from_evosax(LearnedGA(8, jnp.zeros(num_dims)).lga_params)


def theta_from_evosax(params: Mapping[str, Any], sigma_shift: float = 2.0, learned_sampling: bool = True) -> Theta:
    """Learned selection, mutation rate and, if wanted, sampling.

    The weights of 2023 were trained on scaled rates in [1, 3], ours lie in [-1, 1]; `sigma_shift` is the difference.
    It is 0 for weights that were trained with evosax's symmetric encoding.
    """
    selection, mutation = module(params, "selection"), module(params, "mutation")
    return Theta(
        select=SelectionTheta(
            attention=attention(selection, "selection", "MultiHeadCrossAttention_0", NUM_FITNESS_FEATURES),
            query=dense(selection, "selection", "Dense_0"),
            key=dense(selection, "selection", "Dense_1"),
        ),
        rate=shift_last_feature(readout(mutation, "mutation", NUM_RATE_FEATURES), sigma_shift),
        sample=readout(module(params, "sampling"), "sampling", NUM_SAMPLING_FEATURES) if learned_sampling else None,
    )


def shift_last_feature(theta: ReadoutTheta, shift: float) -> ReadoutTheta:
    """The same function of a last feature that is smaller by `shift`: W (x + shift) + b is W x + (b + shift W)."""

    def shifted(heads: Heads) -> Heads:
        return Heads(heads.kernel, heads.bias + shift * heads.kernel[-1])

    attention = theta.attention
    return ReadoutTheta(
        AttentionTheta(shifted(attention.query), shifted(attention.key), shifted(attention.value), attention.mix),
        theta.readout,
    )


def readout(layers: Mapping[str, Any], origin: str, num_features: int) -> ReadoutTheta:
    return ReadoutTheta(
        attention=attention(layers, origin, "MultiHeadSelfAttention_0", num_features),
        readout=dense(layers, origin, "Dense_0"),
    )


def attention(layers: Mapping[str, Any], origin: str, name: str, num_features: int) -> AttentionTheta:
    inner, origin = entry(layers, origin, name), f"{origin}.{name}"

    def heads(role: str) -> Heads:
        kernel, bias = kernel_and_bias(inner, origin, role)
        require(
            kernel.ndim == 3 and kernel.shape[0] == num_features,
            f"params has a kernel of shape {kernel.shape} at {origin}.{role}, "
            f"but must have one of ({num_features}, heads, size of a head).",
        )
        return Heads(jnp.asarray(kernel), jnp.asarray(bias))

    mix_kernel, mix_bias = kernel_and_bias(inner, origin, "out")
    # Heads lie one after the other in the rows of our mixing matrix.
    mix = Dense(jnp.asarray(mix_kernel.reshape(-1, mix_kernel.shape[-1])), jnp.asarray(mix_bias))
    return AttentionTheta(heads("query"), heads("key"), heads("value"), mix)


def dense(layers: Mapping[str, Any], origin: str, name: str) -> Dense:
    kernel, bias = kernel_and_bias(layers, origin, name)
    return Dense(jnp.asarray(kernel), jnp.asarray(bias))


def kernel_and_bias(layers: Mapping[str, Any], origin: str, name: str) -> tuple[np.ndarray, np.ndarray]:
    layer, origin = entry(layers, origin, name), f"{origin}.{name}"
    return np.asarray(entry(layer, origin, "kernel")), np.asarray(entry(layer, origin, "bias"))


def module(params: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return entry(entry(params, "params", name), name, "params")


def entry(tree: Mapping[str, Any], origin: str, name: str) -> Any:
    require(
        isinstance(tree, Mapping) and name in tree,
        f"params has no {name!r} at {origin}, but must be the lga_params of an evosax LearnedGA.",
    )
    return tree[name]
