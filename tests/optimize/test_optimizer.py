"""The ask/tell optimiser: any order, any part, and the same search as `minimize`."""

import math
from dataclasses import replace

import numpy as np
import pytest
from faulty import sphere, steps

import lga
from lga.optimize.options import SearchOptions, make_search
from lga.optimize.state import first_state
from lga.optimize.steps import is_hopeless
from lga.weights import resolve

BOX = [(-5.0, 5.0)] * 3


def told(optimizer, generations, objective=sphere, order=None):
    for _ in range(generations):
        x = optimizer.ask()
        rows = np.arange(len(x)) if order is None else order.permutation(len(x))
        optimizer.tell(x[rows], [objective(row) for row in x[rows]])
    return optimizer


def same_search(one, other):
    assert one.best_value == other.best_value
    np.testing.assert_array_equal(one.best_x, other.best_x)
    np.testing.assert_array_equal(one.ask(), other.ask())


def test_it_is_the_same_search_as_minimize():
    optimizer = told(lga.Optimizer(BOX, seed=3), 12)
    result = lga.minimize(sphere, BOX, seed=3, max_evaluations=12 * optimizer.popsize)
    assert result.fun == optimizer.best_value
    np.testing.assert_array_equal(result.x, optimizer.best_x)


def test_the_order_of_telling_does_not_matter():
    orderly = told(lga.Optimizer(BOX, seed=1, popsize=8), 6)
    same_search(orderly, told(lga.Optimizer(BOX, seed=1, popsize=8), 6, order=np.random.default_rng(0)))


def test_values_may_come_in_parts():
    whole, parts = (lga.Optimizer(BOX, seed=1, popsize=8) for _ in range(2))
    for _ in range(5):
        told(whole, 1)
        x = parts.ask()
        parts.tell(x[5], sphere(x[5]))
        np.testing.assert_array_equal(parts.ask(), np.delete(x, 5, axis=0))
        parts.tell(np.delete(x, 5, axis=0), [sphere(row) for row in np.delete(x, 5, axis=0)])
    same_search(whole, parts)


def test_what_is_forgotten_counts_as_failed():
    optimizer = lga.Optimizer(BOX, seed=1, popsize=8)
    x = optimizer.ask()
    optimizer.tell(x[:5], [1.0, math.nan, math.inf, -math.inf, None])
    optimizer.forget()
    assert optimizer.failures == {"nan": 1, "plus_inf": 1, "minus_inf": 1, "missing": 4}
    assert optimizer.evaluations == 8
    assert optimizer.best_value == 1.0
    assert not np.array_equal(optimizer.ask(), x)


def test_a_generation_of_failures_is_survived():
    optimizer = lga.Optimizer(BOX, seed=1, popsize=8)
    for _ in range(3):
        optimizer.ask()
        optimizer.forget()
    assert math.isnan(optimizer.best_value)
    assert optimizer.best_x is None
    assert told(optimizer, 10).best_value < 5.0


def test_what_does_not_fit_is_refused():
    optimizer = lga.Optimizer(BOX, seed=1, popsize=8)
    x = optimizer.ask()
    with pytest.raises(ValueError, match="outside of the bounds"):
        optimizer.tell(x[0] + 100.0, 1.0)
    with pytest.raises(ValueError, match="one value for each"):
        optimizer.tell(x[1:3], [1.0])


def test_solutions_that_lost_some_digits_are_recognised():
    optimizer = lga.Optimizer(BOX, seed=1, popsize=8)
    x = optimizer.ask()
    optimizer.tell(x.astype(np.float32), [sphere(row) for row in x])
    assert optimizer.generation == 1


@pytest.mark.parametrize("algorithm", ["lga", "gesmr_ga", "cma_es", "random_search"])
@pytest.mark.usefixtures("ranks_promoted")
def test_a_saved_optimizer_continues_bit_by_bit(algorithm, tmp_path):
    straight = told(lga.Optimizer(BOX, seed=5, popsize=8, algorithm=algorithm), 4)
    x = straight.ask()
    straight.tell(x[:3], [sphere(row) for row in x[:3]])
    straight.save(tmp_path / "run.safetensors")
    loaded = lga.Optimizer.load(tmp_path / "run.safetensors")
    same_search(straight, loaded)
    for optimizer in (straight, loaded):
        rest = optimizer.ask()
        optimizer.tell(rest, [sphere(row) for row in rest])
    same_search(told(straight, 5), told(loaded, 5))
    np.testing.assert_array_equal(straight.state.history, loaded.state.history)
    assert straight.failures == loaded.failures


