import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from lga.core.population import FAILED
from lga.operators import features
from lga.operators.features import (
    centred_ranks,
    coordinate_features,
    fitness_features,
    rate_features,
    sampling_features,
    tanh_age,
    unit_range,
    z_score,
)
from samples import progress_of, random_archive

SIZE = 12
VALUES = st.lists(st.integers(-1000, 1000), min_size=SIZE, max_size=SIZE).map(lambda v: jnp.asarray(v, jnp.float32))
MANY_TIES = st.lists(st.integers(0, 4), min_size=SIZE, max_size=SIZE).map(lambda v: jnp.asarray(v, jnp.float32))
EXPONENTS = st.integers(-30, 30)


def ranks_of_scipy(values):
    places = rankdata(values, method="ordinal") - 1
    return places / max(len(values) - 1, 1) - (0.5 if len(values) > 1 else 0.0)


@given(MANY_TIES)
def test_equal_values_rank_in_the_order_of_their_positions(values):
    np.testing.assert_allclose(centred_ranks(values), ranks_of_scipy(values), atol=1e-6)


@given(MANY_TIES, st.permutations(range(SIZE)))
def test_a_permutation_changes_no_ranks_but_those_within_equals(values, order):
    order = np.array(order)
    ranks, moved = np.asarray(centred_ranks(values)), np.empty(SIZE, np.float32)
    moved[order] = centred_ranks(values[order])
    for value in np.unique(values):
        np.testing.assert_array_equal(np.sort(moved[values == value]), np.sort(ranks[values == value]))


def test_zero_of_either_sign_is_the_same_value():
    values = jnp.array([0.0, -0.0, 0.0, -0.0])
    np.testing.assert_array_equal(centred_ranks(values), centred_ranks(jnp.zeros(4)))


@pytest.mark.parametrize("size", [1, 2, 192, 193, 1000])
def test_ranks_equal_those_of_scipy_in_both_forms(size, monkeypatch):
    values = jnp.round(10 * jax.random.normal(jax.random.key(size), (size,)))
    np.testing.assert_allclose(centred_ranks(values), ranks_of_scipy(values), atol=1e-6)
    monkeypatch.setattr(features, "LARGEST_PAIRWISE_SIZE", 0 if size <= 192 else size)
    np.testing.assert_allclose(centred_ranks(values), ranks_of_scipy(values), atol=1e-6)


def test_distinct_ranks_span_minus_a_half_to_a_half():
    ranks = centred_ranks(jnp.array([3.0, 1.0, 2.0]))
    np.testing.assert_allclose(ranks, [0.5, -0.5, 0.0])


@given(VALUES, EXPONENTS, st.booleans())
def test_rank_features_ignore_monotone_rescaling(values, exponent, cubed):
    rescaled = (values**3 if cubed else values) * 10.0**exponent
    np.testing.assert_array_equal(centred_ranks(rescaled), centred_ranks(values))


@given(VALUES, EXPONENTS, st.floats(-10, 10))
def test_z_scores_and_ranges_ignore_scale_and_shift(values, exponent, shift):
    # A shift of ten ranges costs ten times the rounding of one.
    rescaled = (values + jnp.float32(shift) * jnp.max(jnp.abs(values))) * jnp.float32(10.0) ** exponent
    np.testing.assert_allclose(z_score(rescaled), z_score(values), atol=2e-4)
    np.testing.assert_allclose(unit_range(rescaled), unit_range(values), atol=2e-4)


@given(VALUES, EXPONENTS)
def test_z_scores_have_zero_mean_and_unit_deviation_unless_all_values_are_equal(values, exponent):
    score = np.asarray(z_score(values * jnp.float32(10.0) ** exponent))
    assert abs(score.mean()) < 1e-5
    assert abs(score.std() - (np.ptp(np.asarray(values)) > 0)) < 1e-5


@given(VALUES)
def test_ranges_run_from_minus_one_to_one(values):
    scaled = np.asarray(unit_range(values))
    assert scaled.min() == -1
    assert abs(scaled.max() - (1 if np.ptp(np.asarray(values)) > 0 else -1)) < 1e-6


