"""Noise models against closed forms. All tolerances are four standard deviations of the statistic."""

from math import erf, exp, log, pi, sqrt, tan

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lga.tasks import bbob

DRAWS = 40_000
GAP = 10.0
SHIFT = 1.01e-8
NUM_DIMS = 5


def noisy_gaps(name: str, gap: float = GAP, seed: int = 0) -> np.ndarray:
    gaps = jnp.full((DRAWS,), gap)
    return np.array(
        jax.jit(bbob.NOISE_MODELS[name])(jax.random.key(seed), gaps, jnp.asarray(NUM_DIMS)), dtype=np.float64
    )


def assert_probability(events: np.ndarray, probability: float) -> None:
    assert abs(np.mean(events) - probability) <= 4 * sqrt(probability * (1 - probability) / len(events))


@pytest.mark.parametrize(("name", "beta"), [("gaussian_moderate", 0.01), ("gaussian_severe", 1.0)])
def test_gaussian_noise_is_log_normal(name, beta):
    logs = np.log(noisy_gaps(name) / GAP)
    assert abs(logs.mean()) <= 4 * beta / sqrt(DRAWS)
    assert abs(logs.var() - beta**2) <= 4 * beta**2 * sqrt(2 / DRAWS)
    for z in (-2.0, -1.0, 0.5, 1.5):
        assert_probability(logs <= beta * z, 0.5 * (1 + erf(z / sqrt(2))))


@pytest.mark.parametrize(("name", "severity"), [("uniform_moderate", 0.01), ("uniform_severe", 1.0)])
def test_uniform_noise_is_a_uniform_stretch_and_a_power_of_a_uniform_shrink(name, severity):
    """log(noisy / gap) = A - B with A uniform in [0, a] and B exponential with mean `severity`."""
    a = severity * (0.49 + 1 / NUM_DIMS) * log(1e9 / GAP)
    logs = np.log(noisy_gaps(name) / GAP)
    variance = a**2 / 12 + severity**2
    assert abs(logs.mean() - (a / 2 - severity)) <= 4 * sqrt(variance / DRAWS)
    fourth = a**4 / 80 + 9 * severity**4 + 6 * (a**2 / 12) * severity**2
    assert abs(logs.var() - variance) <= 4 * sqrt((fourth - variance**2) / DRAWS)
    assert_probability(logs <= 0, severity / a * (1 - exp(-a / severity)))
    assert_probability(logs <= -severity, severity / a * (1 - exp(-a / severity)) / exp(1))


def test_uniform_noise_never_stretches_gaps_above_1e9():
    shares = noisy_gaps("uniform_severe", gap=1e10) / 1e10
    assert np.all(shares <= 1)
    for quantile in (0.1, 0.5, 0.9):
        assert_probability(shares <= quantile, quantile)


@pytest.mark.parametrize(
    ("name", "alpha", "probability"), [("cauchy_moderate", 0.01, 0.05), ("cauchy_severe", 1.0, 0.2)]
)
def test_cauchy_noise_is_a_shift_with_rare_cauchy_outliers(name, alpha, probability):
    added = noisy_gaps(name) - GAP
    # Outliers smaller than what float32 resolves count as none; they are far rarer than the tolerance.
    outlier = np.abs(added - 1000 * alpha) > 1e-3 * alpha
    assert_probability(outlier, probability)
    for quantile in (0.6, 0.75, 0.95):
        size = tan(pi * (quantile - 0.5))
        assert_probability(added > alpha * (1000 + size), probability * (1 - quantile))
        assert_probability(added < alpha * (1000 - size), probability * (1 - quantile))
    # The Cauchy distribution is below -1000 with probability 1/2 - arctan(1000) / pi; there the noise stops at zero.
    assert np.all(added >= 0)


@pytest.mark.parametrize("name", bbob.NOISE_MODELS)
def test_gaps_below_the_target_are_undisturbed_and_noise_alone_never_reaches_it(name):
    np.testing.assert_array_equal(noisy_gaps(name, gap=9e-9), np.float32(9e-9))
    np.testing.assert_array_equal(noisy_gaps(name, gap=0.0), 0.0)
    assert np.all(noisy_gaps(name, gap=1.1e-8) > 1e-8)


def test_without_noise_gaps_are_exact():
    np.testing.assert_array_equal(noisy_gaps("none"), GAP)


@pytest.mark.parametrize("name", bbob.NOISE_MODELS)
def test_members_that_share_a_key_meet_the_same_noise(name):
    task = bbob.instance("sphere", 1, 3, noise=name)
    points = jax.random.normal(jax.random.key(1), (6, 3))
    members = jnp.broadcast_to(points, (4, 6, 3))
    noisy = jax.jit(jax.vmap(bbob.evaluate_noisy, in_axes=(None, None, 0)))(jax.random.key(2), task, members)
    np.testing.assert_array_equal(noisy, jnp.broadcast_to(noisy[0], noisy.shape))
    alone = jax.jit(bbob.evaluate_noisy)(jax.random.key(2), task, points)
    np.testing.assert_allclose(noisy[0], alone, rtol=1e-5)


def test_other_keys_and_other_solutions_meet_other_noise():
    task = bbob.instance("sphere", 1, 3, noise="gaussian_severe")
    points = jnp.ones((8, 3))
    evaluate_noisy = jax.jit(bbob.evaluate_noisy)
    first, second = (evaluate_noisy(jax.random.key(seed), task, points) for seed in (0, 1))
    assert len(np.unique(np.concatenate([first, second]))) == 16


def test_the_boundary_penalty_is_added_undisturbed():
    outside = jnp.full((5, 2), 7.0)
    task = bbob.instance("bueche_rastrigin", 1, 2, noise="gaussian_severe")
    penalty = 100 * 2 * (7.0 - 5.0) ** 2
    gaps, noisy = jax.jit(bbob.observe)(jax.random.key(0), task, outside)
    np.testing.assert_allclose(gaps, jax.jit(bbob.evaluate)(task, outside), rtol=1e-6)
    factors = jnp.exp(jax.random.normal(jax.random.key(0), (5,)))
    np.testing.assert_allclose(noisy, (gaps - penalty) * factors + penalty, rtol=1e-5)
