"""The nonlinear transformations that BBOB functions are made of.

They are written as `x * exp(small)` instead of a power of x: zero stays exactly zero, and float32 keeps its relative
precision near the optimum.
"""

import math

import jax.numpy as jnp
from jaxtyping import Array, Float


def total(terms: Float[Array, "k *shape"]) -> Float[Array, "*shape"]:
    """The sum over the first axis, as a product with ones.

    XLA's CPU code for a reduction also computes the terms in its scalar loop; terms of a product are vectorised.
    """
    return jnp.tensordot(jnp.ones(terms.shape[0], terms.dtype), terms, axes=1)


def sin_pi(half_turns: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """sin(pi * half_turns), by exact reduction to [-1/2, 1/2] and a Taylor polynomial.

    XLA's own sine is a scalar routine on CPUs; this one is vectorised and several times faster.
    """
    whole = jnp.round(half_turns)
    rest = half_turns - whole
    # The first term left out is below half a unit in the last place at rest = 1/2.
    num_terms = 11 if half_turns.dtype == jnp.float64 else 6
    square = rest * rest
    polynomial = jnp.zeros_like(rest)
    for k in reversed(range(num_terms)):
        polynomial = polynomial * square + (-1) ** k * math.pi ** (2 * k + 1) / math.factorial(2 * k + 1)
    parity = whole - 2 * jnp.floor(whole / 2)
    return (1 - 2 * parity) * rest * polynomial


def sin(angle: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    return sin_pi(angle / math.pi)


def log_abs(x: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """log |x|, finite at zero."""
    return jnp.log(jnp.maximum(jnp.abs(x), jnp.finfo(x.dtype).tiny))


def oscillate(x: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """T_osz: sign(x) exp(x_hat + 0.049 (sin(c1 x_hat) + sin(c2 x_hat))) with x_hat = log|x|."""
    x_hat = log_abs(x)
    c1 = jnp.where(x > 0, 10.0, 5.5)
    c2 = jnp.where(x > 0, 7.9, 3.1)
    return x * jnp.exp(0.049 * (sin(c1 * x_hat) + sin(c2 * x_hat)))


def asymmetric(beta: float, ramp: Float[Array, "d"], x: Float[Array, "d n"]) -> Float[Array, "d n"]:
    """T_asy^beta: x^(1 + beta * ramp * sqrt(x)) where x is positive, x elsewhere."""
    positive = jnp.maximum(x, jnp.finfo(x.dtype).tiny)
    return x * jnp.exp(beta * ramp[:, None] * jnp.sqrt(positive) * jnp.log(positive))


def boundary_excess(x: Float[Array, "d n"]) -> Float[Array, "n"]:
    """f_pen: the squared distance to the box [-5, 5]^D."""
    return total(jnp.maximum(jnp.abs(x) - 5.0, 0.0) ** 2)
