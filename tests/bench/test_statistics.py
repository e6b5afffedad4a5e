import numpy as np
from scipy import stats

from lga.bench.statistics import mean_interval, ranking, runtime_profile


def test_interval_of_equal_values_is_a_point():
    assert mean_interval(np.full(5, 2.0)) == (2.0, 2.0, 2.0)


def test_interval_covers_the_mean_as_often_as_it_says():
    draws = np.random.default_rng(0)
    covered = sum(low <= 0.0 <= high for _, low, high in (mean_interval(draws.normal(size=40)) for _ in range(200)))
    # Percentile intervals of 40 values cover a little less than they claim; 4 deviations of the binomial below 93 %.
    assert covered / 200 > 0.93 - 4 * np.sqrt(0.93 * 0.07 / 200)
    assert covered < 200


def test_interval_is_close_to_the_normal_one_for_many_values():
    values = np.random.default_rng(1).normal(3.0, 2.0, size=4000)
    found = mean_interval(values)
    low, high = stats.norm.interval(0.95, values.mean(), values.std() / np.sqrt(values.size))
    np.testing.assert_allclose([found.low, found.high], [low, high], atol=0.01)


def test_ranks_are_mean_ranks_over_blocks():
    scores = {"a": np.array([1.0, 1.0, 3.0]), "b": np.array([2.0, 1.0, 2.0]), "c": np.array([3.0, 4.0, 1.0])}
    found = ranking(scores)
    np.testing.assert_allclose([found.mean_ranks[name] for name in "abc"], [5.5 / 3, 5.5 / 3, 7 / 3])


def test_critical_difference_is_the_published_one():
    """Demsar (2006): q = 2.728 for 5 methods at 95 %, so over 30 blocks 2.728 * sqrt(5 * 6 / (6 * 30))."""
    scores = {str(k): np.random.default_rng(k).normal(size=30) for k in range(5)}
    np.testing.assert_allclose(ranking(scores).critical_difference, 2.728 * np.sqrt(30 / 180), rtol=1e-3)


def test_friedmans_test_tells_equal_methods_from_different_ones():
    draws = np.random.default_rng(0)
    alike = {str(k): draws.normal(size=24) for k in range(4)}
    apart = {str(k): k + draws.normal(size=24) for k in range(4)}
    assert ranking(alike).p_value > 0.01
    assert ranking(apart).p_value < 1e-6


def test_runtime_profile_counts_pairs_of_run_and_target():
    best_so_far = np.array([[10.0, 1.0, 0.1], [10.0, 10.0, 10.0]])
    np.testing.assert_allclose(runtime_profile(best_so_far, np.array([1.0, 0.1])), [0.0, 0.25, 0.5])
