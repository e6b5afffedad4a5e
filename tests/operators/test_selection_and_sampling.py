from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lga.core.population import Archive
from lga.operators.attention import readout, selection_logits
from lga.operators.features import sampling_features
from lga.operators.fold import fold_readout, fold_selection
from lga.operators.sampling import attention_sampling, best_sampling, uniform_sampling
from lga.operators.selection import (
    attention_selection,
    joint_features,
    rank_selection,
    selection_weights,
    truncation_selection,
)
from samples import progress_of, random_archive, random_theta

DRAWS = 20_000
KEY = jax.random.key(0)
PARENTS, OFFSPRING = random_archive(1, 4), random_archive(2, 6)
PROGRESS = progress_of(PARENTS)


def draws(sample) -> np.ndarray:
    return np.asarray(jax.jit(jax.vmap(sample))(jax.random.split(jax.random.key(5), DRAWS)))


def with_fitness(archive: Archive, fitness) -> Archive:
    return Archive(archive.solutions, jnp.asarray(fitness), archive.sigma, archive.age)


def frequencies_match(counts, probabilities) -> bool:
    tolerance = 4 * np.sqrt(probabilities * (1 - probabilities) / DRAWS)
    return bool(np.all(np.abs(counts / DRAWS - probabilities) <= tolerance))


def test_selection_draws_each_row_from_the_softmax_with_a_constant_one_for_the_parent():
    theta = random_theta(3).select
    chosen = draws(lambda key: attention_selection(fold_selection(theta))(key, PARENTS, OFFSPRING, PROGRESS))
    logits = selection_logits(theta, *joint_features(PARENTS.fitness, OFFSPRING.fitness, PROGRESS.best_fitness))
    matrix = np.asarray(jax.nn.softmax(jnp.concatenate([logits, jnp.ones((4, 1))], axis=1)), float)
    assert np.ptp(matrix) > 0.1
    for row in range(4):
        counts = np.bincount(chosen[:, row], minlength=10)
        # Columns of children, then the column of the row's own parent; the other parents never come here.
        assert frequencies_match(counts[[0, 1, 2, 3, 4, 5, 6 + row]], matrix[row])
        assert counts.sum() == counts[[0, 1, 2, 3, 4, 5, 6 + row]].sum()


def test_even_draws_keep_each_rows_distribution_and_spread_equal_children_evenly():
    theta = random_theta(3).select
    independent = draws(lambda key: attention_selection(fold_selection(theta))(key, PARENTS, OFFSPRING, PROGRESS))
    even = draws(lambda key: attention_selection(fold_selection(theta), even=True)(key, PARENTS, OFFSPRING, PROGRESS))
    for row in range(4):
        expected = np.bincount(independent[:, row], minlength=10) / DRAWS
        tolerance = 4 * np.sqrt(2 * np.maximum(expected * (1 - expected), 1 / DRAWS) / DRAWS)
        assert (np.abs(np.bincount(even[:, row], minlength=10) / DRAWS - expected) <= tolerance).all()
    indifferent = jax.tree.map(jnp.zeros_like, fold_selection(theta))
    always_children = replace(indifferent, score=indifferent.score.at[:, -1, -1].set(20.0))
    chosen = attention_selection(always_children, even=True)(KEY, OFFSPRING, OFFSPRING, PROGRESS)
    assert sorted(np.asarray(chosen)) == list(range(6))


@pytest.mark.parametrize("scale", [0.0, 1.0, 100.0, float("nan")])
def test_selected_is_a_child_or_the_parent_itself_whatever_the_weights(scale):
    theta = jax.tree.map(lambda leaf: scale * leaf, random_theta(4).select)
    chosen = attention_selection(fold_selection(theta))(jax.random.key(0), PARENTS, OFFSPRING, PROGRESS)
    itself = 6 + np.arange(4)
    assert np.all((chosen == itself) | ((chosen >= 0) & (chosen < 6)))


