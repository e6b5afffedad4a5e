"""The native kernels compute what the JAX code computes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from native_cases import (
    FITNESS,
    SHAPES,
    blend_case,
    exact_blend,
    exact_boundaries,
    exact_multiplier,
    exact_parent_boundaries,
    fitness_of,
    is_right,
    largest_logit,
    rate_case,
    sampling_case,
    selection_case,
)

from lga import native
from lga.algorithms.genetic import native_succession, succession
from lga.core.population import FAILED, Archive, Progress
from lga.operators.crossover import blended_parents
from lga.operators.mutation_rate import attended_multiplier
from lga.operators.sampling import draw_parents
from lga.operators.selection import choose
from lga.operators.shape import adapt_matrix, bend_by_matrix
from lga.tasks import networks

FEW_KINDS = ("random", "ties", "failures")
select = jax.jit(native.select)
sample = jax.jit(native.sample)
blend = jax.jit(native.blend)
rate = jax.jit(native.rate)
choose_in_jax = jax.jit(choose.__wrapped__)
draw_in_jax = jax.jit(draw_parents.__wrapped__)
blend_in_jax = jax.jit(blended_parents.__wrapped__)
multiply_in_jax = jax.jit(attended_multiplier.__wrapped__)


@pytest.mark.parametrize("kind", FITNESS)
@pytest.mark.parametrize("shape", SHAPES)
def test_selection_draws_the_child_that_its_uniform_number_falls_on(instruction_set, shape, kind):
    case = selection_case(len(kind), shape, kind)
    chosen = np.asarray(select(*case))
    assert ((chosen >= 0) & (chosen <= shape[0])).all()
    boundaries = exact_boundaries(case)
    assert is_right(chosen, case[3], boundaries, 1e-6).all()
    # Not by chance: the same numbers, shifted by half, fall on other children.
    if kind == "random" and shape == (512, 512, 2):
        assert is_right(chosen, (case[3] + 0.5) % 1.0, boundaries, 1e-6).mean() < 0.1


@pytest.mark.parametrize("seed", range(3))
def test_selection_equals_jax_except_at_boundaries(seed):
    case = selection_case(seed, (64, 512, 2))
    chosen, expected = np.asarray(select(*case)), np.asarray(choose_in_jax(*case))
    distance = np.abs(exact_boundaries(case) - case[3][:, None]).min(axis=1)
    assert (chosen == expected)[distance > 1e-6].all()
    assert (distance > 1e-6).mean() > 0.9


@pytest.mark.parametrize("kind", ["random", "ties"])
@pytest.mark.parametrize("shape", [(4096, 1024, 2), (100_000, 16, 2)])
def test_in_large_populations_the_kernels_differ_in_draws_at_boundaries_alone(shape, kind):
    """A hundred thousand children end 1e-5 apart on the unit interval, and so many sums are rounded by as much."""
    case = selection_case(0, shape, kind)
    boundaries = exact_boundaries(case)
    drawn = [np.asarray(kernel(*case)) for kernel in (select, choose_in_jax)]
    # Rounding errors of single precision add up like the steps of a random walk.
    tolerance = 2.0**-24 * np.sqrt(shape[0])
    assert all(is_right(chosen, case[3], boundaries, tolerance).all() for chosen in drawn)
    assert np.mean(drawn[0] != drawn[1]) < 0.5


@pytest.mark.parametrize("kind", FITNESS)
@pytest.mark.parametrize("shape", SHAPES)
def test_multipliers_equal_jax_to_five_digits(instruction_set, shape, kind):
    case = rate_case(len(kind), shape, kind, scale=0.7)
    multiplier = np.asarray(rate(*case))
    # A logit in the hundreds (an outlier among hundreds of values) is rounded by more than the fifth digit.
    tolerance = max(1e-5, 4 * 2.0**-24 * largest_logit(case))
    np.testing.assert_allclose(multiplier, exact_multiplier(case), rtol=tolerance)
    np.testing.assert_allclose(multiplier, multiply_in_jax(*case), rtol=2 * tolerance)


@pytest.mark.parametrize("kind", FEW_KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_sampling_draws_the_parent_that_its_uniform_number_falls_on(instruction_set, shape, kind):
    case = sampling_case(len(kind), shape, kind)
    chosen = np.asarray(sample(*case))
    assert ((chosen >= 0) & (chosen < shape[1])).all()
    boundaries = np.tile(exact_parent_boundaries(case), (shape[0], 1))
    assert is_right(chosen, case[4], boundaries, 2e-6).all()
    in_jax = np.asarray(draw_in_jax(*case))
    away = np.abs(np.pad(boundaries, ((0, 0), (0, 1)), constant_values=2) - case[4][:, None]).min(axis=1) > 2e-6
    assert (chosen == in_jax)[away].all()
    # Not by chance: the same numbers, shifted by half, fall on other parents.
    if kind == "random" and shape == (512, 512, 2):
        assert away.mean() > 0.9
        assert is_right(chosen, (case[4] + 0.5) % 1.0, boundaries, 2e-6).mean() < 0.1


def test_a_parent_without_weight_has_no_children(instruction_set):
    """The better half attends to the best; the others attend to the worst and get nothing, not even at the ends."""
    value = np.array([[0, -1e5, 0, 0, 0]], np.float32)
    attend = np.array([[[0, 0, 0, 0, 0], [0, 1e5, 0, 0, 0], *[[0] * 5] * 3]], np.float32)
    fitness, uniform = np.array([3, 1, 0, 2], np.float32), np.array([0, 0.5, 1 - 2.0**-23], np.float32)
    chosen = np.asarray(sample(fitness, np.zeros(4, np.int32), np.float32(9), np.int32(1), uniform, attend, value))
    np.testing.assert_array_equal(chosen, [1, 2, 2])


@pytest.mark.parametrize("kind", FEW_KINDS)
@pytest.mark.parametrize(
    ("shape", "num_dims"),
    [
        ((1, 1, 1), 1),
        ((2, 1, 2), 10),
        ((1, 7, 2), 16),
        ((16, 16, 2), 10),
        ((17, 33, 1), 37),
        ((100, 50, 4), 3),
        ((70, 6, 2), 5000),  # several units of work, each of several tiles
    ],
)
def test_blending_equals_jax_to_five_digits(instruction_set, shape, num_dims, kind):
    case = blend_case(len(kind), shape, kind, num_dims)
    for ours, theirs, exact in zip(blend(*case), blend_in_jax(*case), exact_blend(case), strict=True):
        np.testing.assert_allclose(ours, exact, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("sigma", [1e-20, 0.1, 0.3, 1e15])
def test_rates_that_are_equal_stay_so_to_the_last_bit(instruction_set, sigma):
    case = list(blend_case(1, (33, 17, 2)))
    case[5] = np.full(17, sigma, np.float32)
    for kernel in (blend, blend_in_jax):
        assert (np.asarray(kernel(*case)[1]) == 0).all()


def test_indices_outside_are_drawn_to_the_ends(instruction_set):
    case = blend_case(2, (4, 3, 2))
    outside, inside = np.array([-9, -1, 3, 90], np.int32), np.array([0, 2, 2, 2], np.int32)
    ours, expected = (blend(*case[:6], index, *case[7:]) for index in (outside, inside))
    for array, other in zip(ours, expected, strict=True):
        np.testing.assert_array_equal(array, other)


@pytest.mark.parametrize("scale", [30.0, 1e4, 1e15])
def test_huge_logits_do_no_harm(instruction_set, scale):
    """Rounding of a logit is all that may differ, and no number overflows."""
    case = selection_case(1, (20, 40, 2), scale=scale)
    chosen = np.asarray(select(*case))
    assert ((chosen >= 0) & (chosen <= 20)).all()
    if scale == 30.0:
        # Logits of up to 30 * 30 lose three more digits.
        assert is_right(chosen, case[3], exact_boundaries(case), 1e-3).all()
    multiplier = np.asarray(rate(*rate_case(1, (20, 1, 2), scale=scale)))
    assert not np.isnan(multiplier).any()
    assert (multiplier >= 0).all()
    sampled = np.asarray(sample(*sampling_case(1, (20, 40, 2), scale=scale)))
    assert ((sampled >= 0) & (sampled < 40)).all()


def test_nan_does_not_leave_the_range(instruction_set):
    parents, children, best, uniform, attend, score = selection_case(1, (600, 600, 2))
    children[::7] = np.nan
    chosen = np.asarray(select(parents, children, best, uniform, attend, score))
    assert ((chosen >= 0) & (chosen <= 600)).all()
    fitness, *others = sampling_case(1, (600, 600, 2))
    fitness[::7] = np.nan
    sampled = np.asarray(sample(fitness, *others))
    assert ((sampled >= 0) & (sampled < 600)).all()


def test_a_weight_of_zero_is_never_drawn(instruction_set):
    """The first child's logit is far below all others: not even the uniform number 0 lands on it."""
    score = np.zeros((1, 4, 4), np.float32)
    score[0, 3, 1] = 1e5
    case = (np.full(4, -2.0, np.float32), np.arange(3, dtype=np.float32), np.float32(-3), np.zeros(4, np.float32))
    assert (np.asarray(select(*case, np.zeros((1, 4, 4), np.float32), score)) == 2).all()


