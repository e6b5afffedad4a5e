"""`minimize` does what its arguments say, and says why it stopped."""

import math
import signal
import threading
import time

import jax.numpy as jnp
import numpy as np
import pytest
from faulty import failures_of, slow_sphere, sphere, steps
from scipy.optimize import Bounds, OptimizeResult

import lga
from lga.optimize.records import COLUMNS, MOST_ROWS, columns, with_row
from lga.weights import resolve

BOX = [(-5.0, 5.0)] * 3
# One size of population and few generations: most of the time of a test is compilation.
SMALL = {"popsize": 8, "seed": 0}


def test_the_optimum_of_a_sphere_is_found():
    result = lga.minimize(sphere, BOX, seed=0, max_evaluations=2000)
    assert isinstance(result, OptimizeResult)
    assert result.status == 1
    assert result.fun == sphere(result.x) < 1e-6
    np.testing.assert_allclose(result.x, 0.7, atol=1e-3)
    assert result.nfev == 2000
    assert result.population.shape[1] == 3
    assert result.population_values.shape == result.population.shape[:1]
    np.testing.assert_allclose([sphere(x) for x in result.population], result.population_values, rtol=1e-12)


def test_results_can_be_printed():
    assert "the evaluations are used up" in repr(lga.minimize(sphere, BOX, max_evaluations=8, **SMALL))


def test_the_history_goes_down_and_ends_at_the_result():
    history = lga.minimize(sphere, BOX, max_evaluations=160, **SMALL).history
    assert {len(column) for column in history.values()} == {20}
    assert np.all(np.diff(history["best"]) <= 0.0)
    assert np.all(np.diff(history["evaluations"]) == 8)


@pytest.mark.parametrize("budget", [1, 5, 8, 13, 50])
def test_the_budget_is_kept_exactly(budget):
    calls = []
    result = lga.minimize(lambda x: calls.append(1) or sphere(x), BOX, max_evaluations=budget, **SMALL)
    assert len(calls) == result.nfev == budget
    assert result.message == "the evaluations are used up"
    assert math.isfinite(result.fun)


def test_every_reason_for_stopping_is_told():
    def reason(**limits):
        result = lga.minimize(limits.pop("fun", sphere), BOX, **SMALL | limits)
        return result.status, result.message

    assert reason(target=1.0) == (0, "the target was reached")
    assert reason(max_evaluations=20) == (1, "the evaluations are used up")
    assert reason(max_seconds=2.0, fun=slow_sphere) == (2, "the time is used up")
    assert reason(patience=3, fun=lambda x: 1.0) == (3, "patience is at its end: no improvement for 3 generations")
    assert reason(callback=lambda so_far: np.bool_(so_far.nit == 2)) == (4, "the callback asked to stop")
    assert reason(restarts=0, fun=steps) == (6, "the search stagnated and no restarts are left")


def test_a_missed_target_is_no_success():
    assert not lga.minimize(sphere, BOX, max_evaluations=16, target=-1.0, **SMALL).success
    assert lga.minimize(sphere, BOX, max_evaluations=4000, target=1.0, **SMALL).success


def test_time_is_kept_within_a_generation():
    # A whole generation would take a minute and more.
    result = lga.minimize(lambda x: time.sleep(0.1) or sphere(x), BOX, popsize=600, max_seconds=2.0)
    assert 1 <= result.nfev < 100
    assert math.isfinite(result.fun)


@pytest.mark.usefixtures("ctrl_c_works")
def test_an_interrupt_returns_the_best_so_far():
    calls = []

    def objective(x):
        calls.append(sphere(x))
        if len(calls) == 20:
            signal.raise_signal(signal.SIGINT)
        return calls[-1]

    result = lga.minimize(objective, BOX, max_evaluations=1000, **SMALL)
    assert result.message == "interrupted"
    assert not result.success
    assert result.nfev == 19
    assert result.fun == min(calls[:19])


def test_it_runs_in_a_thread():
    results = []
    thread = threading.Thread(target=lambda: results.append(lga.minimize(sphere, BOX, max_evaluations=20, **SMALL)))
    thread.start()
    thread.join()
    assert results[0].fun == lga.minimize(sphere, BOX, max_evaluations=20, **SMALL).fun


def test_equal_seeds_give_equal_results_and_others_do_not():
    one, two, other = (lga.minimize(sphere, BOX, popsize=8, max_evaluations=40, seed=seed) for seed in (7, 7, 8))
    np.testing.assert_array_equal(one.x, two.x)
    assert not np.array_equal(one.x, other.x)


def test_an_unknown_seed_is_told_and_can_be_used_again():
    first = lga.minimize(sphere, BOX, popsize=8, max_evaluations=24)
    np.testing.assert_array_equal(lga.minimize(sphere, BOX, popsize=8, max_evaluations=24, seed=first.seed).x, first.x)


def test_whole_and_log_scaled_variables():
    seen = []

    def objective(x):
        seen.append(x.copy())
        return (x[0] - 3) ** 2 + np.log10(x[1] / 1e-3) ** 2 + (x[2] - 0.5) ** 2

    bounds = [(0, 10), (1e-6, 1.0), (0.0, 1.0)]
    kinds = {"integrality": [True, False, False], "log_scale": [False, True, False]}
    result = lga.minimize(objective, bounds, max_evaluations=1200, **SMALL | kinds)
    assert result.x[0] == 3.0
    assert result.fun < 0.05
    low, high = np.transpose(bounds)
    assert np.all((np.array(seen) >= low) & (np.array(seen) <= high))
    assert np.all(np.array(seen)[:, 0] % 1.0 == 0.0)
    assert all(x.dtype == np.float64 for x in seen)


