"""Points that were not asked for: they start a search, join it, cost nothing, and are in its checkpoints."""

import numpy as np
import pytest

import lga
from lga.core.tree_io import digest
from lga.operators.shape import Memory

BOX = [(-3.0, 3.0), (0.0, 10.0), (-1.0, 1.0)]
OPTIMUM = np.array([1.5, 2.0, -0.5])


def bowl(x):
    return float(np.sum((np.asarray(x) - OPTIMUM) ** 2))


def known_points(count=12, seed=0):
    low, high = np.array(BOX).T
    x = np.random.default_rng(seed).uniform(low, high, (count, 3))
    return x, np.array([bowl(row) for row in x])


def told(optimizer, generations):
    for _ in range(generations):
        x = optimizer.ask()
        optimizer.tell(x, [bowl(row) for row in x])
    return optimizer


@pytest.mark.parametrize("algorithm", ["lga", "samr_ga", "random_search"])
def test_known_points_are_the_first_population_and_cost_nothing(algorithm):
    x, y = known_points()
    result = lga.minimize(bowl, BOX, x_init=x, y_init=y, max_evaluations=8, popsize=8, seed=1, algorithm=algorithm)
    assert result.nfev == 8
    assert result.nit == 1
    assert result.fun <= y.min()


def test_the_best_of_what_is_known_is_the_best_until_something_is_better():
    x, y = known_points()
    optimizer = lga.Optimizer(BOX, seed=1, popsize=4)
    optimizer.tell(x, y)
    assert optimizer.best_value == y.min()
    np.testing.assert_array_equal(optimizer.best_x, x[np.argmin(y)])
    assert optimizer.evaluations == 0


def test_parents_of_a_warm_start_are_the_best_known_points():
    x, y = known_points()
    optimizer = lga.Optimizer(BOX, seed=1, popsize=4, algorithm="samr_ga")
    optimizer.tell(x, y)
    optimizer.ask()
    parents, values = optimizer.population
    np.testing.assert_allclose(np.sort(values), np.sort(y)[: len(values)])
    np.testing.assert_allclose(parents[np.argmin(values)], x[np.argmin(y)])


def test_a_better_point_joins_the_parents_of_a_running_search():
    optimizer = told(lga.Optimizer(BOX, seed=1, popsize=8), 3)
    before = optimizer.evaluations
    x = optimizer.ask()
    optimizer.tell(OPTIMUM, 0.0)
    optimizer.tell(x, [bowl(row) for row in x])
    parents, values = optimizer.population
    assert values.min() == 0.0
    np.testing.assert_allclose(parents[np.argmin(values)], OPTIMUM, atol=1e-9)
    assert optimizer.best_value == 0.0
    assert optimizer.evaluations == before + len(x)


def test_a_worse_point_changes_no_parent():
    optimizer, twin = (told(lga.Optimizer(BOX, seed=1, popsize=8), 5) for _ in range(2))
    optimizer.ask()
    optimizer.tell(np.array([-3.0, 10.0, 1.0]), 1e6)
    told(optimizer, 1)
    told(twin, 1)
    for ours, theirs in zip(optimizer.population, twin.population, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_shape_starts_as_wide_as_the_better_points():
    draw = np.random.default_rng(0)
    # Good values only where the first variable is near its best, whatever the others are.
    x = draw.uniform(*np.array(BOX).T, (200, 3))
    y = (x[:, 0] - 1.5) ** 2
    optimizer = lga.Optimizer(BOX, seed=1, popsize=8)
    optimizer.tell(x, y)
    optimizer.ask()
    memory = optimizer.state.run.algorithm.shape_memory
    assert isinstance(memory, Memory)
    scales = np.diag(memory.stretch)
    assert scales[0] < 0.8 * scales[1]
    assert np.mean(scales**2) == pytest.approx(1.0)


@pytest.mark.parametrize("weights", ["lga-2", "lga-hpo", "lga-hpo-2"])
def test_a_saved_warm_start_goes_on_as_if_it_had_not_been_saved(tmp_path, weights):
    x, y = known_points()
    optimizer = lga.Optimizer(BOX, seed=1, popsize=4, weights=weights)
    optimizer.tell(x[:6], y[:6])
    optimizer.save(tmp_path / "before")
    loaded = lga.Optimizer.load(tmp_path / "before")
    for one in (optimizer, loaded):
        told(one, 2)
        one.ask()
        one.tell(x[6:], y[6:])
    loaded.save(tmp_path / "within")
    loaded = lga.Optimizer.load(tmp_path / "within")
    for one in (optimizer, loaded):
        told(one, 2)
    assert digest(loaded.state) == digest(optimizer.state)


def test_a_warm_start_is_continued_from_its_checkpoint(tmp_path):
    x, y = known_points()
    options = {"x_init": x, "y_init": y, "seed": 3, "popsize": 4, "max_evaluations": 40}
    whole = lga.minimize(bowl, BOX, **options)
    stopped = lga.minimize(bowl, BOX, **options, checkpoint=tmp_path / "c", callback=lambda result: result.nit == 4)
    assert stopped.nfev == 16
    resumed = lga.minimize(bowl, BOX, **options, checkpoint=tmp_path / "c")
    np.testing.assert_array_equal(resumed.x, whole.x)
    assert resumed.nfev == whole.nfev


def test_values_that_are_not_finite_are_left_out():
    x, y = known_points()
    y[3], y[5] = np.nan, np.inf
    result = lga.minimize(bowl, BOX, x_init=x, y_init=y, max_evaluations=4, popsize=4, seed=1)
    assert np.isfinite(result.fun)


@pytest.mark.parametrize(
    ("x", "y", "sentence"),
    [
        (np.zeros((2, 3)), None, "belong together"),
        (np.zeros((2, 2)), np.zeros(2), "one value for each point"),
        (np.zeros((2, 3)), np.zeros(3), "one value for each point"),
        (np.full((2, 3), 50.0), np.zeros(2), "outside of the bounds"),
    ],
)
def test_points_that_do_not_fit_are_refused(x, y, sentence):
    with pytest.raises(ValueError, match=sentence):
        lga.minimize(bowl, BOX, x_init=x, y_init=y, max_evaluations=4)


def test_maximizing_starts_from_the_largest_known_value():
    x, y = known_points()
    optimizer = lga.Optimizer(BOX, seed=1, popsize=4, direction="maximize", algorithm="samr_ga")
    optimizer.tell(x, -y)
    optimizer.ask()
    assert optimizer.best_value == -y.min()
    assert optimizer.population[1].max() == -y.min()
