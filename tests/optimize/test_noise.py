"""Noise is noticed, and the value that is reported is an honest one."""

import numpy as np
import pytest

from lga.optimize.minimize import minimize
from lga.optimize.noise import least_of_fit

BOX = [(-5.0, 5.0)] * 3
OPTIONS = {"popsize": 8, "seed": 0}
CENTRE = np.array([1.0, -2.0, 0.5])


def bowl(x):
    return float(np.sum((x - CENTRE) ** 2))


def noisy(seed=0):
    generator = np.random.default_rng(seed)
    return lambda x: bowl(x) + generator.normal()


def test_without_noise_two_evaluations_are_all_that_it_costs():
    plain = minimize(bowl, BOX, max_evaluations=198, **OPTIONS)
    auto = minimize(bowl, BOX, max_evaluations=200, noise="auto", **OPTIONS)
    np.testing.assert_array_equal(auto.x, plain.x)
    assert auto.chosen == "the best of 200 single evaluations"


def test_a_noisy_value_is_the_mean_of_many_and_near_the_truth():
    result = minimize(noisy(), BOX, max_evaluations=800, noise="auto", **OPTIONS)
    count = int(result.chosen.split()[-1])
    assert count >= 20
    assert abs(result.fun - bowl(result.x)) < 4.0 / np.sqrt(count)
    assert result.nfev == 800


def test_what_is_recommended_under_noise_is_better_than_the_luckiest_point():
    lucky, chosen = (
        np.mean(
            [bowl(minimize(noisy(seed), BOX, max_evaluations=600, popsize=8, seed=seed, **more).x) for seed in range(4)]
        )
        for more in ({}, {"noise": "auto"})
    )
    assert chosen < lucky


def test_a_search_that_was_killed_while_it_compared_candidates_ends_alike(tmp_path):
    def seeded(x):
        # Noise that depends on nothing but the point and the number of its evaluation, as in a simulator with a seed.
        counts[x.tobytes()] = counts.get(x.tobytes(), 0) + 1
        return bowl(x) + np.random.default_rng([counts[x.tobytes()], *np.abs(x * 1e6).astype(int)]).normal()

    counts: dict[bytes, int] = {}
    whole = minimize(seeded, BOX, max_evaluations=200, noise="auto", **OPTIONS)
    counts.clear()
    calls = []

    def dies(x):
        calls.append(1)
        if len(calls) == 190:
            raise KeyboardInterrupt
        return seeded(x)

    dies.__qualname__ = seeded.__qualname__
    file = {"checkpoint": tmp_path / "run", "checkpoint_objective": "ignore"}
    minimize(dies, BOX, max_evaluations=200, noise="auto", **file, **OPTIONS)
    after = minimize(seeded, BOX, max_evaluations=200, noise="auto", **file, **OPTIONS)
    np.testing.assert_array_equal(after.x, whole.x)
    assert after.fun == whole.fun


def test_the_least_of_a_fit_is_that_of_the_valley_under_the_noise():
    generator = np.random.default_rng(0)
    points = generator.normal(size=(400, 3)) * 2.0
    values = np.array([bowl(x) for x in points]) + generator.normal(size=400)
    np.testing.assert_allclose(least_of_fit(points, values, np.zeros(3)), CENTRE, atol=0.2)


@pytest.mark.parametrize("number", [10, 400])
def test_there_is_no_fit_without_a_valley_or_without_points(number):
    generator = np.random.default_rng(0)
    points = generator.normal(size=(number, 3))
    assert least_of_fit(points, generator.normal(size=number), np.zeros(3)) is None
