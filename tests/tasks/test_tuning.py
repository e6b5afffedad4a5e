"""Tasks that look like tuning: what they promise of their variables and values."""

import jax
import jax.numpy as jnp
import numpy as np

from lga.core.box import from_unit
from lga.tasks.tuning import landscape, observe_tuning, sample_tuning_task

NUM_TASKS, D = 64, 6
TASKS = jax.jit(jax.vmap(lambda key: sample_tuning_task(key, D)))(jax.random.split(jax.random.key(0), NUM_TASKS))
POINTS = jax.random.uniform(jax.random.key(1), (200, D))


def each(function):
    return jax.jit(jax.vmap(function))(TASKS)


def test_values_at_random_points_span_about_one():
    values = np.asarray(each(lambda task: observe_tuning(jax.random.key(2), task, from_unit(POINTS))[0]))
    assert np.isfinite(values).all()
    assert np.median(values.min(axis=1)) < 0.25
    assert 0.6 < np.median(values.max(axis=1)) < 1.2


def test_a_switch_has_two_values():
    def at_both_sides(task):
        switch = jnp.argmax(task.levels == 1.0)
        low, high = (landscape(task, POINTS.at[:, switch].set(x)) for x in (0.1, 0.4))
        return jnp.any(task.levels == 1.0), jnp.max(jnp.abs(low - high))

    has_switch, change = each(at_both_sides)
    assert has_switch.sum() > NUM_TASKS / 2
    assert np.all(np.asarray(change)[np.asarray(has_switch)] == 0.0)


def test_a_variable_without_weight_changes_nothing():
    def of_irrelevant(task):
        variable = jnp.argmin(task.weight + task.cliff)
        moved = landscape(task, POINTS.at[:, variable].set(0.5))
        return (task.weight + task.cliff)[variable] == 0.0, jnp.max(jnp.abs(moved - landscape(task, POINTS)))

    is_irrelevant, change = map(np.asarray, each(of_irrelevant))
    assert is_irrelevant.sum() > NUM_TASKS / 4
    assert change[is_irrelevant].max() < 1e-5


def test_many_valleys_end_on_a_wall():
    on_wall = np.isin(np.asarray(TASKS.centre), [0.0, 1.0]).mean()
    assert abs(on_wall - 0.5) < 4 * np.sqrt(0.25 / TASKS.centre.size)


def test_measured_values_come_in_steps_and_with_noise():
    def observed(task):
        true, seen = observe_tuning(jax.random.key(3), task, from_unit(POINTS))
        again = observe_tuning(jax.random.key(4), task, from_unit(POINTS))[1]
        return seen * task.steps, jnp.abs(seen - true) * task.steps, jnp.any(seen != again)

    steps, away, differs = map(np.asarray, each(observed))
    np.testing.assert_allclose(steps, np.round(steps), atol=2e-3)
    quiet = np.asarray(TASKS.noise) == 0.0
    assert away[quiet].max() < 0.51
    assert not differs[quiet].any()
    assert differs[~quiet].mean() > 0.9


def test_beyond_the_walls_the_box_is_seen_in_a_mirror():
    inside = jnp.array([[4.0, -4.0, 1.0, 2.0, 3.0, 0.0]])
    outside = jnp.array([[6.0, -6.0, 1.0, 2.0, 3.0, 20.0]])
    values = each(lambda task: observe_tuning(jax.random.key(5), task, jnp.concatenate([inside, outside]))[0])
    np.testing.assert_allclose(values[:, 0], values[:, 1], atol=1e-4)
