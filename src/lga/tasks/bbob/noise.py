"""Noise models of the noisy BBOB suite (Hansen et al., 2009), applied to gaps.

A model maps `(key, gaps, num_dims)` to noisy gaps. Gaps below the target of 1e-8 stay undisturbed; all others get
1.01e-8 on top of the noise, so noise alone never reaches the target.
"""

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

TARGET = 1e-8

Gaps = Float[Array, "n"]
NoiseModel = Callable[[Key[Array, ""], Gaps, Int[Array, ""]], Gaps]


def no_noise(key: Key[Array, ""], gaps: Gaps, num_dims: Int[Array, ""]) -> Gaps:
    return gaps


def stabilised(disturb: NoiseModel) -> NoiseModel:
    def model(key: Key[Array, ""], gaps: Gaps, num_dims: Int[Array, ""]) -> Gaps:
        disturbed = disturb(key, jnp.maximum(gaps, TARGET), num_dims) + 1.01 * TARGET
        return jnp.where(gaps < TARGET, gaps, disturbed)

    return model


def gaussian(beta: float) -> NoiseModel:
    """gap * exp(beta N(0, 1))."""

    def disturb(key: Key[Array, ""], gaps: Gaps, num_dims: Int[Array, ""]) -> Gaps:
        return gaps * jnp.exp(beta * jax.random.normal(key, gaps.shape))

    return stabilised(disturb)


def uniform(severity: float) -> NoiseModel:
    """gap * U^beta * max(1, (1e9 / gap)^(alpha U')), with beta = severity and alpha = severity (0.49 + 1/D)."""

    def disturb(key: Key[Array, ""], gaps: Gaps, num_dims: Int[Array, ""]) -> Gaps:
        key_shrink, key_stretch = jax.random.split(key)
        alpha = severity * (0.49 + 1 / num_dims)
        shrink = -severity * jax.random.exponential(key_shrink, gaps.shape)  # log of U^severity
        stretch = alpha * jax.random.uniform(key_stretch, gaps.shape) * (math.log(1e9) - jnp.log(gaps))
        return gaps * jnp.exp(shrink + jnp.maximum(stretch, 0.0))

    return stabilised(disturb)


def cauchy(alpha: float, probability: float) -> NoiseModel:
    """gap + alpha max(0, 1000 + B C), with B ~ Bernoulli(probability) and C ~ standard Cauchy."""

    def disturb(key: Key[Array, ""], gaps: Gaps, num_dims: Int[Array, ""]) -> Gaps:
        key_outlier, key_size = jax.random.split(key)
        outlier = jax.random.bernoulli(key_outlier, probability, gaps.shape)
        size = jax.random.cauchy(key_size, gaps.shape)
        return gaps + alpha * jnp.maximum(1000.0 + jnp.where(outlier, size, 0.0), 0.0)

    return stabilised(disturb)


NOISE_MODELS: dict[str, NoiseModel] = {
    "none": no_noise,
    "gaussian_moderate": gaussian(beta=0.01),
    "gaussian_severe": gaussian(beta=1.0),
    "uniform_moderate": uniform(severity=0.01),
    "uniform_severe": uniform(severity=1.0),
    "cauchy_moderate": cauchy(alpha=0.01, probability=0.05),
    "cauchy_severe": cauchy(alpha=1.0, probability=0.2),
}
