"""What holds for all learned operators: folding, equivariance, row blocks."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lga.operators import rows
from lga.operators.attention import readout, selection_logits
from lga.operators.crossover import attention_crossover
from lga.operators.features import coordinate_features, fitness_features, rate_features, sampling_features
from lga.operators.fold import fold, fold_readout, fold_selection, init_theta
from lga.operators.mutation_rate import attention_rate, rate_multiplier
from lga.operators.rows import selection_row, with_one
from lga.operators.sampling import attention_sampling, sampling_probabilities
from lga.operators.selection import attention_selection, joint_features, sample_rows
from lga.operators.theta import ThetaConfig
from samples import ALL_LEARNED, permuted, progress_of, random_archive, random_folded, random_theta

KEY = jax.random.key(0)
ORDER = np.random.default_rng(0).permutation(9)
PARENTS, OFFSPRING = random_archive(1, 9), random_archive(2, 6)
PROGRESS = progress_of(PARENTS)
# Some members are there two or three times, among the offspring too.
TWINS, TWIN_OFFSPRING = permuted(PARENTS, np.array([0, 1, 1, 2, 3, 3, 3, 4, 5])), permuted(PARENTS, np.arange(6) // 2)
COLUMNS = np.array([4, 0, 5, 1, 3, 2])
SIZES = [(16, 2), (16, 1), (8, 8), (12, 3), (1, 1)]


def folded_logits(theta, parent_features, child_features):
    folded, children = fold_selection(theta), with_one(child_features)
    return jax.vmap(lambda row: selection_row(folded, row, children))(with_one(parent_features))


def by_fitness(results, fitness):
    """In the order of fitness, equals by position: what is left of a result when its order is forgotten."""
    return np.asarray(results)[np.argsort(fitness, stable=True)]


def count(tree) -> int:
    return sum(leaf.size for leaf in jax.tree.leaves(tree))


def test_default_operators_have_1377_weights_and_fold_into_148_numbers():
    theta = jax.eval_shape(init_theta, KEY)
    assert (count(theta.select), count(theta.rate), count(theta)) == (800, 577, 1377)
    select, rate = jax.eval_shape(fold_selection, theta.select), jax.eval_shape(fold_readout, theta.rate)
    assert count(select) + count(rate) == 148


@pytest.mark.parametrize(("key_dim", "num_heads"), SIZES)
def test_folded_form_is_the_same_function_as_the_training_form(key_dim, num_heads):
    config = ThetaConfig(ALL_LEARNED.learned, key_dim, num_heads)
    rates, sampling = rate_features(PARENTS, PROGRESS.best_fitness), sampling_features(PARENTS, PROGRESS)
    selection = joint_features(PARENTS.fitness, OFFSPRING.fitness, PROGRESS.best_fitness)

    def training_form(theta):
        return (
            selection_logits(theta.select, *selection),
            0.5 * readout(theta.rate, rates),
            jax.nn.softmax(readout(theta.sample, sampling)),
        )

    def folded_form(theta):
        return (
            folded_logits(theta.select, *selection),
            jnp.log(rate_multiplier(fold_readout(theta.rate), rates)),
            sampling_probabilities(fold_readout(theta.sample), sampling),
        )

    theta = random_theta(3, config)
    for folded, expected in zip(jax.jit(folded_form)(theta), jax.jit(training_form)(theta), strict=True):
        np.testing.assert_allclose(folded, expected, atol=2e-5)
        assert np.ptp(np.asarray(expected)) > 1e-4


def test_crossover_adds_the_attention_output_in_units_of_the_deviation():
    theta = random_theta(4)
    fitness = fitness_features(PARENTS.fitness, PROGRESS.best_fitness)
    best = int(jnp.argmin(PARENTS.fitness))
    columns = [
        column + jnp.std(column) * readout(theta.cross, coordinate_features(column, fitness, column[best]))
        for column in PARENTS.solutions.T
    ]
    crossed = attention_crossover(fold(theta).cross)(KEY, PARENTS, jnp.arange(9), PROGRESS).solutions
    np.testing.assert_allclose(crossed, np.stack(columns, axis=1), atol=2e-5)


def test_selection_logits_permute_with_parents_and_with_children():
    theta = random_theta(5).select
    parent_features, child_features = joint_features(PARENTS.fitness, OFFSPRING.fitness, PROGRESS.best_fitness)
    moved = joint_features(PARENTS.fitness[ORDER], OFFSPRING.fitness[COLUMNS], PROGRESS.best_fitness)
    expected = np.asarray(folded_logits(theta, parent_features, child_features))[ORDER][:, COLUMNS]
    np.testing.assert_allclose(folded_logits(theta, *moved), expected, atol=1e-5)


def test_selection_logits_of_twins_permute_up_to_the_order_of_equals():
    theta = random_theta(5).select

    def ordered_logits(parent_fitness, child_fitness):
        logits = folded_logits(theta, *joint_features(parent_fitness, child_fitness, PROGRESS.best_fitness))
        return by_fitness(by_fitness(logits, parent_fitness).T, child_fitness)

    direct = ordered_logits(TWINS.fitness, TWIN_OFFSPRING.fitness)
    moved = ordered_logits(TWINS.fitness[ORDER], TWIN_OFFSPRING.fitness[COLUMNS])
    np.testing.assert_allclose(moved, direct, atol=1e-5)


def test_selection_of_permuted_parents_is_the_permuted_selection():
    folded = fold_selection(random_theta(5).select)
    parent_features, child_features = joint_features(PARENTS.fitness, OFFSPRING.fitness, PROGRESS.best_fitness)
    uniform = jax.random.uniform(KEY, (9,))
    chosen = sample_rows(folded, parent_features, child_features, uniform)
    moved = sample_rows(folded, parent_features[ORDER], child_features, uniform[ORDER])
    np.testing.assert_array_equal(moved, chosen[ORDER])


def test_rates_permute_with_the_sampled_parents():
    rate = attention_rate(random_folded(6).rate)
    sigma = rate.propose(KEY, (), PARENTS, PROGRESS)
    moved = rate.propose(KEY, (), permuted(PARENTS, ORDER), PROGRESS)
    np.testing.assert_allclose(moved, sigma[ORDER], rtol=1e-5)
    assert np.ptp(np.asarray(sigma / PARENTS.sigma)) > 0.01


def test_rates_and_probabilities_of_twins_permute_up_to_the_order_of_equals():
    folded, mixed = random_folded(6), permuted(TWINS, ORDER)
    rate = attention_rate(folded.rate)

    def results(parents):
        probabilities = sampling_probabilities(folded.sample, sampling_features(parents, PROGRESS))
        both = jnp.stack([rate.propose(KEY, (), parents, PROGRESS), probabilities], axis=1)
        return by_fitness(both, parents.fitness)

    np.testing.assert_allclose(results(mixed), results(TWINS), rtol=1e-5)
    # The order of twins does matter: they have ranks of their own.
    assert np.ptp(results(TWINS)[np.isin(np.sort(TWINS.fitness), TWINS.fitness[1])], axis=0).min() > 1e-3


def test_sampling_probabilities_permute_with_the_parents():
    folded = fold_readout(random_theta(7).sample)
    probabilities = sampling_probabilities(folded, sampling_features(PARENTS, PROGRESS))
    moved = sampling_probabilities(folded, sampling_features(permuted(PARENTS, ORDER), PROGRESS))
    np.testing.assert_allclose(moved, probabilities[ORDER], atol=1e-6)
    assert np.ptp(np.asarray(probabilities)) > 0.01


def test_crossover_permutes_with_the_parents():
    cross = attention_crossover(random_folded(8).cross)
    crossed = cross(KEY, PARENTS, jnp.arange(9), PROGRESS).solutions
    moved = cross(KEY, permuted(PARENTS, ORDER), jnp.arange(9), PROGRESS).solutions
    np.testing.assert_allclose(moved, crossed[ORDER], atol=1e-5)


def test_crossover_of_twins_permutes_up_to_the_order_of_equals():
    cross, mixed = attention_crossover(random_folded(8).cross), permuted(TWINS, ORDER)
    direct = cross(KEY, TWINS, jnp.arange(9), PROGRESS).solutions
    moved = cross(KEY, mixed, jnp.arange(9), PROGRESS).solutions
    np.testing.assert_allclose(by_fitness(moved, mixed.fitness), by_fitness(direct, TWINS.fitness), atol=1e-5)


@pytest.mark.parametrize("largest_block", [1, 20])
def test_results_do_not_depend_on_the_size_of_row_blocks(largest_block, monkeypatch):
    folded = random_folded(9)

    def results():
        return (
            attention_selection(folded.select)(KEY, PARENTS, OFFSPRING, PROGRESS),
            attention_sampling(folded.sample)(KEY, PARENTS, 12, PROGRESS),
            attention_rate(folded.rate).propose(KEY, (), PARENTS, PROGRESS),
            attention_crossover(folded.cross)(KEY, PARENTS, jnp.arange(9), PROGRESS).solutions,
        )

    selected, sampled, sigma, crossed = jax.jit(results)()
    monkeypatch.setattr(rows, "LARGEST_BLOCK", largest_block)
    blocks = jax.jit(lambda: results())()
    np.testing.assert_array_equal(blocks[0], selected)
    np.testing.assert_array_equal(blocks[1], sampled)
    np.testing.assert_allclose(blocks[2], sigma, rtol=1e-5)
    np.testing.assert_allclose(blocks[3], crossed, atol=1e-5)


def test_operators_with_zero_weights_are_neutral():
    theta = random_theta(0, scale=0.0)
    np.testing.assert_array_equal(attention_rate(fold(theta).rate).propose(KEY, (), PARENTS, PROGRESS), PARENTS.sigma)
    crossed = attention_crossover(fold(theta).cross)(KEY, PARENTS, jnp.arange(9), PROGRESS).solutions
    np.testing.assert_array_equal(crossed, PARENTS.solutions)
    probabilities = sampling_probabilities(fold_readout(theta.sample), sampling_features(PARENTS, PROGRESS))
    np.testing.assert_allclose(probabilities, np.full(9, 1 / 9), rtol=1e-6)
