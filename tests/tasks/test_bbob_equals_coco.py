"""All 24 functions equal COCO's, in float64 to 1e-9 and in float32 to a computed bound."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from coco_reference import DIMS, INSTANCES, NUM_FUNCTIONS, coco_values, ioh_problem, ioh_values

from lga.tasks import bbob

COCO_FUNCTIONS = [function for function in bbob.FUNCTIONS.values() if function.id <= NUM_FUNCTIONS]
MAX_DIMS = max(DIMS)
CASES = [(num_dims, instance) for num_dims in DIMS for instance in INSTANCES]


@pytest.fixture
def float64():
    with jax.enable_x64(True):
        yield


def points_around_the_box(seed: int, num_dims: int) -> np.ndarray:
    """Six points inside of the box, six of which most are outside."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.uniform(-5, 5, (6, num_dims)), rng.uniform(-8, 8, (6, num_dims))])


def evaluate_padded(tasks: list[bbob.Task], points: list[np.ndarray]) -> np.ndarray:
    """Gaps of tasks of several dimensions, all padded to the largest, in one compilation."""
    padded = [np.pad(x, [(0, 0), (0, MAX_DIMS - x.shape[1])]) for x in points]
    pairs = (bbob.stack(tasks), jnp.asarray(np.stack(padded)))
    return np.array(jax.jit(lambda pairs: jax.lax.map(lambda pair: bbob.evaluate(*pair), pairs))(pairs))


@pytest.mark.parametrize("function", COCO_FUNCTIONS, ids=lambda function: function.name)
def test_values_equal_coco_and_ioh_in_all_dimensions_and_instances(function, float64):
    points = [points_around_the_box(100 * function.id + instance, num_dims) for num_dims, instance in CASES]
    tasks = [bbob.instance(function.id, instance, num_dims, MAX_DIMS) for num_dims, instance in CASES]
    gaps = evaluate_padded(tasks, points)
    for (_, instance), task, x, gap in zip(CASES, tasks, points, gaps, strict=True):
        # A value near zero is the difference of gap and offset: its error is one of the gap.
        tolerance = 1e-9 * np.maximum(np.abs(gap + task.f_opt), gap)
        assert np.all(np.abs(gap + task.f_opt - coco_values(function.id, instance, x)) <= tolerance)
        assert np.all(np.abs(gap + task.f_opt - ioh_values(function.id, instance, x)) <= tolerance)


@pytest.mark.parametrize("function", COCO_FUNCTIONS, ids=lambda function: function.name)
def test_optima_equal_those_of_ioh_and_have_no_gap(function, float64):
    tasks = [bbob.instance(function.id, instance, num_dims, MAX_DIMS) for num_dims, instance in CASES]
    for (num_dims, instance), task in zip(CASES, tasks, strict=True):
        optimum = ioh_problem(function.id, instance, num_dims).optimum
        # ioh rounds Schwefel's optimum to nine digits.
        np.testing.assert_allclose(task.x_opt[:num_dims], optimum.x, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(task.f_opt, optimum.y, rtol=0, atol=1e-9)
    gaps = evaluate_padded(
        tasks, [np.asarray(task.x_opt)[None, :num_dims] for (num_dims, _), task in zip(CASES, tasks, strict=True)]
    )
    np.testing.assert_array_equal(gaps, 0.0)


def test_step_ellipsoid_slopes_on_the_innermost_step_as_in_coco_not_as_in_ioh(float64):
    task = bbob.instance("step_ellipsoid", 1, 5)
    points = np.asarray(task.x_opt) + 1e-3 * np.random.default_rng(0).normal(size=(4, 5))
    gaps = np.array(bbob.evaluate(task, jnp.asarray(points)))
    assert np.all(gaps > 0)
    np.testing.assert_allclose(gaps, coco_values(7, 1, points) - task.f_opt, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(ioh_values(7, 1, points), float(task.f_opt))


def test_coco_value_adds_the_optimal_value(float64):
    task = bbob.instance("sphere", 1, 3)
    points = points_around_the_box(0, 3)
    np.testing.assert_allclose(bbob.coco_value(task, jnp.asarray(points)), coco_values(1, 1, points), rtol=1e-12)


@pytest.mark.parametrize("name", bbob.FUNCTIONS)
def test_float32_error_is_that_of_moving_the_point_by_eight_roundings(name):
    """A float32 gap is off by at most 64 roundings of its own, plus twice the spread of float64 gaps
    when every coordinate moves by up to eight roundings of the box's half-width.
    """
    rounding = float(jnp.finfo(jnp.float32).eps)
    num_dims = 10
    rng = np.random.default_rng(1)
    with jax.enable_x64(True):
        task = bbob.instance(name, 1, num_dims)
        far = rng.uniform(-5, 5, (32, num_dims))
        near = np.asarray(task.x_opt) + 1e-2 * rng.normal(size=(32, num_dims))
        points = np.concatenate([far, near]).astype(np.float32).astype(np.float64)
        moves = rng.uniform(-1, 1, (8, *points.shape)) * 8 * rounding * 5
        clouds = np.concatenate([points[None], points + moves]).reshape(-1, num_dims)
        gaps, *moved = np.array(jax.jit(bbob.evaluate)(task, jnp.asarray(clouds))).reshape(9, -1)
    single = jax.jit(bbob.evaluate)(bbob.instance(name, 1, num_dims), jnp.asarray(points, jnp.float32))
    assert single.dtype == jnp.float32
    spread = np.max(np.abs(np.array(moved) - gaps), axis=0)
    assert np.all(np.abs(np.array(single) - gaps) <= 64 * rounding * gaps + 2 * spread)