def test_a_saved_noisy_search_continues_bit_by_bit(tmp_path):
    straight = told(lga.Optimizer(BOX, seed=5, popsize=8, reevaluate=2), 4)
    straight.save(tmp_path / "run")
    same_search(told(straight, 4), told(lga.Optimizer.load(tmp_path / "run"), 4))


def test_another_file_is_refused(tmp_path):
    lga.save_theta(tmp_path / "weights", resolve("lga-1").theta, {})
    with pytest.raises(ValueError, match="not an optimiser"):
        lga.Optimizer.load(tmp_path / "weights")


def test_stagnation_restarts_with_small_and_larger_populations_by_turns():
    optimizer = lga.Optimizer([(-5, 5)], seed=0, popsize=4)
    sizes = set()
    while optimizer.state.restarts < 3:
        x = optimizer.ask()
        sizes.add(len(x))
        optimizer.tell(x, [steps(row) for row in x])
    assert sizes == {4, 8}
    assert optimizer.popsize == 4
    assert optimizer.best_value == 0.0


def test_large_offsets_do_not_hide_small_improvements():
    """The search is in float32; what it sees is relative to the best, so a constant does not matter."""
    plain = told(lga.Optimizer(BOX, seed=2), 40)
    shifted = told(lga.Optimizer(BOX, seed=2), 40, lambda x: sphere(x) + 2.0**20)
    assert plain.best_value < 1e-3
    assert shifted.best_value - 2.0**20 < 1e-3


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_huge_and_tiny_values_are_only_values(scale):
    plain = told(lga.Optimizer(BOX, seed=2), 40)
    scaled = told(lga.Optimizer(BOX, seed=2), 40, lambda x: sphere(x) * scale)
    assert scaled.failures == {}
    assert scaled.best_value / scale < max(1e-2, 10 * plain.best_value)


def test_maximising_is_minimising_the_negative():
    low = told(lga.Optimizer(BOX, seed=2, popsize=8), 5)
    high = told(lga.Optimizer(BOX, seed=2, popsize=8, direction="maximize"), 5, lambda x: -sphere(x))
    assert high.best_value == -low.best_value
    np.testing.assert_array_equal(high.best_x, low.best_x)


def test_the_given_start_is_evaluated_as_it_is():
    x0 = [0.1, 1e-7 / 3, -4.999999999]
    np.testing.assert_array_equal(lga.Optimizer(BOX, x0=x0).ask()[0], x0)
    np.testing.assert_array_equal(lga.Optimizer(x0=x0, sigma0=0.1).ask()[0], x0)


@pytest.mark.parametrize(
    ("best", "values", "hopeless"),
    [
        (0.0, [1.0, 1.01, 1.02], True),
        (0.0, [1.0, 2.0, 3.0], False),
        (1.0, [1.0, 1.0 + 1e-12, 1.0], False),
        (0.0, [math.nan, math.nan, 1.0], False),
    ],
    ids=["children agree on something worse", "children differ", "it is the best itself", "most have failed"],
)
def test_a_run_is_given_up_where_its_children_agree_on_something_worse_than_the_best(best, values, hopeless):
    search = make_search(SearchOptions([(0, 1)], seed=0))
    state = first_state(search)
    state = replace(state, best=replace(state.best, value=best), run=replace(state.run, reference=1.0))
    assert is_hopeless(search, state, np.array(values)) is hopeless


def test_a_run_that_has_collapsed_on_a_value_starts_anew_soon():
    """Where values are 3 and more, rounding ends the search for digits long before the rates are at their end."""
    result = lga.minimize(lambda x: 3.0 + sphere(x), BOX, max_evaluations=2000, seed=0)
    when = result.history["evaluations"][result.history["restarts"] > 0]
    assert result.restarts > 0
    found = np.flatnonzero(result.history["best"] <= 3.0 + 1e-14)[0]
    assert when[0] - result.history["evaluations"][found] < 30 * resolve().population(3)


def test_noise_whole_numbers_and_plateaus_are_no_collapse():
    steps_alone = lga.minimize(lambda x: 3.0 + np.sum(np.floor(x) ** 2), BOX, max_evaluations=400, seed=0)
    assert steps_alone.restarts == 0
    whole = lga.minimize(lambda x: 3.0 + sphere(x), BOX, integrality=True, max_evaluations=400, seed=0)
    assert whole.restarts == 0


def test_the_best_is_among_the_population():
    result = lga.minimize(lambda x: 3.0 + np.sum(x**2 - np.cos(9.0 * x)), BOX, max_evaluations=1500, seed=0)
    assert result.restarts > 0
    place = int(np.argmin(result.population_values))
    assert result.population_values[place] == result.fun
    np.testing.assert_array_equal(result.population[place], result.x)