@pytest.mark.parametrize("value", [0.0, 1.0, -1e30, 1e30, 1e-30, FAILED, -FAILED])
def test_constant_values_have_finite_features(value):
    values = jnp.full(SIZE, value, jnp.float32)
    np.testing.assert_array_equal(z_score(values), np.zeros(SIZE))
    np.testing.assert_array_equal(unit_range(values), np.full(SIZE, -1.0))
    np.testing.assert_allclose(centred_ranks(values), np.linspace(-0.5, 0.5, SIZE), atol=1e-6)
    assert np.all(np.isfinite(fitness_features(values, jnp.asarray(value, jnp.float32))))


def test_the_whole_range_of_floats_does_not_overflow():
    values = jnp.linspace(-1.0, 1.0, SIZE) * FAILED
    np.testing.assert_allclose(z_score(values), z_score(jnp.linspace(-1.0, 1.0, SIZE)), atol=1e-6)


@given(VALUES, st.sets(st.integers(0, SIZE - 1), min_size=1, max_size=SIZE))
def test_failures_rank_last_and_score_as_the_worst_success(values, failed):
    failed = np.isin(np.arange(SIZE), list(failed))
    fitness = jnp.where(failed, FAILED, values)
    _, rank, score = np.asarray(fitness_features(fitness, jnp.asarray(0.0))).T
    assert np.all(np.isfinite(rank))
    assert np.all(np.isfinite(score))
    if failed.all():
        np.testing.assert_array_equal(score, np.zeros(SIZE))
        return
    assert rank[failed].min() > rank[~failed].max()
    np.testing.assert_array_equal(score[failed], score[~failed].max())
    replaced = jnp.where(failed, jnp.max(values[~failed]), values)
    np.testing.assert_allclose(score, z_score(replaced), atol=1e-6)


def test_the_flag_marks_what_is_strictly_better_than_the_best():
    flags = fitness_features(jnp.array([0.5, 1.0, 2.0]), jnp.asarray(1.0))[:, 0]
    np.testing.assert_array_equal(flags, [1.0, 0.0, 0.0])


def test_age_is_squashed_as_a_share_of_the_search():
    np.testing.assert_allclose(tanh_age(jnp.array([0, 5, 10]), jnp.asarray(10)), np.tanh([-1.0, -0.5, 0.0]), atol=1e-6)
    np.testing.assert_allclose(tanh_age(jnp.array([0]), jnp.asarray(0)), np.tanh([-1.0]), atol=1e-6)


@given(st.integers(-30, 12), st.floats(-10, 10))
def test_coordinate_features_ignore_scale_and_shift(exponent, shift):
    archive = random_archive(1, SIZE)
    fitness = fitness_features(archive.fitness, jnp.asarray(0.0))
    column = archive.solutions[:, 0]
    rescaled = (column + jnp.float32(shift)) * jnp.float32(10.0) ** exponent
    expected = coordinate_features(column, fitness, column[2])
    np.testing.assert_allclose(coordinate_features(rescaled, fitness, rescaled[2]), expected, atol=1e-4)
    assert np.abs(expected[:, 4]).max() <= 1


def test_rate_and_sampling_features_extend_those_of_fitness():
    archive = random_archive(2, SIZE)
    progress = progress_of(archive)
    fitness = fitness_features(archive.fitness, progress.best_fitness)
    rate = rate_features(archive, progress.best_fitness)
    np.testing.assert_array_equal(rate[:, :3], fitness)
    np.testing.assert_array_equal(rate[:, 3], z_score(archive.sigma))
    np.testing.assert_array_equal(rate[:, 4], unit_range(archive.sigma))
    sampling = sampling_features(archive, progress)
    np.testing.assert_array_equal(sampling[:, :3], fitness)
    np.testing.assert_array_equal(sampling[:, 3], tanh_age(archive.age, progress.generation))