def batch_of(cases: list[tuple]) -> tuple:
    return tuple(jnp.stack(arrays) for arrays in zip(*cases, strict=True))


@pytest.mark.parametrize(
    ("kernel", "make"),
    [
        (native.select, selection_case),
        (native.rate, rate_case),
        (native.sample, sampling_case),
        (lambda *case: native.blend(*case)[0], blend_case),
        (lambda *case: native.blend(*case)[1], blend_case),
    ],
    ids=["select", "rate", "sample", "solutions of blend", "rates of blend"],
)
def test_vmap_gives_what_single_calls_give(kernel, make):
    shape = (16, 16, 2)
    cases = [tuple(map(jnp.asarray, make(seed, shape))) for seed in range(6)]
    alone = np.stack([kernel(*case) for case in cases])
    batched = batch_of(cases)
    assert np.array_equal(jax.jit(jax.vmap(kernel))(*batched), alone)
    # In parts, and along two axes.
    halves = [jax.vmap(kernel)(*(array[part] for array in batched)) for part in (slice(0, 2), slice(2, 6))]
    assert np.array_equal(np.concatenate(halves), alone)
    twice = jax.vmap(jax.vmap(kernel))(*(array.reshape(2, 3, *array.shape[1:]) for array in batched))
    assert np.array_equal(np.asarray(twice).reshape(alone.shape), alone)


