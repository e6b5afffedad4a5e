import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lga.core.population import FAILED, Archive
from lga.operators.mutation_rate import (
    LARGEST_SIGMA,
    SMALLEST_SIGMA,
    fixed_rate,
    group_elite_rate,
    ladder_rate,
    no_mutation,
    one_fifth_rule,
    self_adaptive_rate,
    trend_rate,
)
from samples import progress_of, random_archive

KEY = jax.random.key(0)
SIGMA0 = jnp.asarray(0.3)


def with_fitness(fitness) -> Archive:
    fitness = jnp.asarray(fitness, jnp.float32)
    n = fitness.shape[0]
    return Archive(jnp.zeros((n, 1)), fitness, jnp.ones(n), jnp.zeros(n, jnp.int32))


def after(rule, rate_state, change, key=KEY):
    """The state of a rule after children that differ from their parents by `change`."""
    change = jnp.asarray(change, jnp.float32)
    return jax.jit(rule.update)(key, rate_state, with_fitness(jnp.zeros_like(change)), with_fitness(change))


def test_a_fixed_rate_is_the_initial_one_for_ever():
    rule = fixed_rate()
    parents = random_archive(1, 5)
    state = after(rule, rule.init(SIGMA0), [-1.0, 1.0])
    np.testing.assert_array_equal(rule.propose(KEY, state, parents, progress_of(parents)), np.full(5, SIGMA0))


def test_no_mutation_is_a_rate_of_zero():
    parents = random_archive(1, 5)
    np.testing.assert_array_equal(no_mutation().propose(KEY, (), parents, progress_of(parents)), np.zeros(5))


# Shares of one fifth that single precision does not hold: a mean would fall short of it for 25, 50, 55, 100, ...
@pytest.mark.parametrize("num_children", [5, 10, 15, 25, 50, 55, 100, 115])
def test_one_fifth_rule_doubles_at_exactly_one_fifth_and_halves_below(num_children):
    rule = one_fifth_rule()
    improved = np.arange(num_children) < num_children // 5
    assert after(rule, SIGMA0, np.where(improved, -1.0, 1.0)) == 2 * SIGMA0
    one_less = np.arange(num_children) < num_children // 5 - 1
    assert after(rule, SIGMA0, np.where(one_less, -1.0, 1.0)) == SIGMA0 / 2


@pytest.mark.parametrize(("num_children", "enough"), [(1, 1), (4, 1), (6, 2), (16, 4), (33, 7)])
def test_one_fifth_rule_needs_at_least_a_fifth_of_any_number(num_children, enough):
    rule = one_fifth_rule()
    for successes in (enough - 1, enough):
        grown = after(rule, SIGMA0, np.where(np.arange(num_children) < successes, -1.0, 0.0)) > SIGMA0
        assert grown == (successes == enough)


@pytest.mark.parametrize("rule", [one_fifth_rule(), group_elite_rate(3)])
@pytest.mark.parametrize("start", [1e-19, 1e14])
def test_a_rate_never_reaches_zero_or_infinity_from_where_it_could_not_return(rule, start):
    state = rule.init(jnp.asarray(start))
    update = jax.jit(rule.update)
    change = jnp.full(6, -1.0 if start > 1 else 1.0)
    for number in range(200):
        state = update(jax.random.key(number), state, with_fitness(jnp.zeros(6)), with_fitness(change))
    assert np.all(state >= np.float32(SMALLEST_SIGMA))
    assert np.all(state <= np.float32(LARGEST_SIGMA))


def test_a_self_adaptive_rate_is_the_parents_times_a_bounded_factor():
    parents = random_archive(2, 500)
    sigma = self_adaptive_rate(3.0).propose(KEY, (), parents, progress_of(parents))
    factors = np.asarray(sigma / parents.sigma)
    assert factors.min() >= 1 / 3 - 1e-6
    assert factors.max() <= 3 + 1e-6
    assert len(np.unique(factors)) > 450


def test_groups_share_a_rate_and_differ_in_size_by_at_most_one():
    rule = group_elite_rate(4)
    parents = random_archive(3, 10)
    sigma = rule.propose(KEY, jnp.arange(1.0, 5.0), parents, progress_of(parents))
    assert np.all(np.diff(sigma) >= 0)
    assert sorted(np.bincount(np.asarray(sigma, int))[1:]) == [2, 2, 3, 3]


