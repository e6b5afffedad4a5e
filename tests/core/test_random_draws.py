import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from lga.core import random
from lga.core.random import index_by_weight, log_uniform_factor, running_sum, standard_normal, uniform_index

DRAWS = 40_000


def largest_excess(counts, probabilities):
    """How far the worst frequency is off, in units of its tolerance."""
    counts, probabilities = np.asarray(counts, float), np.asarray(probabilities, float)
    tolerance = 4 * np.sqrt(probabilities * (1 - probabilities) / counts.sum())
    return np.max(np.abs(counts / counts.sum() - probabilities) / tolerance)


@pytest.mark.parametrize("size", [5, 64, 200])
def test_indices_come_as_often_as_their_weight(size):
    weights = jnp.exp(jax.random.normal(jax.random.key(size), (size,)))
    uniform = jax.random.uniform(jax.random.key(size + 1), (DRAWS,))
    chosen = jax.vmap(index_by_weight, (0, None))(uniform, weights)
    counts = np.bincount(chosen, minlength=size)
    assert largest_excess(counts, weights / jnp.sum(weights)) <= 1


@pytest.mark.parametrize("size", [2, 17, 31, 64, 65, 300])
def test_a_weight_of_zero_is_never_chosen(size):
    choose = jax.jit(jax.vmap(index_by_weight))
    generator = np.random.default_rng(size)
    for zero_at in (0, -1):
        weights = generator.random(size, np.float32) * (generator.random(size) < 0.5)
        weights[size // 2] = weights[-1 - zero_at] = 1.0
        weights[zero_at] = 0.0
        # Uniform numbers at, just below and just above all ends are the ones that rounding could lead astray.
        ends = np.asarray(running_sum(jnp.asarray(weights)))
        at = (ends / ends[-1]).astype(np.float32)
        below, above = np.nextafter(at, np.float32(0)), np.nextafter(at, np.float32(2))
        uniform = np.clip(np.concatenate([at, below, above]), 0, np.nextafter(np.float32(1), np.float32(0)))
        chosen = choose(jnp.asarray(uniform), jnp.broadcast_to(jnp.asarray(weights), (3 * size, size)))
        assert np.all(weights[np.asarray(chosen)] > 0)


@pytest.mark.parametrize("size", [1, 64, 65])
def test_the_largest_uniform_number_chooses_the_last_weight(size):
    weights = jnp.exp(jax.random.normal(jax.random.key(size), (size,)))
    almost_one = jnp.asarray(np.nextafter(np.float32(1), np.float32(0)))
    assert index_by_weight(almost_one, weights) == size - 1
    assert index_by_weight(jnp.asarray(0.0), weights) == 0


@pytest.mark.parametrize("weights", [jnp.zeros(4), jnp.full(4, jnp.nan), jnp.zeros(100), jnp.full(100, jnp.nan)])
def test_weights_without_a_meaning_still_give_an_index(weights):
    index = index_by_weight(jnp.asarray(0.5), weights)
    assert 0 <= index < weights.shape[0]


@pytest.mark.parametrize("size", [1, 33, 64])
def test_both_forms_of_the_running_sum_agree(size, monkeypatch):
    weights = jax.random.uniform(jax.random.key(size), (5, size))
    product = running_sum(weights)
    monkeypatch.setattr(random, "LARGEST_TRIANGLE", 0)
    scan = running_sum(weights)
    # Each partial sum rounds at most `size` times.
    np.testing.assert_allclose(product, scan, rtol=size * np.finfo(np.float32).eps)
    np.testing.assert_allclose(product, np.cumsum(np.asarray(weights, float), axis=1), rtol=size * 1.2e-7)


def test_both_forms_choose_the_same_index(monkeypatch):
    weights = jax.random.uniform(jax.random.key(0), (500, 40))
    uniform = jax.random.uniform(jax.random.key(1), (500,))
    product = jax.vmap(index_by_weight)(uniform, weights)
    monkeypatch.setattr(random, "LARGEST_TRIANGLE", 0)
    np.testing.assert_array_equal(product, jax.vmap(index_by_weight)(uniform, weights))


def test_uniform_indices_are_equally_frequent():
    counts = np.bincount(uniform_index(jax.random.key(3), DRAWS, 7), minlength=7)
    assert counts.shape == (7,)
    assert largest_excess(counts, np.full(7, 1 / 7)) <= 1


def test_log_uniform_factors_shrink_as_often_as_they_grow():
    logarithms = np.log2(log_uniform_factor(jax.random.key(4), 2.0, DRAWS))
    assert np.all(np.abs(logarithms) <= 1 + 1e-6)
    # The standard error of the mean of U(-1, 1) is sqrt(1/3 / draws); its largest of many is close to 1.
    assert abs(logarithms.mean()) <= 4 * np.sqrt(1 / 3 / DRAWS)
    assert np.abs(logarithms).max() > 0.999


def test_noise_has_zero_mean_and_unit_variance():
    noise = np.asarray(standard_normal(jax.random.key(5), 200, 200))
    assert noise.shape == (200, 200)
    assert abs(noise.mean()) <= 4 / np.sqrt(noise.size)
    # The variance of a squared normal number is 2.
    assert abs((noise**2).mean() - 1) <= 4 * np.sqrt(2 / noise.size)


@pytest.mark.parametrize(("num_rows", "num_columns"), [(1, 1), (6, 2), (7, 5), (16, 20), (24, 3)])
def test_balanced_noise_comes_in_mirrored_pairs_at_right_angles(num_rows, num_columns):
    noise = np.asarray(random.balanced_normal(jax.random.key(0), num_rows, num_columns))
    half = (num_rows + 1) // 2
    np.testing.assert_array_equal(noise[half:], -noise[: num_rows - half])
    for block in range(0, half, num_columns):
        rows = noise[block : min(block + num_columns, half)]
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        np.testing.assert_allclose(rows @ rows.T, np.eye(len(rows)), atol=1e-5)


@pytest.mark.parametrize(("num_rows", "num_columns"), [(1, 1), (6, 2), (7, 5)])
def test_each_row_of_balanced_noise_is_standard_normal(num_rows, num_columns):
    keys = jax.random.split(jax.random.key(1), 4000)
    noise = np.asarray(jax.vmap(lambda key: random.balanced_normal(key, num_rows, num_columns))(keys))
    for row in range(num_rows):
        for column in range(num_columns):
            assert stats.kstest(noise[:, row, column], "norm").pvalue > 1e-4
        squares = np.sum(noise[:, row] ** 2, axis=1)
        assert stats.kstest(squares, stats.chi2(num_columns).cdf).pvalue > 1e-4


def test_many_columns_of_balanced_noise_are_mirrored_only(monkeypatch):
    monkeypatch.setattr(random, "LARGEST_RIGHT_ANGLED", 4)
    noise = np.asarray(random.balanced_normal(jax.random.key(0), 4, 5))
    np.testing.assert_array_equal(noise[2:], -noise[:2])
    assert abs(noise[0] @ noise[1]) > 1e-3


def test_even_draws_are_uniform_each_and_spread_evenly():
    keys = jax.random.split(jax.random.key(2), 4000)
    draws = np.asarray(jax.vmap(lambda key: random.even_uniform(key, 7))(keys))
    assert (draws >= 0).all()
    assert (draws < 1).all()
    for column in draws.T:
        assert stats.kstest(column, "uniform").pvalue > 1e-4
    parts = np.sort((draws * 7).astype(int), axis=1)
    assert (parts == np.arange(7)).mean() > 0.999
