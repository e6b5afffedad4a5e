"""The native generator draws JAX's numbers; these are what their quality rests on, so it is tested too."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
from scipy.special import erfinv

from lga import native

KEY = jax.random.key(11)


def key_data(key):
    return jax.random.key_data(key)


@jax.jit
def single_row(data):
    return native.mutate(data, jnp.zeros((1, 1 << 16)), jnp.zeros(16, jnp.int32), jnp.ones(16))


def normals(seed: int) -> np.ndarray:
    """16 rows of 65,536 numbers."""
    return np.asarray(single_row(key_data(jax.random.key(seed))), np.float64)


@pytest.mark.parametrize("num", [1, 2, 3, 15, 16])
def test_keys_split_as_in_jax(instruction_set, num):
    ours = native.split(key_data(KEY), num)
    assert np.array_equal(np.stack(ours), key_data(jax.random.split(KEY, num)))


@pytest.mark.parametrize("data", [0, 1, 12345, 2**31 - 1])
def test_numbers_fold_into_keys_as_in_jax(instruction_set, data):
    ours = native.fold_in(key_data(KEY), jnp.asarray(data, jnp.int32))
    assert np.array_equal(ours, key_data(jax.random.fold_in(KEY, data)))


@pytest.mark.parametrize("count", [1, 15, 16, 1001])
def test_uniform_numbers_are_those_of_jax(instruction_set, count):
    assert np.array_equal(native.uniform(key_data(KEY), count), jax.random.uniform(KEY, (count,)))


def test_keys_may_be_batched():
    keys = jax.random.split(KEY, 5)
    ours = jax.vmap(lambda data: native.split(data, 3))(key_data(keys))
    theirs = jax.vmap(lambda key: key_data(jax.random.split(key, 3)))(keys)
    assert np.array_equal(np.stack(ours, axis=1), theirs)
    ours = jax.vmap(lambda data: native.uniform(data, 17))(key_data(keys))
    assert np.array_equal(ours, jax.vmap(lambda key: jax.random.uniform(key, (17,)))(keys))
    ours = jax.vmap(native.fold_in, in_axes=(None, 0))(key_data(KEY), jnp.arange(6, dtype=jnp.int32))
    assert np.array_equal(ours, jax.vmap(lambda i: key_data(jax.random.fold_in(KEY, i)))(jnp.arange(6)))


def test_noise_is_the_inverse_distribution_of_jaxs_bits(instruction_set):
    """To a few units in the last place of the exact value, and nearly equal to `jax.random.normal`."""
    shape = (130, 999)
    ours = native.mutate(key_data(KEY), jnp.zeros((1, shape[1])), jnp.zeros(shape[0], jnp.int32), jnp.ones(shape[0]))
    lowest = np.nextafter(np.float32(-1), np.float32(0))
    uniform = np.asarray(jax.random.uniform(KEY, shape, jnp.float32, lowest, 1.0), np.float64)
    np.testing.assert_allclose(ours, math.sqrt(2) * erfinv(uniform), rtol=1e-6)
    np.testing.assert_allclose(ours, jax.random.normal(KEY, shape), rtol=1e-5)


def mutation_case(num_parents: int, num_children: int, num_dims: int):
    key_solutions, key_index, key_sigma = jax.random.split(jax.random.key(num_dims), 3)
    return (
        jax.random.normal(key_solutions, (num_parents, num_dims)),
        jax.random.randint(key_index, (num_children,), 0, num_parents),
        jax.random.uniform(key_sigma, (num_children,)),
    )


@pytest.mark.parametrize("shape", [(1, 1, 1), (4, 9, 3), (16, 16, 10), (5, 7, 16), (3, 2, 5000), (60, 70, 100)])
def test_mutation_adds_the_noise_to_the_right_parent(instruction_set, shape):
    solutions, index, sigma = mutation_case(*shape)
    expected = solutions[index] + sigma[:, None] * jax.random.normal(KEY, (shape[1], shape[2]))
    np.testing.assert_allclose(
        native.mutate(key_data(KEY), solutions, index, sigma), expected, rtol=1e-5, atol=1e-5 * float(sigma.max())
    )


@pytest.mark.parametrize("shape", [(5, 6, 7), (3, 9, 999)])
def test_a_batch_of_mutations_is_the_same_as_single_ones(shape):
    solutions, index, sigma = mutation_case(*shape)
    keys = key_data(jax.random.split(KEY, 3))
    many = jnp.stack([solutions, 2 * solutions, -solutions])
    shared_key = jax.vmap(native.mutate, in_axes=(None, 0, None, None))(keys[0], many, index, sigma)
    own_key = jax.vmap(native.mutate, in_axes=(0, 0, None, None))(keys, many, index, sigma)
    for i in range(3):
        assert np.array_equal(shared_key[i], native.mutate(keys[0], many[i], index, sigma))
        assert np.array_equal(own_key[i], native.mutate(keys[i], many[i], index, sigma))


def test_moments_are_those_of_the_normal_distribution():
    x = normals(0).ravel()
    # Deviations of the first four sample moments, in units of their standard errors.
    for power, expected, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs(np.mean(x**power) - expected) < 4 * math.sqrt(variance / x.size)


@pytest.mark.parametrize("seed", range(3))
def test_distribution_passes_kolmogorov_and_smirnov(seed):
    assert scipy.stats.kstest(normals(seed).ravel(), "norm").pvalue > 1e-3


def test_tails_have_their_share():
    x = np.abs(np.concatenate([normals(seed).ravel() for seed in range(4)]))
    for threshold in (3.0, 4.0, 4.5):
        expected = x.size * 2 * scipy.stats.norm.sf(threshold)
        assert abs((x > threshold).sum() - expected) < 4 * math.sqrt(expected)


def test_neighbouring_keys_positions_and_rows_are_independent():
    x, y = normals(0), normals(1)
    split_one, split_two = (np.asarray(single_row(data)) for data in native.split(key_data(KEY), 2))
    pairs = {
        "keys": (x, y),
        "split keys": (split_one, split_two),
        "positions": (x[:, 1:], x[:, :-1]),
        "vectors": (x[:, 16:], x[:, :-16]),
        "blocks": (x[:, 2048:], x[:, :-2048]),
        "rows": (x[1:], x[:-1]),
    }
    for name, (a, b) in pairs.items():
        for power in (1, 2):
            u, v = a.ravel() ** power, b.ravel() ** power
            correlation = np.corrcoef(u, v)[0, 1]
            assert abs(correlation) < 4 / math.sqrt(u.size), (name, power, correlation)