def test_the_group_with_the_best_improvement_keeps_its_rate():
    rule = group_elite_rate(4)
    # The third group holds the largest single improvement, though the first improves more often.
    change = [-1, -1, -1, 0, 0, 0, -2, 9, 9, 5, 5, 5]
    assert after(rule, jnp.array([0.1, 0.2, 0.4, 0.8]), change)[0] == np.float32(0.4)


def test_other_groups_are_redrawn_from_the_better_half():
    rule = group_elite_rate(4, meta=1.5)
    rates = jnp.array([1.0, 10.0, 100.0, 1000.0])
    change = jnp.asarray([1.0, -1.0, 2.0, -2.0])
    parents, offspring = with_fitness(jnp.zeros(4)), with_fitness(change)
    keys = jax.random.split(KEY, 500)
    states = np.asarray(jax.vmap(rule.update, (0, None, None, None))(keys, rates, parents, offspring))
    np.testing.assert_array_equal(states[:, 0], 1000.0)
    from_best = np.abs(np.log(states[:, 1:] / 1000.0)) <= np.log(1.5) + 1e-5
    from_second = np.abs(np.log(states[:, 1:] / 10.0)) <= np.log(1.5) + 1e-5
    assert np.all(from_best | from_second)
    assert abs(from_best.mean() - 0.5) <= 4 * np.sqrt(0.25 / from_best.size)


@pytest.mark.parametrize("num_groups", [1, 2, 3, 6, 11])
def test_any_number_of_groups_works_even_more_than_children(num_groups):
    rule = group_elite_rate(num_groups)
    parents = random_archive(4, 6)
    state = rule.init(SIGMA0)
    assert state.shape == (num_groups,)
    assert rule.propose(KEY, state, parents, progress_of(parents)).shape == (6,)
    told = after(rule, state, [1.0, -1.0, 2.0, 0.0, 0.0, 3.0])
    assert told.shape == (num_groups,)
    assert told[0] == SIGMA0
    assert np.all((told >= SIGMA0 / 2 * 0.999) & (told <= SIGMA0 * 2 * 1.001))


def test_failures_are_no_improvement():
    failed = with_fitness(jnp.full(4, FAILED))
    rule = one_fifth_rule()
    assert rule.update(KEY, SIGMA0, failed, failed) == SIGMA0 / 2
    rates = group_elite_rate(4).update(
        KEY, jnp.array([1.0, 2.0, 4.0, 8.0]), with_fitness(jnp.zeros(4)), with_fitness([FAILED, FAILED, -1.0, FAILED])
    )
    assert rates[0] == 4.0
    assert np.all(np.isfinite(rates))


@pytest.mark.parametrize(
    ("sigma", "expected"),
    [
        ([1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0]),
        ([1.0, 1.0, 0.5, 0.5], [2.0, 2.0, 1.0, 1.0]),
        ([0.5, 0.5, 1.0, 1.0], [0.1, 0.1, 0.4, 0.4]),
    ],
    ids=["equal", "the worse have smaller rates", "the worse have larger rates"],
)
def test_rates_grow_unless_larger_ones_go_with_worse_fitness(sigma, expected):
    parents = Archive(jnp.zeros((4, 2)), jnp.array([0.0, 0.0, 2.0, 2.0]), jnp.array(sigma), jnp.zeros(4, jnp.int32))
    rule = trend_rate(grow=2.0, better=0.2, worse=0.4)
    proposed = rule.propose(jax.random.key(0), (), parents, progress_of(parents))
    np.testing.assert_allclose(proposed, expected, rtol=1e-5)


def test_equals_climb_a_ladder():
    equals = Archive(jnp.zeros((5, 2)), jnp.ones(5), jnp.full(5, 0.5), jnp.zeros(5, jnp.int32))
    steps = np.log(ladder_rate(height=1.0).propose(jax.random.key(0), (), equals, progress_of(equals)) / 0.5)
    np.testing.assert_allclose(steps, [0.5, 0.25, 0.0, -0.25, -0.5], atol=1e-6)
