"""Random tasks, padding, batching and errors."""

from math import sqrt

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lga.tasks import bbob

ALL = tuple(bbob.FUNCTIONS)
CORNERS = {"linear_slope": 5.0, "schwefel": 4.2096874637 / 2, "lunacek_bi_rastrigin": 1.25}


def sample(seed: int, count: int, family, min_dims: int = 2, max_dims: int = 10) -> bbob.Task:
    """Stacked random tasks."""
    keys = jax.random.split(jax.random.key(seed), count)
    return jax.jit(lambda keys: jax.lax.map(lambda key: bbob.sample_task(key, family, min_dims, max_dims), keys))(keys)


@jax.jit
def evaluate_each(tasks: bbob.Task, points: jax.Array) -> jax.Array:
    return jax.lax.map(lambda pair: bbob.evaluate(*pair), (tasks, points))


def of_function(tasks: bbob.Task, name: str) -> bbob.Task:
    return jax.tree.map(lambda leaf: leaf[np.array(tasks.function_index) == ALL.index(name)], tasks)


def uniform_points(seed: int, *shape: int) -> jax.Array:
    return jax.random.uniform(jax.random.key(seed), shape, minval=-6.0, maxval=6.0)


def assert_uniform(values: np.ndarray, outcomes: range | tuple) -> None:
    """Every outcome is as frequent as it should be, to four standard deviations."""
    share = 1 / len(outcomes)
    tolerance = 4 * sqrt(share * (1 - share) / len(values))
    frequencies = [np.mean(values == outcome) for outcome in outcomes]
    assert sum(frequencies) == pytest.approx(1.0)
    np.testing.assert_allclose(frequencies, share, atol=tolerance)


@pytest.fixture(scope="module")
def random_tasks() -> bbob.Task:
    return sample(0, 4800, "all")


@pytest.fixture(scope="module")
def ellipsoids() -> bbob.Task:
    """`inner` is the rotation itself."""
    return sample(1, 2000, ["ellipsoid"], 6, 6)


def test_dimensions_functions_and_noise_models_are_uniform_and_dimensions_include_both_ends(random_tasks):
    functions, dims, noise = (
        np.array(leaf) for leaf in (random_tasks.function_index, random_tasks.num_dims, random_tasks.noise_index)
    )
    assert_uniform(functions, range(len(ALL)))
    assert_uniform(dims, range(2, 11))
    assert_uniform(noise, range(len(bbob.NOISE_MODELS)))
    # Draws are independent: so are pairs of them.
    thirds, some = functions % 3, functions < 24
    assert_uniform((thirds + 3 * (dims % 3))[some], range(9))
    assert_uniform((thirds + 3 * noise)[some], range(21))


def test_random_rotations_are_orthogonal_on_active_coordinates_and_zero_elsewhere(random_tasks):
    tasks = of_function(random_tasks, "ellipsoid")
    for rotation, num_dims in zip(np.array(tasks.inner), np.array(tasks.num_dims), strict=True):
        active = np.arange(10) < num_dims
        np.testing.assert_allclose(rotation @ rotation.T, np.diag(active), atol=1e-5)


def test_random_rotations_are_uniform(ellipsoids):
    """Under the Haar measure entries have mean 0, variance 1/d and fourth moment 3 / (d (d + 2))."""
    entries = np.array(ellipsoids.inner, dtype=np.float64)
    count, num_dims = entries.shape[:2]
    fourth = 3 / (num_dims * (num_dims + 2))
    # Thirty-six entries are looked at together, hence five standard deviations.
    np.testing.assert_allclose(entries.mean(0), 0.0, atol=5 * sqrt(1 / num_dims / count))
    np.testing.assert_allclose((entries**2).mean(0), 1 / num_dims, atol=5 * sqrt((fourth - 1 / num_dims**2) / count))
    assert abs(np.mean(np.sign(np.linalg.det(entries)))) < 4 / sqrt(count)


def test_random_optima_are_uniform_in_the_box(ellipsoids):
    optima = np.array(ellipsoids.x_opt, dtype=np.float64)
    count = len(optima)
    variance, fourth = 25 / 3, 5**4 / 5
    assert np.all(np.abs(optima) <= 5)
    np.testing.assert_allclose(optima.mean(0), 0.0, atol=4 * sqrt(variance / count))
    np.testing.assert_allclose((optima**2).mean(0), variance, atol=4 * sqrt((fourth - variance**2) / count))
    assert np.max(np.abs(optima)) > 4.99


