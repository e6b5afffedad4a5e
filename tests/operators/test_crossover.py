import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lga.core.population import Archive
from lga.operators.crossover import attention_crossover, immigration, no_crossover, uniform_crossover
from samples import progress_of, random_archive, random_folded

KEY = jax.random.key(0)
PARENTS = random_archive(1, 7)
PROGRESS = progress_of(PARENTS)
EVERYONE = jnp.arange(7)
CROSS = jax.jit(attention_crossover(random_folded(2).cross))


def with_solutions(solutions) -> Archive:
    return Archive(solutions, PARENTS.fitness, PARENTS.sigma, PARENTS.age)


def test_without_crossover_a_child_starts_from_its_parent():
    index = jnp.array([3, 3, 0])
    np.testing.assert_array_equal(no_crossover()(KEY, PARENTS, index, PROGRESS).solutions, PARENTS.solutions[index])


def test_uniform_crossover_takes_coordinates_only_from_parents_and_mostly_from_its_own():
    index = jnp.arange(2000) % 7
    crossed = np.asarray(uniform_crossover(0.3)(KEY, PARENTS, index, PROGRESS).solutions)
    parents = np.asarray(PARENTS.solutions)
    for dimension in range(3):
        assert np.all(np.isin(crossed[:, dimension], parents[:, dimension]))
    foreign = np.mean(crossed != parents[np.asarray(index)])
    # A mate is drawn from all seven, so one swap in seven brings back the own coordinate.
    expected = 0.3 * 6 / 7
    # The coordinates of a child share their mate: at worst, all three of them swap together.
    assert abs(foreign - expected) <= 4 * np.sqrt(expected * (1 - expected) / 2000)


def test_uniform_crossover_with_probability_zero_is_none():
    np.testing.assert_array_equal(uniform_crossover(0.0)(KEY, PARENTS, EVERYONE, PROGRESS).solutions, PARENTS.solutions)


def test_immigrants_fill_the_box_whatever_the_parents():
    newcomers = np.asarray(immigration(-2.0, 3.0)(KEY, PARENTS, jnp.zeros(2000, jnp.int32), PROGRESS).solutions)
    assert newcomers.min() >= -2
    assert newcomers.max() < 3
    # The variance of U(-2, 3) is 25 / 12.
    assert abs(newcomers.mean() - 0.5) <= 4 * np.sqrt(25 / 12 / newcomers.size)


@given(st.integers(-12, 12), st.floats(-5, 5))
def test_attention_crossover_moves_with_shift_and_scale_of_the_solutions(exponent, shift):
    cross = CROSS
    scale, shift = jnp.float32(10.0) ** exponent, jnp.float32(shift)
    crossed = cross(KEY, PARENTS, EVERYONE, PROGRESS).solutions
    moved = cross(KEY, with_solutions((PARENTS.solutions + shift) * scale), EVERYONE, PROGRESS).solutions
    np.testing.assert_allclose(moved / scale - shift, crossed, atol=1e-4)
    assert np.abs(crossed - PARENTS.solutions).max() > 0.1


def test_attention_crossover_keeps_coordinates_on_which_parents_agree():
    solutions = PARENTS.solutions.at[:, 1].set(0.7)
    crossed = attention_crossover(random_folded(3).cross)(KEY, with_solutions(solutions), EVERYONE, PROGRESS).solutions
    np.testing.assert_array_equal(crossed[:, 1], solutions[:, 1])
    assert np.all(crossed[:, 0] != solutions[:, 0])


def test_attention_crossover_gives_each_child_its_own_parents_start():
    cross = attention_crossover(random_folded(4).cross)
    index = jnp.array([5, 0, 5, 2])
    everyone = cross(KEY, PARENTS, EVERYONE, PROGRESS).solutions
    np.testing.assert_array_equal(cross(KEY, PARENTS, index, PROGRESS).solutions, everyone[index])


def test_attention_crossover_stays_finite_when_it_compounds():
    cross = jax.jit(attention_crossover(random_folded(5, scale=3.0).cross))
    parents = PARENTS
    for _ in range(60):
        parents = with_solutions(cross(KEY, parents, EVERYONE, PROGRESS).solutions)
    assert np.all(np.isfinite(parents.solutions))
    assert np.abs(parents.solutions).max() > 1e15
