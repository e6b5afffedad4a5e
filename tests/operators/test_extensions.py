"""Beyond the paper: blending parents, and chance in the learned rate."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lga.operators.crossover import attention_blend
from lga.operators.mutation_rate import USUAL_SPREAD, attention_rate
from lga.operators.theta import JitterTheta, ThetaConfig
from samples import permuted, progress_of, random_archive, random_folded

PARENTS = random_archive(0, 6, 4)
PROGRESS = progress_of(PARENTS)
EVERYONE = jnp.arange(6)
BLEND = random_folded(1, ThetaConfig(("blend",))).blend
RATE = random_folded(2, ThetaConfig(("rate",))).rate
KEY = jax.random.key(0)


def test_blended_parents_stay_within_the_box_of_the_parents():
    blended = attention_blend(BLEND)(KEY, PARENTS, EVERYONE, PROGRESS).solutions
    assert (blended >= PARENTS.solutions.min(axis=0)[None, :] - 1e-6).all()
    assert (blended <= PARENTS.solutions.max(axis=0)[None, :] + 1e-6).all()


def test_zero_weights_blend_an_eighth_of_the_way_to_the_centroid():
    zero = jax.tree.map(jnp.zeros_like, BLEND)
    blended = attention_blend(zero)(KEY, PARENTS, EVERYONE, PROGRESS).solutions
    share = 1 / (1 + np.exp(2.0))
    centroid = PARENTS.solutions.mean(axis=0)[None, :]
    np.testing.assert_allclose(
        blended, PARENTS.solutions + share * (centroid - PARENTS.solutions), rtol=1e-4, atol=1e-6
    )


def test_blending_is_permutation_equivariant():
    order = jnp.array([3, 0, 5, 1, 2, 4])
    blend = attention_blend(BLEND)
    direct = blend(KEY, PARENTS, EVERYONE, PROGRESS).solutions[order]
    np.testing.assert_allclose(
        blend(KEY, permuted(PARENTS, order), EVERYONE, PROGRESS).solutions, direct, rtol=1e-4, atol=1e-6
    )


def test_blending_of_twins_is_equivariant_up_to_the_order_of_equals():
    twins, order = permuted(PARENTS, jnp.array([0, 0, 1, 1, 1, 2])), jnp.array([3, 0, 5, 1, 2, 4])
    blended = []
    for parents in (twins, permuted(twins, order)):
        moved = attention_blend(BLEND)(KEY, parents, EVERYONE, PROGRESS).solutions
        blended.append(moved[jnp.argsort(parents.fitness, stable=True)])
    np.testing.assert_allclose(*blended, rtol=1e-4, atol=1e-6)


def test_blending_follows_shifts_and_scales_of_the_solutions():
    blend = attention_blend(BLEND)
    moved = dataclasses.replace(PARENTS, solutions=3.0 * PARENTS.solutions - 7.0)
    expected = 3.0 * blend(KEY, PARENTS, EVERYONE, PROGRESS).solutions - 7.0
    np.testing.assert_allclose(blend(KEY, moved, EVERYONE, PROGRESS).solutions, expected, rtol=1e-4, atol=1e-5)


def log_rates(jitter, draws=4000):
    rate = attention_rate(RATE, jitter)
    rates = jax.jit(jax.vmap(lambda key: rate.propose(key, (), PARENTS, PROGRESS)))(jax.random.split(KEY, draws))
    return np.log(np.asarray(rates))


@pytest.mark.parametrize("log_spread", [-1.0, 0.0, 1.0])
def test_jitter_is_log_normal_around_the_learned_rate(log_spread):
    certain = np.log(np.asarray(attention_rate(RATE).propose(KEY, (), PARENTS, PROGRESS)))
    drawn = log_rates(JitterTheta(jnp.full(1, log_spread)))
    spread, draws = USUAL_SPREAD * np.exp(log_spread), drawn.shape[0]
    np.testing.assert_allclose(drawn.mean(axis=0), certain, atol=4 * spread / np.sqrt(draws))
    # The deviation of a sample deviation is that of the values over sqrt(2 n).
    np.testing.assert_allclose(drawn.std(axis=0), spread, atol=4 * spread / np.sqrt(2 * draws))


def test_rates_depend_on_chance_only_with_jitter():
    keys = jax.random.split(KEY)
    without = [attention_rate(RATE).propose(key, (), PARENTS, PROGRESS) for key in keys]
    with_it = [attention_rate(RATE, JitterTheta(jnp.zeros(1))).propose(key, (), PARENTS, PROGRESS) for key in keys]
    np.testing.assert_array_equal(*without)
    assert np.all(with_it[0] != with_it[1])


def test_equal_parents_try_different_rates_with_jitter():
    """Without it they differ by their ranks alone, and these by position."""
    twins = jax.tree.map(lambda leaf: leaf[jnp.zeros(6, jnp.int32)], PARENTS)
    blind = jax.tree.map(jnp.zeros_like, RATE)
    assert np.ptp(np.asarray(attention_rate(blind).propose(KEY, (), twins, PROGRESS))) == 0
    with_it = attention_rate(blind, JitterTheta(jnp.zeros(1))).propose(KEY, (), twins, PROGRESS)
    assert len(set(np.asarray(with_it).tolist())) == 6


@pytest.mark.parametrize(
    ("learned", "sentence"),
    [
        (("select", "jitter"), "names jitter, so it must name rate too"),
        (("blend", "cross"), "names both blend and cross"),
    ],
)
def test_extensions_that_do_not_fit_are_refused(learned, sentence):
    with pytest.raises(ValueError, match=sentence):
        ThetaConfig(learned)