def test_shared_operands_need_no_batch_axis():
    """Shared weights, shared uniform numbers, and an outer batch of one with an inner batch of the other."""
    shape = (16, 12, 2)
    cases = [tuple(map(jnp.asarray, selection_case(seed, shape))) for seed in range(4)]
    parents, children, best, _, attend, score = batch_of(cases)
    uniform = cases[0][3]
    shared_weights = jax.vmap(native.select, in_axes=(0, 0, 0, None, None, None))
    expected = [native.select(parents[i], children[i], best[i], uniform, attend[1], score[1]) for i in range(4)]
    assert np.array_equal(shared_weights(parents, children, best, uniform, attend[1], score[1]), np.stack(expected))
    crossed = jax.vmap(
        jax.vmap(native.select, in_axes=(0, 0, 0, None, None, None)), in_axes=(None, None, None, None, 0, 0)
    )(parents, children, best, uniform, attend, score)
    for i in range(4):
        for j in range(4):
            alone = native.select(parents[j], children[j], best[j], uniform, attend[i], score[i])
            assert np.array_equal(crossed[i, j], alone)


def test_more_batch_axes_than_the_kernels_know_are_refused():
    case = tuple(jnp.asarray(array)[(None,) * 7] for array in rate_case(0, (4, 1, 1)))
    kernel = native.rate
    for _ in range(7):
        kernel = jax.vmap(kernel)
    with pytest.raises(Exception, match="up to six batch axes"):
        jax.block_until_ready(kernel(*case))


def test_derivatives_are_those_of_the_jax_code(monkeypatch):
    monkeypatch.setattr("lga.native.dispatch.status", lambda: native.Status("native", "test"))
    fitness, sigma, best, attend, value = map(jnp.asarray, rate_case(3, (12, 1, 2), scale=0.3))
    ours = jax.grad(lambda v: jnp.sum(attended_multiplier(fitness, sigma, best, attend, v)))(value)
    theirs = jax.grad(lambda v: jnp.sum(attended_multiplier.__wrapped__(fitness, sigma, best, attend, v)))(value)
    assert np.abs(theirs).max() > 0
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("num_dims", [1, 10, 16, 17, 3000])
def test_succession_equals_jax_to_the_bit(instruction_set, num_dims):
    rng = np.random.default_rng(num_dims)
    num_children, num_parents = 9, 5

    def archive(size: int, age) -> Archive:
        solutions, fitness = rng.normal(size=(size, num_dims)), rng.normal(size=size)
        fitness[0] = FAILED
        return Archive(*(jnp.asarray(x, jnp.float32) for x in (solutions, fitness, rng.uniform(size=size))), age)

    offspring = archive(num_children, jnp.zeros(num_children, jnp.int32))
    parents = archive(num_parents, jnp.arange(num_parents, dtype=jnp.int32))
    for best_fitness in (-100.0, 100.0):
        progress = Progress(parents.solutions[1], jnp.float32(best_fitness), jnp.int32(3), jnp.int32(40), jnp.int32(2))
        index = jnp.asarray([0, 13, 8, 9, 8], jnp.int32)
        ours = jax.jit(native_succession)(index, offspring, parents, progress)
        theirs = jax.jit(succession.__wrapped__)(index, offspring, parents, progress)
        assert all(map(np.array_equal, jax.tree.leaves(ours), jax.tree.leaves(theirs)))


