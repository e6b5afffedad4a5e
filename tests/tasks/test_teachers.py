"""Made-up tasks of many weights."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lga.tasks.teachers import (
    BATCH,
    FEWEST_WEIGHTS,
    LOSSES,
    NUM_CLASSES,
    NUM_EXAMPLES,
    observe_teacher_task,
    sample_teacher_task,
)

pytestmark = pytest.mark.usefixtures("ranks_promoted")
NUM_DIMS = 60


def task_of(kind, seed=0):
    return dataclasses.replace(sample_teacher_task(jax.random.key(seed), NUM_DIMS), kind=jnp.asarray(kind))


def test_all_kinds_are_drawn():
    keys = jax.random.split(jax.random.key(0), 40)
    kinds = jax.jit(jax.vmap(lambda key: sample_teacher_task(key, FEWEST_WEIGHTS).kind))(keys)
    assert set(kinds.tolist()) == set(range(len(LOSSES)))


@pytest.mark.parametrize("kind", range(len(LOSSES)))
def test_a_batch_is_right_on_average(kind):
    task = task_of(kind)
    solutions = 2.0 * jax.random.normal(jax.random.key(1), (3, NUM_DIMS))
    draws = 400
    judge = jax.jit(jax.vmap(lambda key: observe_teacher_task(key, task, solutions)))
    true, seen = judge(jax.random.split(jax.random.key(2), draws))
    np.testing.assert_array_equal(true[0], true[-1])
    losses = LOSSES[kind](task, 0.05 * solutions)
    assert losses.shape == (3, NUM_EXAMPLES)
    tolerance = 4 * np.std(losses, axis=1) / np.sqrt(BATCH * draws) + 1e-5
    assert (np.abs(np.mean(seen, axis=0) - true[0]) < tolerance).all()


@pytest.mark.parametrize("kind", [0, 1])
def test_networks_of_zeros_know_nothing(kind):
    true, seen = observe_teacher_task(jax.random.key(0), task_of(kind), jnp.zeros((2, NUM_DIMS)))
    np.testing.assert_allclose([*true, *seen], np.log(NUM_CLASSES), rtol=1e-6)


@pytest.mark.parametrize("kind", [2, 3])
def test_the_linear_kinds_are_solved_by_their_target(kind):
    task = task_of(kind)
    true, _ = observe_teacher_task(jax.random.key(0), task, jnp.stack([task.target / 0.05, 0.0 * task.target]))
    assert float(true[0]) < 1e-9 < float(true[1])


def test_too_few_weights_are_refused():
    with pytest.raises(ValueError, match="num_dims is 8, but networks have at least 31 weights"):
        sample_teacher_task(jax.random.key(0), 8)