@pytest.mark.parametrize("name", CORNERS)
def test_random_optima_of_functions_with_corners_are_random_corners(random_tasks, name):
    optima = np.array(of_function(random_tasks, name).x_opt)
    coordinates = optima[optima != 0]
    np.testing.assert_allclose(np.abs(coordinates), CORNERS[name], rtol=1e-6)
    assert abs(np.mean(coordinates > 0) - 0.5) <= 4 * sqrt(0.25 / len(coordinates))


def test_random_optima_of_bueche_rastrigin_have_positive_odd_coordinates(random_tasks):
    optima = np.array(of_function(random_tasks, "bueche_rastrigin").x_opt)
    assert np.all(optima[:, ::2] >= 0)
    assert np.all(np.any(optima[:, 1::2] < 0, axis=0))


@pytest.mark.parametrize(
    ("name", "count", "width", "first"), [("gallagher_101", 101, 10.0, 1000**0.5), ("gallagher_21", 21, 9.8, 1000.0)]
)
def test_random_gallagher_peaks_have_the_heights_conditions_and_room_of_coco(random_tasks, name, count, width, first):
    tasks = of_function(random_tasks, name)
    task = jax.tree.map(lambda leaf: leaf[np.argmax(tasks.num_dims)], tasks)
    num_dims = int(task.num_dims)
    np.testing.assert_array_equal(task.peaks.heights[count:], 0.0)
    scales = np.array(task.peaks.scales, dtype=np.float64)[:count, :num_dims]
    conditions = scales.max(1) / scales.min(1)
    np.testing.assert_allclose(conditions[0], first, rtol=1e-4)
    np.testing.assert_allclose(np.sort(conditions[1:]), 1000 ** np.linspace(0, 1, count - 1), rtol=1e-4)
    np.testing.assert_allclose(np.prod(scales, axis=1), 1.0, rtol=1e-4)
    np.testing.assert_allclose(task.peaks.heights[:count], [10.0, *np.linspace(1.1, 9.1, count - 1)], rtol=1e-6)
    positions = np.array(task.peaks.centers)[:count] @ np.array(task.inner) + np.array(task.x_opt)
    assert np.all(np.abs(positions[1:]) <= width / 2 + 1e-4)
    assert len({tuple(order) for order in np.argsort(scales, axis=1)}) > count / 2


def test_random_tasks_have_no_gap_at_their_optimum_and_never_a_negative_one(random_tasks):
    points = jnp.concatenate([random_tasks.x_opt[:, None], uniform_points(0, 4800, 5, 10)], axis=1)
    gaps = np.array(evaluate_each(random_tasks, points))
    np.testing.assert_array_equal(gaps[:, 0], 0.0)
    assert np.all(gaps >= 0)
    assert np.all(np.isfinite(gaps))


def test_padded_coordinates_of_solutions_do_not_matter_even_when_they_are_not_finite(random_tasks):
    points = uniform_points(1, 4800, 6, 10)
    active = jnp.arange(10)[None, None, :] < random_tasks.num_dims[:, None, None]
    junk = jnp.asarray([jnp.nan, jnp.inf, -jnp.inf, 1e30, 7.0, 0.0])[None, :, None]
    spoilt = jnp.where(active, points, junk)
    np.testing.assert_array_equal(evaluate_each(random_tasks, spoilt), evaluate_each(random_tasks, points))


def test_padding_does_not_change_values():
    with jax.enable_x64(True):
        tight, padded = (bbob.instances(bbob.FAMILIES["large"], [4], 3, max_dims) for max_dims in (3, 8))
        points = jnp.broadcast_to(uniform_points(2, 6, 3), (10, 6, 3))
        wide = jnp.pad(points, [(0, 0), (0, 0), (0, 5)])
        np.testing.assert_allclose(evaluate_each(padded, wide), evaluate_each(tight, points), rtol=1e-9)


