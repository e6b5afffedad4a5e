"""The shape of mutation: what is promised of every adaptive one, and what tells them apart."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from lga.algorithms.genetic import genetic_algorithm
from lga.algorithms.presets import learned_ga
from lga.algorithms.run import run
from lga.core import random
from lga.core.population import Children
from lga.operators import shape
from lga.operators.designed import compact_steps, strategy_numbers
from lga.operators.shape import Memory, by_number_of_variables, matrix, separable
from lga.operators.theta import ShapeTheta, ThetaConfig

ADAPTIVE = {"matrix": matrix, "separable": separable}
KEY = jax.random.key(0)
N, D = 8, 5
GENERATOR = np.random.default_rng(0)
NUMBERS = ShapeTheta(
    **{
        name: jnp.asarray(0.3 * GENERATOR.normal(size=1 if name == "merge" else 2), jnp.float32)
        for name in ShapeTheta.__dataclass_fields__
    }
)
FITNESS = jnp.asarray(GENERATOR.normal(size=N), jnp.float32)
NOISE = jnp.asarray(GENERATOR.normal(size=(N, D)), jnp.float32)
STRATEGY = ThetaConfig(("select", "rate", "sample", "blend", "jitter", "shape"))


def children_with(noise) -> Children:
    return Children(jnp.zeros_like(noise), jnp.ones(N), jnp.zeros(N, jnp.int32), noise)


def some_memory() -> Memory:
    stretch = np.eye(D) + 0.2 * GENERATOR.normal(size=(D, D))
    stretch *= np.sqrt(D) / np.linalg.norm(stretch)
    return Memory(jnp.asarray(GENERATOR.normal(size=D), jnp.float32), jnp.asarray(stretch, jnp.float32))


def test_with_numbers_at_zero_a_matrix_adapts_as_its_formula_says():
    """Matrix adaptation written out with loops, in double precision."""
    memory = some_memory()
    told, factor = matrix().update(memory, children_with(NOISE), FITNESS)
    z, m, s = (np.asarray(a, float) for a in (NOISE, memory.stretch, memory.path))
    ranks = np.argsort(np.argsort(np.asarray(FITNESS))) / (N - 1) - 0.5
    good = np.exp(-4.0 * ranks) / np.exp(-4.0 * ranks).sum()
    bad = np.exp(4.0 * ranks) / np.exp(4.0 * ranks).sum()
    mass = 1.0 / np.sum(good**2)
    c_s = (mass + 2) / (D + mass + 5)
    pairs = [(i, j) for i in range(N) for j in range(N) if i != j]
    difference = N / 2 * np.mean([(good[i] - good[j]) ** 2 for i, j in pairs])
    path = (1 - c_s) * s + np.sqrt(c_s * (2 - c_s) / difference) * (good @ z)
    c_1 = 2 / ((D + 1.3) ** 2 + mass)
    c_m = 2 * (mass - 2 + 1 / mass) / ((D + 2) ** 2 + mass)
    against = np.exp(-1.0)
    change = (1 - c_1 / 2 - c_m * (1 - against) / 2) * np.eye(D) + c_1 / 2 * np.outer(path, path)
    for n in range(N):
        unit = np.sqrt(D) * z[n] / np.linalg.norm(z[n])
        change += c_m / 2 * (good[n] * np.outer(z[n], z[n]) - against * bad[n] * np.outer(unit, unit))
    new = m @ change
    size = np.linalg.norm(new) / np.sqrt(D)
    damping = 1 + c_s + 2 * max(0.0, np.sqrt((mass - 1) / (D + 1)) - 1)
    length = np.sqrt(D) * (1 - 1 / (4 * D) + 1 / (21 * D**2))
    np.testing.assert_allclose(told.path, path, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(told.stretch, new / size, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(factor, size * np.exp(c_s / damping * (np.linalg.norm(path) / length - 1)), rtol=1e-4)


@pytest.mark.parametrize("name", ADAPTIVE)
@pytest.mark.parametrize("num_children", [6, 7])
def test_chance_leaves_rates_and_path_as_they_are(name, num_children):
    """Children that are ranked by chance: the logarithm of the rates has no drift, and the path its usual length."""
    adaptive = ADAPTIVE[name]()

    def generation(memory, key):
        key_noise, key_fitness = jax.random.split(key)
        solutions, index = jnp.zeros((1, D)), jnp.zeros(num_children, jnp.int32)
        _, noise = adaptive.mutate(key_noise, memory, solutions, index, jnp.ones(num_children))
        children = Children(noise, jnp.ones(num_children), index, noise)
        memory, _ = adaptive.update(memory, children, jax.random.normal(key_fitness, (num_children,)))
        return memory, jnp.sum(memory.path**2) / D

    _, squares = jax.lax.scan(generation, adaptive.init(jnp.zeros((1, D))), jax.random.split(KEY, 4000))
    # Neighbours are alike: a path forgets within some ten generations.
    blocks = np.asarray(squares).reshape(40, 100).mean(axis=1)
    assert abs(blocks.mean() - 1.0) <= 4 * blocks.std() / np.sqrt(len(blocks))


@pytest.mark.parametrize(("num_children", "num_dims"), [(128, 2), (256, 5)])
def test_many_children_for_few_variables_do_not_run_away(num_children, num_dims):
    """A drift without a limit overshoots here, each time farther."""
    algorithm = learned_ga("lga-2", num_children)

    def rates_at_the_end(key):
        key_start, key_run = jax.random.split(key)
        start = jax.random.uniform(key_start, (num_children, num_dims), minval=-5, maxval=5)
        state, _ = run(key_run, algorithm, lambda k, x: jnp.sum(x**2, axis=1), start, 1.0, 40)
        return jnp.max(state.parents.sigma)

    assert jnp.all(jax.lax.map(rates_at_the_end, jax.random.split(KEY, 8)) < 1e-3)


def test_a_drift_is_limited_only_where_it_would_be_long():
    numbers = replace(NUMBERS, drift=jnp.array([0.2, 0.0]))
    assert shape.drift_of(numbers, 10, 5) == jnp.float32(0.2)
    assert shape.drift_of(numbers, 256, 5) < 0.2
    assert shape.drift_of(numbers, 256, 500) == jnp.float32(0.2)


def test_a_drift_is_never_backwards():
    """Learned numbers are a line in the logarithm of the number of variables, and training saw few of these."""
    numbers = replace(NUMBERS, drift=jnp.array([0.2, -0.1]))
    assert shape.drift_of(numbers, 128, 10_000) == 0.0


def drifts(fitness_of, num_generations=40, num_dims=500) -> np.ndarray:
    """How far, relative to the path, children are moved together in each generation."""
    evidence = separable(replace(NUMBERS, drift=jnp.array([0.2, 0.0])), drifts_by_evidence=True)
    memory, moved = evidence.init(jnp.zeros((N, num_dims))), []
    for seed in range(num_generations):
        key = jax.random.key(seed)
        solutions, noise = evidence.mutate(key, memory, jnp.zeros((1, num_dims)), jnp.zeros(N, jnp.int32), jnp.ones(N))
        drift = jnp.mean(solutions / memory.stretch[None, :] - noise, axis=0)
        moved.append(float(jnp.linalg.norm(drift) / jnp.maximum(jnp.linalg.norm(memory.path), 1e-6)))
        memory, _ = evidence.update(memory, children_with(noise), fitness_of(key, noise))
    return np.array(moved)


def test_by_evidence_children_drift_where_fitness_has_a_slope_and_not_where_it_is_luck():
    luck = drifts(lambda key, noise: jax.random.normal(jax.random.fold_in(key, 1), (N,)))
    slope = drifts(lambda key, noise: jnp.sum(noise, axis=1))
    assert np.mean(luck > 0.02) <= 0.1
    np.testing.assert_allclose(slope[-10:], 0.2, rtol=1e-3)


def test_the_square_of_a_path_ranked_by_chance_is_what_the_memory_expects():
    evidence = separable(NUMBERS, drifts_by_evidence=True)

    def memory_after(key, num_generations=15, num_dims=300):
        memory = evidence.init(jnp.zeros((N, num_dims)))
        for key_generation in jax.random.split(key, num_generations):
            key_noise, key_luck = jax.random.split(key_generation)
            noise = random.balanced_normal(key_noise, N, num_dims, jnp.float32)
            memory, _ = evidence.update(memory, children_with(noise), jax.random.normal(key_luck, (N,)))
        return memory

    memory = jax.jit(jax.vmap(memory_after))(jax.random.split(KEY, 64))
    squares = np.mean(np.asarray(memory.path) ** 2, axis=1)
    assert abs(squares.mean() - memory.chance[0]) <= 4 * squares.std() / np.sqrt(len(squares))
    assert memory.chance[0] < 0.95


def test_scales_are_the_diagonal_of_a_matrix_as_far_as_one_variable_goes():
    one = replace(some_memory(), path=jnp.ones(1), stretch=jnp.ones((1, 1)))
    by_matrix, factor = matrix(NUMBERS).update(one, children_with(NOISE[:, :1]), FITNESS)
    scales, same = separable(NUMBERS).update(Memory(jnp.ones(1), jnp.ones(1)), children_with(NOISE[:, :1]), FITNESS)
    np.testing.assert_allclose(scales.path, by_matrix.path, rtol=1e-5)
    np.testing.assert_allclose(same, factor, rtol=1e-4)


@pytest.mark.parametrize("name", ADAPTIVE)
def test_the_size_of_a_shape_is_that_of_the_unit_matrix(name):
    adaptive = ADAPTIVE[name](NUMBERS)
    memory = adaptive.init(NOISE)
    for seed in range(20):
        noise = jnp.asarray(np.random.default_rng(seed).normal(size=(N, D)), jnp.float32)
        memory, _ = adaptive.update(memory, children_with(noise), jnp.sum(noise[:, :2] ** 2, axis=1))
    np.testing.assert_allclose(jnp.sum(memory.stretch**2), D, rtol=1e-4)


def test_a_matrix_turns_with_the_space():
    rotation = jnp.asarray(np.linalg.qr(GENERATOR.normal(size=(D, D)))[0], jnp.float32)
    memory = some_memory()
    turned = Memory(rotation @ memory.path, rotation @ memory.stretch @ rotation.T)
    told, factor = matrix(NUMBERS).update(memory, children_with(NOISE), FITNESS)
    told_turned, same = matrix(NUMBERS).update(turned, children_with(NOISE @ rotation.T), FITNESS)
    np.testing.assert_allclose(told_turned.path, rotation @ told.path, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(told_turned.stretch, rotation @ told.stretch @ rotation.T, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(same, factor, rtol=1e-5)


@pytest.mark.parametrize("name", ADAPTIVE)
@pytest.mark.parametrize("order", [np.arange(N), np.random.default_rng(1).permutation(N)], ids=["as is", "permuted"])
def test_the_order_of_the_children_does_not_matter(name, order):
    adaptive = ADAPTIVE[name](NUMBERS)
    told, factor = adaptive.update(adaptive.init(NOISE), children_with(NOISE), FITNESS)
    again, same = adaptive.update(adaptive.init(NOISE), children_with(NOISE[order]), FITNESS[order])
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6), again, told)
    np.testing.assert_allclose(same, factor, rtol=1e-5)


@pytest.mark.parametrize("name", ADAPTIVE)
@pytest.mark.parametrize("bad", [jnp.inf, jnp.nan, 1e30])
def test_noise_beyond_the_floats_teaches_a_shape_nothing(name, bad):
    adaptive = ADAPTIVE[name](NUMBERS)
    memory, factor = adaptive.update(adaptive.init(NOISE), children_with(NOISE.at[2, 1].set(bad)), FITNESS)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(memory))
    assert np.isfinite(factor)
    assert factor > 0


def test_memory_is_linear_in_the_variables_where_there_are_many_of_them(monkeypatch):
    monkeypatch.setattr(shape, "LARGEST_MATRIX", 4)
    chosen = by_number_of_variables(matrix(), separable())
    assert chosen.init(jnp.zeros((N, 4))).stretch.shape == (4, 4)
    assert chosen.init(jnp.zeros((N, 5))).stretch.shape == (5,)


def ellipsoid(rotation, condition=1e4):
    scales = condition ** jnp.linspace(0.0, 1.0, rotation.shape[0])
    return lambda key, x: jnp.sum(scales[None, :] * (x @ rotation.T) ** 2, axis=1)


def log_gaps(algorithm, objective, seeds=32, num_generations=150):
    def search(key):
        key_start, key_run = jax.random.split(key)
        start = jax.random.normal(key_start, (algorithm.num_children, D))
        return run(key_run, algorithm, objective, start, 0.5, num_generations)[0]

    states = jax.jit(jax.vmap(search))(jax.random.split(KEY, seeds))
    return np.log10(np.asarray(states.progress.best_fitness)), states


def test_a_search_with_a_matrix_is_as_good_on_a_rotated_function():
    rotation = jnp.asarray(np.linalg.qr(GENERATOR.normal(size=(D, D)))[0], jnp.float32)
    algorithm = learned_ga(strategy_numbers(STRATEGY), 12)
    straight, states = log_gaps(algorithm, ellipsoid(jnp.eye(D)))
    rotated, _ = log_gaps(algorithm, ellipsoid(rotation))
    tolerance = 4 * np.sqrt((straight.var() + rotated.var()) / len(straight))
    assert abs(straight.mean() - rotated.mean()) <= tolerance
    # And it has learned the valley: axes a hundred times as long as others, where the function's condition is 1e4.
    ratios = [np.linalg.cond(np.asarray(stretch)) for stretch in states.shape_memory.stretch]
    assert np.median(ratios) > 30


def test_a_shape_helps_on_an_ill_conditioned_function():
    with_shape, _ = log_gaps(learned_ga(strategy_numbers(STRATEGY), 12), ellipsoid(jnp.eye(D)))
    without, _ = log_gaps(learned_ga(replace(strategy_numbers(STRATEGY), shape=None), 12), ellipsoid(jnp.eye(D)))
    assert with_shape.mean() < without.mean() - 2.0


def random_compact() -> tuple:
    steps, unravel = ravel_pytree(compact_steps(STRATEGY))
    start, _ = ravel_pytree(strategy_numbers(STRATEGY))
    moved = 0.05 * jax.random.normal(jax.random.key(5), steps.shape) * steps
    return unravel(start + moved), steps


def test_compact_numbers_see_only_the_order_of_fitness():
    """The same search on a function and on an increasing function of it has the same children."""
    folded, steps = random_compact()
    assert 40 < int(jnp.sum(steps > 0)) < 80
    algorithm = learned_ga(folded, N)
    start = jax.random.normal(KEY, (N, D))

    def plain(key, x):
        return jnp.sum(x**2, axis=1)

    def bent(key, x):
        return jnp.exp(jnp.cbrt(plain(key, x)))

    first, _ = run(jax.random.key(3), algorithm, plain, start, 0.5, 8)
    second, _ = run(jax.random.key(3), algorithm, bent, start, 0.5, 8)
    np.testing.assert_allclose(second.parents.solutions, first.parents.solutions, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("scale", [2.0**-20, 2.0**13])
def test_a_search_with_a_shape_moves_with_shift_and_scale_of_the_space(scale):
    folded, _ = random_compact()
    algorithm = learned_ga(folded, N)
    start = jax.random.normal(KEY, (N, D))
    first, _ = run(jax.random.key(3), algorithm, lambda k, x: jnp.sum(x**2, axis=1), start, 0.5, 8)
    second, _ = run(
        jax.random.key(3), algorithm, lambda k, x: jnp.sum((x / scale) ** 2, axis=1), start * scale, 0.5 * scale, 8
    )
    np.testing.assert_allclose(second.parents.solutions / scale, first.parents.solutions, rtol=1e-3, atol=1e-5)


def test_hand_designed_shapes_work_without_any_learned_operator():
    for name, factory in shape.SHAPES.items():
        algorithm = genetic_algorithm(N, 4, shape=factory())
        start = jax.random.normal(KEY, (N, D))
        state, _ = run(KEY, algorithm, lambda k, x: jnp.sum(x**2, axis=1), start, 0.3, 20)
        assert np.isfinite(state.progress.best_fitness), name


def test_with_many_variables_all_numbers_are_those_of_scales(monkeypatch):
    monkeypatch.setattr(shape, "LARGEST_MATRIX", D - 1)
    both = strategy_numbers(ThetaConfig((*STRATEGY.learned, "separable")))
    both = replace(both, separable=NUMBERS, shape=replace(NUMBERS, merge=NUMBERS.merge + 3.0))
    start = jax.random.normal(KEY, (N, D))

    def searched(folded):
        # Rates differ after a generation, so that it matters how they are merged.
        return run(jax.random.key(3), learned_ga(folded, N), lambda k, x: jnp.sum(x**2, axis=1), start, 0.5, 4)[0]

    with_both, alone, with_a_matrix = map(searched, (both, replace(both, shape=None), replace(both, separable=None)))
    np.testing.assert_array_equal(with_both.parents.solutions, alone.parents.solutions)
    assert not np.array_equal(with_both.parents.solutions, with_a_matrix.parents.solutions)
