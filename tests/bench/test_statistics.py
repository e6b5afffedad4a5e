import numpy as np
import pytest
from scipy import stats

from lga.bench.statistics import Interval, interval_text, mean_interval, ranking, runtime_profile


def test_interval_of_equal_values_is_a_point():
    assert mean_interval(np.full(5, 2.0)) == (2.0, 2.0, 2.0)


def test_one_value_has_no_interval():
    found = mean_interval(np.array([3.0]))
    assert found == (3.0, None, None)
    assert interval_text(found._asdict(), 1) == "3.0"


def test_interval_text_shows_signs_where_asked():
    assert interval_text(Interval(0.25, -0.5, 1.0)._asdict(), 2, signed=True) == "+0.25 [-0.50, +1.00]"


@pytest.mark.parametrize("number", [2, 5, 10])
def test_interval_covers_the_mean_as_often_as_it_says(number):
    draws, simulations = np.random.default_rng(0), 4000
    intervals = (mean_interval(draws.normal(size=number)) for _ in range(simulations))
    covered = sum(low <= 0.0 <= high for _, low, high in intervals)
    assert abs(covered / simulations - 0.95) < 4 * np.sqrt(0.95 * 0.05 / simulations)


@pytest.mark.parametrize("number", [5, 10])
def test_interval_of_paired_differences_covers_the_true_difference(number):
    """Instances are hard or easy for both methods alike: that part must not widen the interval, nor make it miss."""
    draws, simulations = np.random.default_rng(1), 4000
    covered, widths = 0, []
    for _ in range(simulations):
        difficulty = draws.normal(scale=10.0, size=number)
        ours, theirs = (mean + difficulty + draws.normal(size=number) for mean in (1.0, 1.5))
        _, low, high = mean_interval(ours - theirs)
        covered += low <= -0.5 <= high
        widths.append(high - low)
    assert abs(covered / simulations - 0.95) < 4 * np.sqrt(0.95 * 0.05 / simulations)
    assert np.mean(widths) < 5.0


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
