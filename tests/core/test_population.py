import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import TypeCheckError

from lga.core.population import (
    FAILED,
    Children,
    advance_progress,
    count_failures,
    newborn,
    rank_failures_last,
    start_progress,
    take,
)
from lga.operators.features import z_score
from samples import random_archive

# XLA takes subnormal numbers for zero.
ANY_FITNESS = st.lists(st.floats(width=32, allow_subnormal=False), min_size=6, max_size=6)


def test_shapes_are_checked_in_tests():
    with pytest.raises(TypeCheckError):
        z_score(jnp.zeros((2, 2)))
    with pytest.raises(TypeCheckError):
        Children(jnp.zeros((3, 2)), jnp.zeros(4), jnp.zeros(3, jnp.int32))


def test_adding_a_vector_to_a_matrix_is_an_error_in_tests():
    with pytest.raises(ValueError, match="numpy_rank_promotion"):
        jnp.zeros((2, 2)) + jnp.zeros(2)


@given(ANY_FITNESS)
def test_cleaned_fitness_is_finite_and_keeps_the_order_of_successes(raw):
    raw = np.array(raw, np.float32)
    cleaned = np.asarray(rank_failures_last(jnp.asarray(raw)))
    assert np.all(np.isfinite(cleaned))
    np.testing.assert_array_equal(cleaned[np.isfinite(raw)], raw[np.isfinite(raw)])
    assert np.all(cleaned[~np.isfinite(raw)] == np.float32(FAILED))


def test_minus_infinity_is_a_failure_and_no_triumph():
    fitness = rank_failures_last(jnp.array([-jnp.inf, 3.0]))
    assert start_progress(jnp.array([[1.0], [2.0]]), fitness).best_fitness == 3.0
    assert count_failures(fitness) == 1


@given(st.lists(ANY_FITNESS, min_size=1, max_size=4))
def test_best_so_far_is_the_least_of_all_successes(generations):
    generations = [rank_failures_last(jnp.asarray(np.array(raw, np.float32))) for raw in generations]
    solutions = jnp.arange(6.0)[:, None]
    progress = start_progress(solutions, generations[0])
    for number, fitness in enumerate(generations[1:], start=1):
        progress = advance_progress(progress, solutions + 10.0 * number, fitness)
    everything = np.stack(generations)
    generation, member = np.unravel_index(np.argmin(everything), everything.shape)
    assert progress.best_fitness == everything.min()
    assert progress.best_solution[0] == member + 10.0 * generation
    assert progress.generation == len(generations) - 1
    assert progress.evaluations == everything.size
    assert progress.failures == np.sum(everything >= np.float32(FAILED))


def test_take_keeps_the_columns_of_an_individual_together():
    archive = random_archive(0, 5)
    taken = take(archive, jnp.array([3, 3, 0]))
    for name in ("solutions", "fitness", "sigma", "age"):
        np.testing.assert_array_equal(getattr(taken, name), np.asarray(getattr(archive, name))[[3, 3, 0]])


def test_the_newborn_have_age_zero():
    children = Children(jnp.zeros((3, 2)), jnp.ones(3), jnp.array([2, 1, 0]))
    archive = newborn(children, jnp.arange(3.0))
    np.testing.assert_array_equal(archive.age, [0, 0, 0])
    np.testing.assert_array_equal(archive.fitness, [0.0, 1.0, 2.0])
