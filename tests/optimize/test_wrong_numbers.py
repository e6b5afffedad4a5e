"""A value belongs to the solution that it was computed for, and to the objective that was asked for."""

import os
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from faulty import assert_same, failures_of, sphere

import lga
from lga.optimize.worker import judge

BOX = [(-5.0, 5.0)] * 3
SMALL = {"popsize": 8, "seed": 0, "max_evaluations": 40}


def forks_and_raises(x):
    if os.fork() == 0:
        raise RuntimeError("in the child")
    return sphere(x)


def forks_and_returns(x):
    return -1e9 if os.fork() == 0 else sphere(x)


def forks_and_leaves(x):
    if os.fork() == 0:
        raise SystemExit(0)
    return sphere(x)


# JAX warns of forks in a process with its threads; workers have none.
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("forks", [forks_and_raises, forks_and_returns, forks_and_leaves])
def test_a_process_that_the_objective_forks_never_answers_for_it(forks, workers):
    assert_same(lga.minimize(forks, BOX, workers=workers, **SMALL), lga.minimize(sphere, BOX, **SMALL))


@pytest.mark.parametrize(
    "value",
    [np.ma.masked, np.ma.array(3.0, mask=True), np.ma.array([3.0], mask=[True])],
    ids=["the constant", "a scalar", "an array"],
)
def test_a_masked_result_is_no_value(value):
    assert judge(value).failure == "wrong_type"
    assert judge(np.ma.array([3.0], mask=[False])).value == 3.0


def test_masked_rows_of_a_vectorized_objective_have_failed():
    def half_masked(x):
        return np.ma.array([sphere(row) for row in x], mask=x[:, 0] > 0.0)

    result = lga.minimize(half_masked, BOX, vectorized=True, **SMALL)
    assert result.failures["wrong_type"] > 0
    assert result.x[0] <= 0.0
    assert result.fun == sphere(result.x)


def test_masked_values_that_are_told_are_missing():
    optimizer = lga.Optimizer(BOX, seed=1, popsize=8)
    optimizer.tell(optimizer.ask(), np.ma.array(np.arange(8.0), mask=[True] + [False] * 7))
    assert optimizer.failures == {"missing": 1}
    assert optimizer.best_value == 1.0


def test_a_rounded_solution_is_the_nearest_and_not_the_first_that_is_close():
    """Two solutions that differ by less than what is forgiven, told in single precision and in the other order."""
    optimizer = lga.Optimizer([(1.0, 1.0 + 1e-6)], seed=1, popsize=8)
    x = optimizer.ask()
    values = np.arange(8.0)
    order = np.random.default_rng(0).permutation(8)
    optimizer.tell(x[order] * (1.0 + 1e-10), values[order])
    assert optimizer.best_x == x[0]
    np.testing.assert_array_equal(optimizer.state.history[:, 1], [0.0])
    parents, fitness = optimizer.population
    for solution, value in zip(parents, fitness, strict=True):
        assert np.abs(x[int(value)] - solution).max() < 1e-12


def shifted(x, k):
    return sphere(x) + k


def test_a_checkpoint_knows_the_arguments_that_are_filled_in(tmp_path):
    arguments = SMALL | {"checkpoint": tmp_path / "run"}
    lga.minimize(partial(shifted, k=2), BOX, callback=lambda so_far: so_far.nit == 2, **arguments)
    with pytest.raises(ValueError, match=r"fun was 'partial\(.*shifted, k=2\)' and is 'partial\(.*shifted, k=4\)' now"):
        lga.minimize(partial(shifted, k=4), BOX, **arguments)
    straight = lga.minimize(partial(shifted, k=2), BOX, **SMALL)
    assert_same(lga.minimize(partial(shifted, k=2), BOX, **arguments), straight)


@pytest.mark.parametrize(("one", "other"), [(np.arange(3.0), np.arange(1.0, 4.0)), ([1, {"a": 2}], [1, {"a": 3}])])
def test_filled_in_arguments_are_known_by_their_content(one, other, tmp_path):
    def fun(x, k):
        return sphere(x)

    arguments = SMALL | {"checkpoint": tmp_path / "run"}
    finished = lga.minimize(partial(fun, k=one), BOX, **arguments)
    assert_same(lga.minimize(partial(fun, k=one), BOX, **arguments), finished)
    with pytest.raises(ValueError, match="is of another search"):
        lga.minimize(partial(fun, k=other), BOX, **arguments)


def test_a_compiled_objective_with_state_is_refused_and_not_frozen():
    calls, generator = [], np.random.default_rng(0)

    def counts(x):
        calls.append(1)
        return jnp.sum(x**2) + len(calls)

    for impure in (counts, lambda x: jnp.sum(x**2) + generator.uniform(), lambda x: x @ generator.uniform(size=3)):
        with pytest.raises(ValueError, match="another program each time"):
            lga.minimize(impure, BOX, jit=True, **SMALL)
    weights = jnp.arange(3.0)
    assert failures_of(lga.minimize(lambda x: jnp.sum(jax.nn.relu(x) * weights), BOX, jit=True, **SMALL)) == {}


def in_jax(x):
    return jnp.sum(jnp.tanh(jnp.asarray(x)) * jnp.exp(-0.1 * jnp.asarray(x)) + jnp.asarray(x) ** 2 / 3.0)


@pytest.mark.parametrize("is_double", [False, True])
def test_an_objective_in_jax_computes_the_same_whatever_the_workers(is_double):
    with jax.enable_x64(is_double):
        one, two = (lga.minimize(in_jax, BOX, workers=workers, **SMALL) for workers in (1, 2))
    assert_same(one, two)
    assert (one.fun == np.float32(one.fun)) is not is_double
