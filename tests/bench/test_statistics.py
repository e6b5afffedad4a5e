import numpy as np
from scipy import stats

from lga.bench.statistics import mean_interval


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
