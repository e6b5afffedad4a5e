import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lga.meta.config import NORMALIZATIONS, OBJECTIVES, MetaConfig
from lga.meta.objective import candidate_verdicts, meta_fitness, sample_trials
from lga.operators.fold import theta_layout
from lga.operators.theta import ravel_theta

TINY = MetaConfig(
    family=("sphere",), noise=("none",), dims=(2, 3), num_generations=(5, 5), num_tasks=6, meta_population=8
)


def num_weights(config):
    return ravel_theta(theta_layout(config.theta_config))[0].size


def verdicts_of(config, weights, num_generations=5, seed=0):
    trials = sample_trials(jax.random.key(seed), config)
    single = candidate_verdicts(config, 8)
    return np.asarray(
        jax.jit(lambda w: jax.lax.map(lambda trial: single(w, trial, num_generations), trials))(weights).T
    )


def random_weights(config, count, seed=1):
    return 0.3 * jax.random.normal(jax.random.key(seed), (count, num_weights(config)))


def test_equal_candidates_meet_equal_luck():
    weights = jnp.tile(random_weights(TINY, 1), (4, 1))
    outcomes = verdicts_of(dataclasses.replace(TINY, noise=("gaussian_severe",)), weights)
    assert (outcomes == outcomes[:1]).all()


def test_candidates_do_not_influence_each_other():
    weights = random_weights(TINY, 4)
    together = verdicts_of(TINY, weights)
    alone = np.concatenate([verdicts_of(TINY, weights[i : i + 1]) for i in range(4)])
    np.testing.assert_allclose(together, alone, rtol=1e-5)


def test_a_better_of_all_generations_is_never_worse_than_the_last():
    weights = random_weights(TINY, 8)
    final = verdicts_of(TINY, weights)
    best = verdicts_of(dataclasses.replace(TINY, objective="minN-minT"), weights)
    mean = verdicts_of(dataclasses.replace(TINY, objective="meanN-finalT"), weights)
    best_mean = verdicts_of(dataclasses.replace(TINY, objective="meanN-minT"), weights)
    assert (best <= final).all()
    assert (best_mean <= mean).all()
    assert (final <= mean).all()
    assert (best < final).any()


def test_objectives_agree_on_a_search_of_one_generation():
    weights = random_weights(TINY, 4)
    one = {
        objective: verdicts_of(dataclasses.replace(TINY, objective=objective), weights, 1) for objective in OBJECTIVES
    }
    np.testing.assert_array_equal(one["minN-finalT"], one["minN-minT"])
    np.testing.assert_array_equal(one["meanN-finalT"], one["meanN-minT"])
    np.testing.assert_allclose(one["anytime"], one["minN-minT"], rtol=1e-4)


def test_anytime_is_the_geometric_mean_of_the_best_so_far_at_three_times():
    weights = random_weights(TINY, 4)
    best = dataclasses.replace(TINY, objective="minN-minT")
    marks = [verdicts_of(best, weights, generations) for generations in (3, 6, 12)]
    expected = np.prod(marks, axis=0) ** (1 / 3)
    anytime = verdicts_of(dataclasses.replace(TINY, objective="anytime"), weights, 12)
    np.testing.assert_allclose(anytime, expected, rtol=1e-4)


def test_trials_of_a_scale_have_exactly_its_dimensions_and_log_uniform_rates():
    config = dataclasses.replace(TINY, sigma0=(0.01, 1.0), sigma0_law="log", num_tasks=400)
    trials = sample_trials(jax.random.key(0), config, 7)
    assert trials.task.x_opt.shape == (400, 7)
    assert set(np.asarray(trials.task.num_dims).tolist()) == {7}
    # A share of one half below the geometric mean, up to four deviations.
    assert abs(np.mean(np.asarray(trials.sigma0) < 0.1) - 0.5) <= 4 * np.sqrt(0.25 / 400)


def test_outcomes_are_true_gaps_not_noisy_ones():
    cauchy = dataclasses.replace(TINY, noise=("cauchy_severe",))
    # This noise adds about 1000 to every value; no true gap of a two- or three-dimensional sphere comes near.
    assert verdicts_of(cauchy, random_weights(cauchy, 4)).max() < 500


def test_meta_fitness_is_the_median_of_z_scores():
    outcomes = np.random.default_rng(0).lognormal(size=(7, 5)).astype(np.float32)
    expected = np.median((outcomes - outcomes.mean(axis=0)) / outcomes.std(axis=0), axis=1)
    np.testing.assert_allclose(meta_fitness(jnp.asarray(outcomes), "z_score", "median"), expected, rtol=1e-4, atol=1e-5)


def test_the_mean_of_logs_is_the_mean_log10_outcome_with_outcomes_below_1e_8_as_that():
    outcomes = np.random.default_rng(0).lognormal(size=(7, 5)).astype(np.float32)
    outcomes[3, 2] = 1e-12
    expected = np.log10(np.maximum(outcomes, 1e-8)).mean(axis=1)
    np.testing.assert_allclose(meta_fitness(jnp.asarray(outcomes), "log", "mean"), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_outcomes_that_are_not_finite_rank_last(normalization, bad):
    outcomes = np.random.default_rng(0).lognormal(size=(6, 4)).astype(np.float32)
    outcomes[2] = bad
    fitness = np.asarray(meta_fitness(jnp.asarray(outcomes), normalization, "mean"))
    assert np.isfinite(fitness).all()
    assert fitness.argmax() == 2


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
def test_a_task_that_no_candidate_survives_says_nothing(normalization):
    outcomes = np.random.default_rng(0).lognormal(size=(6, 3)).astype(np.float32)
    outcomes[:, 1] = np.nan
    with_it = np.asarray(meta_fitness(jnp.asarray(outcomes), normalization, "mean"))
    without = np.asarray(meta_fitness(jnp.asarray(outcomes[:, [0, 2]]), normalization, "mean"))
    assert (np.argsort(with_it) == np.argsort(without)).all()


def test_every_trial_has_its_own_luck():
    trials = sample_trials(jax.random.key(0), dataclasses.replace(TINY, num_tasks=64))
    assert len({tuple(row) for row in np.asarray(trials.key_data).tolist()}) == 64
    assert len(set(np.asarray(trials.sigma0).tolist())) == 64
    assert set(np.asarray(trials.task.num_dims).tolist()) == {2, 3}
