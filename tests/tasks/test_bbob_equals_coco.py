"""All 24 functions equal COCO's, in float64 to 1e-9 and in float32 to a computed bound."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from coco_reference import DIMS, INSTANCES, NUM_FUNCTIONS, coco_values, ioh_problem, ioh_values

from lga.tasks import bbob

COCO_FUNCTIONS = [function for function in bbob.FUNCTIONS.values() if function.id <= NUM_FUNCTIONS]


@pytest.fixture
def float64():
    with jax.enable_x64(True):
        yield


def points_around_the_box(seed: int, num_dims: int) -> np.ndarray:
    """Six points inside of the box, six of which most are outside."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.uniform(-5, 5, (6, num_dims)), rng.uniform(-8, 8, (6, num_dims))])


class Case(NamedTuple):
    """One instance in one dimension, its gaps at points around the box, and the gap at its optimum."""

    instance: int
    x_opt: np.ndarray
    f_opt: float
    points: np.ndarray
    gaps: np.ndarray
    gap_at_optimum: float


@functools.cache
def float64_cases(function_id: int) -> list[Case]:
    """All dimensions and instances of a function, padded to the largest dimension, in one compilation."""
    grid = [(num_dims, instance) for num_dims in DIMS for instance in INSTANCES]
    max_dims = max(DIMS)
    with jax.enable_x64(True):
        tasks = bbob.stack([bbob.instance(function_id, instance, num_dims, max_dims) for num_dims, instance in grid])
        optima, offsets = np.array(tasks.x_opt), np.array(tasks.f_opt)
        points = [points_around_the_box(100 * function_id + instance, num_dims) for num_dims, instance in grid]
        padded = np.stack([np.pad(x, [(1, 0), (0, max_dims - x.shape[1])]) for x in points])
        padded[:, 0] = optima
        evaluate = jax.jit(lambda *batch: jax.lax.map(lambda pair: bbob.evaluate(*pair), batch))
        gaps = np.array(evaluate(tasks, jnp.asarray(padded)))
    return [
        Case(instance, x_opt[:num_dims], f_opt, x, gap[1:], gap[0])
        for (num_dims, instance), x_opt, f_opt, x, gap in zip(grid, optima, offsets, points, gaps, strict=True)
    ]


@pytest.mark.parametrize("function", COCO_FUNCTIONS, ids=lambda function: function.name)
def test_values_equal_coco_and_ioh_in_all_dimensions_and_instances(function):
    for case in float64_cases(function.id):
        values = case.gaps + case.f_opt
        # A value near zero is the difference of gap and offset: its error is one of the gap.
        tolerance = 1e-9 * np.maximum(np.abs(values), case.gaps)
        assert np.all(np.abs(values - coco_values(function.id, case.instance, case.points)) <= tolerance)
        assert np.all(np.abs(values - ioh_values(function.id, case.instance, case.points)) <= tolerance)


@pytest.mark.parametrize("function", COCO_FUNCTIONS, ids=lambda function: function.name)
def test_optima_equal_those_of_ioh_and_have_no_gap(function):
    for case in float64_cases(function.id):
        optimum = ioh_problem(function.id, case.instance, len(case.x_opt)).optimum
        # COCO itself has two roundings of Schwefel's optimum, in the ninth digit.
        np.testing.assert_allclose(case.x_opt, optimum.x, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(case.f_opt, optimum.y, rtol=0, atol=1e-9)
        assert case.gap_at_optimum == 0


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
    errors = np.abs(np.array(single) - gaps)
    assert np.all(errors <= 64 * rounding * gaps + 2 * spread)
    assert np.all(errors[: len(far)] <= 2e-3 * gaps[: len(far)])