def test_only_the_drawn_function_is_computed_for_members_that_share_a_task():
    task = bbob.instance("discus", 1, 10, family="large")
    over_members = jax.vmap(lambda task, points: bbob.evaluate(task, points), in_axes=(None, 0))
    primitives = [
        equation.primitive.name for equation in jax.make_jaxpr(over_members)(task, uniform_points(3, 4, 16, 10)).eqns
    ]
    assert primitives.count("cond") == 1


def test_mapped_and_vmapped_tasks_agree_with_single_ones():
    names = ("sphere", "discus")
    tasks = bbob.instances(names, [1, 2], 4)
    points = uniform_points(4, 3, 4)
    mapped = evaluate_each(tasks, jnp.broadcast_to(points, (4, 3, 4)))
    vmapped = jax.jit(jax.vmap(bbob.evaluate, in_axes=(0, None)))(tasks, points)
    evaluate = jax.jit(bbob.evaluate)
    single = jnp.stack([evaluate(bbob.instance(name, i, 4), points) for name in names for i in (1, 2)])
    np.testing.assert_allclose(mapped, single, rtol=1e-5)
    np.testing.assert_allclose(vmapped, single, rtol=1e-5)


def test_keys_are_used_once(no_key_reuse):
    @jax.jit
    def observe_random_task(key):
        key_task, key_noise = jax.random.split(key)
        task = bbob.sample_task(key_task, ["gallagher_21", "sphere"], noise=["uniform_severe", "cauchy_severe"])
        return bbob.evaluate_noisy(key_noise, task, jnp.ones((4, 10)))

    assert np.all(observe_random_task(jax.random.key(0)) > 0)


def test_families_are_those_of_the_paper():
    assert bbob.FAMILIES["small"] == ("sphere",)
    assert set(bbob.FAMILIES["medium"]) == {"sphere", "rosenbrock", "discus", "rastrigin", "schwefel"}
    added = {"bueche_rastrigin", "attractive_sector", "weierstrass", "schaffers_f7", "griewank_rosenbrock"}
    assert set(bbob.FAMILIES["large"]) == set(bbob.FAMILIES["medium"]) | added
    assert bbob.FAMILIES["all"] == ALL


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bbob.instance(99, 1, 2), "function must be an id from 1 to [0-9]+ .* not 99"),
        (lambda: bbob.instance("ellipse", 1, 2), "function must be .* not 'ellipse'"),
        (lambda: bbob.instance("sphere", 0, 2), "instance must be at least 1, not 0"),
        (lambda: bbob.instance("rosenbrock", 1, 1), "rosenbrock needs at least 2 dimensions, not 1"),
        (lambda: bbob.instance("sphere", 1, 0), "sphere needs at least 1 dimensions, not 0"),
        (lambda: bbob.instance("sphere", 1, 5, max_dims=4), "max_dims must be at least 5, .* not 4"),
        (lambda: bbob.instance("sphere", 1, 5, family=["discus"]), "family must contain sphere, not only discus"),
        (lambda: bbob.instance("sphere", 1, 5, noise="loud"), "noise must be one or more of .* not 'loud'"),
        (lambda: bbob.sample_task(jax.random.key(0), "huge"), "family must be one of .* not 'huge'"),
        (lambda: bbob.sample_task(jax.random.key(0), ["sphere", "egg"]), "function must be .* not 'egg'"),
        (lambda: bbob.sample_task(jax.random.key(0), []), "family must name at least one function"),
        (lambda: bbob.sample_task(jax.random.key(0), "small", 5, 3), "max_dims must be at least 5, .* not 3"),
        (lambda: bbob.sample_task(jax.random.key(0), "large", 1, 3), "needs at least 2 dimensions, not 1"),
        (lambda: bbob.sample_task(jax.random.key(0), noise=()), "noise must be one or more of"),
        (lambda: bbob.stack([bbob.instance(1, 1, 2), bbob.instance(2, 1, 2)]), "tasks must have the same branches"),
        (
            lambda: bbob.evaluate(bbob.instance(1, 1, 3), jnp.zeros((2, 4))),
            r"solutions must have shape \(n, 3\), not \(2, 4\)",
        ),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_sphere_works_in_one_dimension():
    task = bbob.instance("sphere", 1, 1)
    np.testing.assert_allclose(bbob.evaluate(task, task.x_opt[None, :] + 2.0), 4.0, rtol=1e-5)