def test_rows_of_the_selection_matrix_never_overflow():
    logits = jnp.array([[1e4, 0.0], [-1e4, -2e4]])
    weights = selection_weights(logits)
    np.testing.assert_array_equal(weights, [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize("num_parents", [1, 3, 10])
def test_truncation_keeps_what_a_sort_puts_first(num_parents):
    parents = random_archive(6, num_parents)
    chosen = truncation_selection()(jax.random.key(0), parents, OFFSPRING, PROGRESS)
    union = np.concatenate([OFFSPRING.fitness, parents.fitness])
    np.testing.assert_array_equal(union[np.asarray(chosen)], np.sort(union)[:num_parents])
    assert len(set(chosen.tolist())) == num_parents


def test_a_child_wins_a_tie_against_a_parent():
    parents, offspring = with_fitness(PARENTS, [1.0, 1.0, 1.0, 1.0]), with_fitness(OFFSPRING, [1.0, 2.0, 1, 3, 1, 4])
    chosen = truncation_selection()(jax.random.key(0), parents, offspring, PROGRESS)
    np.testing.assert_array_equal(chosen, [0, 2, 4, 6])


def test_by_rank_a_child_that_beats_all_parents_takes_the_places_its_weight_says():
    parents, offspring = with_fitness(PARENTS, [1.0, 1.0, 1.0, 1.0]), with_fitness(OFFSPRING, [9.0, 0.5, 9, 0.2, 9, 9])
    chosen = draws(lambda key: rank_selection(decay=1.0)(key, parents, offspring, PROGRESS))
    # Places 1 and 0, then four parents, then the rest; a parent stays with the weight of place 4.
    weights = np.exp(-np.array([6.0, 1.0, 7.0, 0.0, 8.0, 9.0, 4.0]))
    counts = np.bincount(np.minimum(chosen[:, 2], 6), minlength=7)
    assert frequencies_match(counts, weights / weights.sum())
    assert set(chosen[:, 2][chosen[:, 2] >= 6]) == {8}


def test_by_rank_a_parent_is_as_likely_to_stay_as_to_give_way_to_the_best_child_where_none_is_better():
    parents, offspring = with_fitness(PARENTS, [0.0, 0.0, 0.0, 0.0]), with_fitness(OFFSPRING, [1.0, 2, 3, 4, 5, 6])
    chosen = draws(lambda key: rank_selection()(key, parents, offspring, PROGRESS))
    weights = np.exp(-2.0 * np.array([0, 1, 2, 3, 4, 5, 0]))
    assert frequencies_match(np.bincount(np.minimum(chosen[:, 0], 6), minlength=7), weights / weights.sum())


def test_uniform_sampling_takes_every_parent_equally_often():
    sample = uniform_sampling()
    chosen = draws(lambda key: sample(key, PARENTS, 1, PROGRESS))
    assert frequencies_match(np.bincount(chosen[:, 0], minlength=4), np.full(4, 0.25))


def test_attention_sampling_follows_its_probabilities():
    theta = random_theta(7, scale=1.0).sample
    sample = attention_sampling(fold_readout(theta))
    chosen = draws(lambda key: sample(key, PARENTS, 1, PROGRESS))
    probabilities = np.asarray(jax.nn.softmax(readout(theta, sampling_features(PARENTS, PROGRESS))), float)
    assert np.ptp(probabilities) > 0.1
    assert frequencies_match(np.bincount(chosen[:, 0], minlength=4), probabilities)


def test_the_best_parents_take_turns():
    parents = with_fitness(PARENTS, [3.0, 1.0, 0.0, 2.0])
    np.testing.assert_array_equal(best_sampling(0.5)(KEY, parents, 5, PROGRESS), [2, 1, 2, 1, 2])
    np.testing.assert_array_equal(best_sampling(0.01)(KEY, parents, 3, PROGRESS), [2, 2, 2])
    with pytest.raises(ValueError, match="share is 0.0, but must be more than 0 and at most 1"):
        best_sampling(0.0)
