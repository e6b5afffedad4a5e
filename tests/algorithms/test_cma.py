"""Our own CMA-ES: the tutorial's constants, its invariances, and that nothing else need be installed."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cma.recombination_weights import RecombinationWeights

from lga.algorithms.cma import constants
from lga.algorithms.presets import cma_es

N, D = 10, 6
ASK, TELL = jax.jit(cma_es(N).ask), jax.jit(cma_es(N).tell)


def ellipsoid(solutions):
    return jnp.sum(10.0 ** (4.0 * jnp.arange(D) / (D - 1))[None] * (solutions - 1.0) ** 2, axis=1)


def searched(fun, start, generations):
    """The state after as many generations, and all that was asked for."""
    with jax.enable_x64(True):
        state = cma_es(N).init(jax.random.key(0), jnp.asarray(start, jnp.float64), fun(jnp.asarray(start)), 1.0)
        asked = []
        for number in range(generations):
            children, state = ASK(jax.random.key(number), state)
            state = TELL(jax.random.key(0), state, children, fun(children.solutions))
            asked.append(np.asarray(children.solutions))
        return jax.device_get(state), np.stack(asked)


def starts(seed=0):
    return np.random.default_rng(seed).uniform(-3.0, 3.0, (N, D))


@pytest.mark.parametrize(("num_children", "num_dims"), [(4, 1), (10, 10), (17, 40), (200, 3)])
def test_constants_are_those_of_pycma(num_children, num_dims):
    ours = constants(num_children, num_dims)
    theirs = RecombinationWeights(num_children)
    theirs.finalize_negative_weights(num_dims, ours.rank_one, ours.rank_mu)
    assert ours.mass == pytest.approx(theirs.mueff, rel=1e-9)
    np.testing.assert_allclose(ours.weights, np.asarray(theirs), rtol=1e-6, atol=1e-12)


def test_only_the_order_of_values_counts():
    one, other = (searched(fun, starts(), 30)[1] for fun in (ellipsoid, lambda x: jnp.log(ellipsoid(x)) - 3.0))
    np.testing.assert_array_equal(one, other)


def test_a_rotated_function_is_searched_like_the_function():
    """The distributions are the same, rotated: the means after many searches agree within chance."""
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(D, D)))[0]
    plain, turned = [], []
    for seed in range(8):
        plain.append(searched(ellipsoid, starts(seed), 60)[0].progress.best_fitness)
        turned.append(
            searched(lambda x: ellipsoid(x @ rotation.T), starts(seed) @ rotation, 60)[0].progress.best_fitness
        )
    logs = np.log10(np.asarray([plain, turned], float))
    error = np.sqrt(logs.var(axis=1, ddof=1).sum() / logs.shape[1])
    assert abs(logs[0].mean() - logs[1].mean()) < 4.0 * error


def test_it_learns_the_inverse_of_the_curvature():
    state, _ = searched(ellipsoid, starts(), 200)
    assert state.progress.best_fitness < 1e-12
    variances = np.diag(np.asarray(state.covariance))
    slope = np.polyfit(np.linspace(0.0, 4.0, D), np.log10(variances), 1)[0]
    assert -1.3 < slope < -0.7


def test_what_failed_is_neither_followed_nor_avoided():
    state, _ = searched(ellipsoid, starts(), 5)
    with jax.enable_x64(True):
        children, state = ASK(jax.random.key(9), state)
        after = TELL(jax.random.key(0), state, children, jnp.full(N, jnp.nan))
        assert np.array_equal(after.mean, state.mean)
        half = jnp.where(jnp.arange(N) < N // 2, ellipsoid(children.solutions), jnp.nan)
        after = TELL(jax.random.key(0), state, children, half)
        assert np.all(np.isfinite(after.covariance))
        assert after.progress.failures == N // 2


def test_minimize_has_it_without_evosax():
    code = """
import sys
sys.modules["evosax"] = None
import lga
result = lga.minimize(lambda x: (x[0] - 1) ** 2 + 100 * (x[1] + 2) ** 2, [(-5, 5)] * 2, algorithm="cma_es", seed=0)
assert result.fun < 1e-12, result.fun
"""
    subprocess.run([sys.executable, "-c", code], check=True)