@pytest.mark.parametrize("kind", FITNESS)
@pytest.mark.parametrize(("num_children", "num_dims"), [(1, 1), (4, 2), (7, 5), (16, 16), (16, 20), (33, 40), (6, 130)])
def test_a_shape_bends_and_adapts_as_in_jax(instruction_set, num_children, num_dims, kind):
    rng = np.random.default_rng(num_dims)
    fitness = jnp.asarray(fitness_of(kind, rng, num_children))
    start, noise = jnp.asarray(rng.normal(size=(2, num_children, num_dims)), jnp.float32)
    path, drift = jnp.asarray(rng.normal(size=(2, num_dims)), jnp.float32)
    stretch = jnp.asarray(np.eye(num_dims) + 0.1 * rng.normal(size=(num_dims, num_dims)), jnp.float32)
    sigma = jnp.asarray(np.exp(rng.normal(size=num_children)), jnp.float32)
    strengths = jnp.asarray(np.exp(0.3 * rng.normal(size=7)) * [8, 1, 1, 1, 1, 1, 1], jnp.float32)
    bent = native.bend(start, sigma, noise, drift, stretch)
    np.testing.assert_allclose(
        bent, bend_by_matrix.__wrapped__(start, sigma, noise, drift, stretch), rtol=1e-4, atol=1e-5
    )
    adapted = native.adapt(fitness, noise, path, stretch, strengths)
    expected = adapt_matrix.__wrapped__(fitness, noise, path, stretch, strengths)
    for ours, theirs in zip(adapted, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_runs_of_a_batch_share_noise_and_have_matrices_of_their_own(instruction_set):
    """As in meta-training: noise without a batch axis, memory with one."""
    rng = np.random.default_rng(0)
    fitness, noise = (
        jnp.asarray(rng.normal(size=(3, 6)), jnp.float32),
        jnp.asarray(rng.normal(size=(6, 4)), jnp.float32),
    )
    path, stretch = (
        jnp.asarray(rng.normal(size=(3, 4)), jnp.float32),
        jnp.asarray(rng.normal(size=(3, 4, 4)), jnp.float32),
    )
    strengths = jnp.ones(7)
    together = jax.vmap(native.adapt, in_axes=(0, None, 0, 0, None))(fitness, noise, path, stretch, strengths)
    for run in range(3):
        alone = native.adapt(fitness[run], noise, path[run], stretch[run], strengths)
        jax.tree.map(lambda a, b, run=run: np.testing.assert_array_equal(a[run], b), together, tuple(alone))


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize(
    ("image", "width", "num_filters"), [((28, 28, 1), 5, 8), ((9, 7, 3), 3, 17), ((2, 3, 4), 1, 40), ((5, 11, 2), 7, 1)]
)
def test_filters_find_what_they_find_in_jax(instruction_set, image, width, num_filters, pooled):
    """Two networks with filters of their own; the first batch of images is shared, the second is not."""
    rng = np.random.default_rng(width)
    images = rng.normal(size=(2, 3, *image)).astype(np.float32)
    filters = rng.normal(size=(2, width, width, image[2], num_filters)).astype(np.float32)
    bias = rng.normal(size=(2, num_filters)).astype(np.float32)
    with jax.enable_x64(True):
        in_jax = jax.vmap(lambda *arrays: networks.convolve.__wrapped__(*arrays, pooled=pooled))
        expected = np.asarray(in_jax(*(np.asarray(array, float) for array in (images, filters, bias))))
    size = np.abs(expected).max()
    kernel = jax.jit(lambda *arrays: native.convolve(*arrays, pooled=pooled))
    np.testing.assert_allclose(jax.vmap(kernel)(images, filters, bias), expected, atol=1e-6 * size)
    shared = jax.vmap(kernel, in_axes=(None, 0, 0))(images[0], filters, bias)
    np.testing.assert_allclose(shared[0], expected[0], atol=1e-6 * size)


def test_filters_of_even_width_are_refused():
    with pytest.raises(Exception, match="filters have an even width"):
        native.convolve(jnp.zeros((1, 4, 4, 1)), jnp.zeros((2, 2, 1, 3)), jnp.zeros(3), pooled=False)
