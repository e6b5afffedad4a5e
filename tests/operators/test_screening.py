"""Screening and scattered mutation: what makes them what they are."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lga.algorithms.presets import learned_ga
from lga.algorithms.run import run
from lga.core.box import from_unit, to_unit
from lga.core.population import FAILED
from lga.operators.fold import usual_regress, usual_scatter, usual_screen
from lga.operators.regression import regression_screening
from lga.operators.scatter import scattered
from lga.operators.screening import attention_screening
from lga.tasks.tuning import evaluate_tuning, sample_tuning_task
from lga.weights import resolve

SCREENS = {"attention": attention_screening(usual_screen()), "regression": regression_screening(usual_regress())}
LOW, HIGH = -5.0, 5.0

both_screens = pytest.mark.parametrize("screen", SCREENS.values(), ids=SCREENS)


def uniform(seed, *shape):
    return jnp.asarray(np.random.default_rng(seed).uniform(LOW, HIGH, shape), jnp.float32)


def test_mirrors_show_what_lies_beyond_the_walls():
    np.testing.assert_allclose(
        to_unit(jnp.array([-5.0, 0.0, 5.0, 6.0, -7.0, 15.0, 26.0])), [0, 0.5, 1, 0.9, 0.2, 0, 0.9], atol=1e-6
    )
    points = jnp.array([[0.0, 0.3, 1.0]])
    np.testing.assert_allclose(to_unit(from_unit(points)), points, atol=1e-6)


@both_screens
def test_a_candidate_beside_a_good_solution_is_preferred_to_one_beside_a_bad_one(screen):
    solutions = jnp.array([[-4.0, -4.0], [-4.1, -3.9], [4.0, 4.0], [4.1, 3.9]])
    past = screen.init(solutions, jnp.array([0.0, 0.1, 1.0, 1.1]))
    candidates = jnp.array([[4.05, 4.0], [-4.05, -4.0]])
    assert screen.choose(past, candidates, 1).tolist() == [1]


@both_screens
def test_where_nothing_is_known_to_be_good_the_unknown_is_preferred(screen):
    past = screen.init(jnp.zeros((3, 2)) + jnp.array([[-4.0], [-4.0], [-4.0]]), jnp.zeros(3))
    candidates = jnp.array([[-4.0, -4.0], [4.0, 4.0]])
    assert screen.choose(past, candidates, 1).tolist() == [1]


@both_screens
def test_children_of_one_generation_are_spread_out(screen):
    past = screen.init(uniform(0, 5, 2), jnp.zeros(5))
    # Two crowds: a second child from the same crowd would tell little.
    candidates = jnp.concatenate([jnp.full((4, 2), 4.0), jnp.full((4, 2), -4.0)]) + 1e-3 * uniform(1, 8, 2)
    chosen = np.asarray(screen.choose(past, candidates, 2))
    assert (chosen < 4).sum() == 1


@both_screens
def test_ranks_alone_decide(screen):
    solutions, candidates = uniform(2, 20, 3), uniform(3, 40, 3)
    fitness = uniform(4, 20)
    chosen = [screen.choose(screen.init(solutions, values), candidates, 4) for values in (fitness, jnp.exp(fitness))]
    np.testing.assert_array_equal(*chosen)


@both_screens
def test_a_variable_that_goes_with_fitness_counts_more(screen):
    solutions = uniform(5, 60, 4)
    past = screen.init(solutions, jnp.abs(solutions[:, 0]))
    # Both are as far from the good ones: one along the variable that matters, one along one that does not.
    good = solutions[jnp.argsort(jnp.abs(solutions[:, 0]))[:1]]
    away = jnp.array([[4.0, 0.0, 0.0, 0.0], [0.0, 4.0, 0.0, 0.0]])
    assert screen.choose(past, good + away, 1).tolist() == [1]


def test_the_ring_forgets_the_oldest_and_failures_are_worst():
    small = attention_screening(usual_screen(), capacity=4)
    past = small.init(uniform(6, 3, 2), jnp.array([1.0, 2.0, 3.0]))
    past = small.update(past, uniform(7, 3, 2), jnp.array([4.0, jnp.nan, 6.0]))
    assert past.count == 6
    np.testing.assert_array_equal(np.sort(past.fitness), np.sort(np.float32([3.0, 4.0, FAILED, 6.0])))


def test_more_solutions_than_the_ring_holds_leave_the_latest():
    small = attention_screening(usual_screen(), capacity=4)
    past = small.init(uniform(6, 7, 2), jnp.arange(7.0))
    np.testing.assert_array_equal(np.sort(past.fitness), [3.0, 4.0, 5.0, 6.0])


def scattered_children(numbers, count=4000, num_dims=5, sigma=0.1):
    start = jnp.zeros((1, num_dims))
    index, rates = jnp.zeros(count, jnp.int32), jnp.full(count, sigma)
    return np.asarray(scattered(numbers).mutate(jax.random.key(0), (), start, index, rates)[0])


def with_numbers(**changes):
    leaves = {name: getattr(usual_scatter(), name) for name in ("share", "anew", "newcomers", "size", "spread")}
    return type(usual_scatter())(**leaves | {name: jnp.asarray(value) for name, value in changes.items()})


def test_a_share_of_the_coordinates_is_mutated():
    quiet = {"anew": [-30.0, 0.0], "newcomers": [-30.0]}
    moved = scattered_children(with_numbers(**quiet)) != 0.0
    tolerance = 4 * np.sqrt(0.25 / moved.size)
    assert abs(moved.mean() - 0.5) < tolerance
    # However small the share, one coordinate in expectation.
    moved = scattered_children(with_numbers(share=[-30.0, 0.0], **quiet)) != 0.0
    assert abs(moved.mean() - 0.2) < tolerance


def test_newcomers_are_uniform_in_the_box():
    children = scattered_children(with_numbers(newcomers=[30.0]))
    assert np.all(np.abs(children) <= HIGH)
    tolerance = 4 * 10.0 / np.sqrt(12.0 * children.size)
    assert abs(children.mean()) < tolerance
    assert children.std() == pytest.approx(10.0 / np.sqrt(12.0), rel=0.02)


@pytest.mark.slow
def test_screening_pays_within_a_hundred_evaluations():
    trained = resolve("lga-hpo").theta

    def mean_of_best(theta):
        algorithm = learned_ga(theta, 4)

        def search(key):
            key_task, key_start, key_run = jax.random.split(key, 3)
            task = sample_tuning_task(key_task, 6)
            start = jax.random.uniform(key_start, (5, 6), minval=LOW, maxval=HIGH)
            _, trace = run(key_run, algorithm, lambda k, x: evaluate_tuning(k, task, x), start, 1.0, 25)
            return jnp.mean(trace.best_so_far)

        return jax.jit(jax.vmap(search))(jax.random.split(jax.random.key(1), 64))

    difference = np.asarray(mean_of_best(replace(trained, screen=None)) - mean_of_best(trained))
    assert difference.mean() > 3 * difference.std(ddof=1) / np.sqrt(len(difference))