def test_without_bounds_it_starts_around_x0():
    result = lga.minimize(sphere, x0=[100.0, 100.0, 100.0], sigma0=30.0, max_evaluations=4000, **SMALL)
    assert result.fun < 1.0
    half = lga.minimize(sphere, [(None, 0.0)] * 3, x0=[-9.0] * 3, sigma0=3.0, max_evaluations=1000, **SMALL)
    assert np.all(half.x <= 0.0)
    assert half.fun == pytest.approx(3 * 0.7**2, rel=0.05)


def test_scipys_bounds_are_understood():
    ours = lga.minimize(sphere, BOX, max_evaluations=24, **SMALL)
    np.testing.assert_array_equal(
        lga.minimize(sphere, Bounds([-5] * 3, [5] * 3), max_evaluations=24, **SMALL).x, ours.x
    )


def test_a_vectorized_objective_gives_the_same_search():
    single = lga.minimize(sphere, BOX, max_evaluations=40, **SMALL)
    shapes = set()

    def all_at_once(x):
        shapes.add(x.shape)
        return [sphere(row) for row in x]

    np.testing.assert_array_equal(
        lga.minimize(all_at_once, BOX, vectorized=True, max_evaluations=40, **SMALL).x, single.x
    )
    assert shapes == {(8, 3)}


def test_one_bad_row_does_not_spoil_a_vectorized_generation():
    def picky(x):
        if np.any(x[:, 0] > 0.0):
            raise ValueError("no positive numbers please")
        return np.sum(x**2, axis=1)

    result = lga.minimize(picky, BOX, vectorized=True, max_evaluations=40, **SMALL)
    assert 0 < result.failures["exception"] < 40
    assert result.x[0] <= 0.0


def jax_sphere(x):
    return jnp.sum((x - 0.7) ** 2)


def test_objectives_in_jax_are_compiled_when_asked_for():
    calls = []

    def counted(x):
        calls.append(type(x).__name__)
        return jax_sphere(x)

    result = lga.minimize(counted, BOX, jit=True, max_evaluations=400, **SMALL)
    assert len(calls) < 10
    assert "BatchTracer" in calls
    assert result.fun < 0.1


def test_values_under_jit_belong_to_points_inside_of_bounds_in_its_precision():
    def edge(x):
        return jnp.where(jnp.all((x <= 0.1) & (x >= -0.1)), -jnp.sum(x), jnp.inf)

    result = lga.minimize(edge, [(-0.1, 0.1)] * 3, jit=True, max_evaluations=400, **SMALL)
    assert failures_of(result) == {}


def test_what_cannot_be_compiled_is_refused():
    with pytest.raises(ValueError, match="cannot trace"):
        lga.minimize(lambda x: float(x[0]), BOX, jit=True, **SMALL)


def test_reevaluation_does_not_fall_for_luck():
    """Rare and large luck: without a second look, the best value is luck alone."""

    def run(reevaluate, seed):
        generator = np.random.default_rng(seed)
        return lga.minimize(
            lambda x: sphere(x) - (20.0 if generator.uniform() < 0.02 else 0.0),
            BOX,
            popsize=8,
            seed=seed,
            max_evaluations=1600,
            reevaluate=reevaluate,
        )

    def mean_luck(results):
        return np.mean([sphere(result.x) - result.fun for result in results])

    lucky, careful = ([run(reevaluate, seed) for seed in range(8)] for reevaluate in (0, 3))
    assert all("single evaluations" in result.chosen for result in lucky)
    assert all("mean of" in result.chosen for result in careful)
    assert mean_luck(lucky) == pytest.approx(20.0)
    assert mean_luck(careful) < 10.0
    assert np.median([sphere(result.x) for result in careful]) < 1.0


def test_any_preset_minimises():
    with pytest.raises(ValueError, match="algorithm is 'nonsense'"):
        lga.minimize(sphere, BOX, algorithm="nonsense")
    with pytest.raises(ValueError, match="has none"):
        lga.minimize(sphere, BOX, algorithm="samr_ga", weights="lga-1")
    assert lga.minimize(sphere, BOX, algorithm="samr_ga", max_evaluations=800, **SMALL).fun < 0.1


@pytest.mark.parametrize("choice", ["file", "theta"])
def test_weights_may_be_a_file_or_themselves(choice, tmp_path):
    theta = resolve().theta
    lga.save_theta(tmp_path / "w", theta, {})
    weights = tmp_path / "w" if choice == "file" else theta
    ours = lga.minimize(sphere, BOX, max_evaluations=24, **SMALL)
    np.testing.assert_array_equal(lga.minimize(sphere, BOX, weights=weights, max_evaluations=24, **SMALL).x, ours.x)


def test_progress_is_told(capsys):
    lga.minimize(sphere, BOX, max_evaluations=24, progress=True, **SMALL)
    assert "24 of 24 evaluations" in capsys.readouterr().err


def test_history_never_grows_beyond_its_limit():
    history = np.zeros((0, len(COLUMNS)))
    for number in range(10 * MOST_ROWS):
        history = with_row(history, number, (float(number),) * len(COLUMNS))
    column = columns(history)["best"]
    assert len(column) <= MOST_ROWS
    assert np.all(np.diff(column) == np.diff(column)[0])


def test_a_search_that_ends_inside_its_first_generation_has_a_best_under_reevaluation():
    result = lga.minimize(lambda x: float(x @ x), [(-5, 5)] * 2, popsize=8, seed=0, max_evaluations=1, reevaluate=2)
    assert result.nfev == 1
    assert result.fun == float(result.x @ result.x)
