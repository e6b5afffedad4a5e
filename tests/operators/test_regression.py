"""The regression that screens: its slopes, its predictions, and what it finds out about variables."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from lga.core.box import from_unit
from lga.operators import regression
from lga.operators.fold import usual_regress
from lga.operators.regression import (
    Reach,
    climb,
    evidence_slope,
    inverse_covariance,
    inverted,
    normal_scores,
    predicted,
    usual_reach,
)
from lga.operators.screening import empty_past, remember

NUM_KNOWN, CAPACITY = 30, 40
KNOWN = jnp.arange(CAPACITY) < NUM_KNOWN


def places(seed, num_dims=3, number=CAPACITY):
    return jnp.asarray(np.random.default_rng(seed).uniform(size=(number, num_dims)), jnp.float32)


def masked(scores):
    return jnp.where(KNOWN, (scores - jnp.mean(scores)) / jnp.std(scores), 0.0)


def surprise(at, where, scores):
    """Minus the logarithm of how probable the scores are, up to a constant."""
    inverse, _ = inverse_covariance(at, where, KNOWN)
    return 0.5 * (scores @ inverse @ scores - jnp.linalg.slogdet(inverse)[1])


def test_a_positive_definite_matrix_is_inverted():
    rows = np.random.default_rng(0).normal(size=(40, 50))
    matrix = rows @ rows.T
    np.testing.assert_allclose(inverted(jnp.asarray(matrix, jnp.float32)), np.linalg.inv(matrix), atol=1e-4)


def test_the_slope_of_the_evidence_is_its_derivative():
    with jax.enable_x64(True):
        where = jnp.asarray(places(0), jnp.float64)
        scores = masked(jnp.sin(5.0 * where[:, 0]) + where[:, 1])
        at = Reach(jnp.array([0.8, 0.1, -0.5]), jnp.array(-2.0))
        flat, back = ravel_pytree(at)
        step = 1e-5
        differences = [
            (surprise(back(flat + step * axis), where, scores) - surprise(back(flat - step * axis), where, scores))
            for axis in jnp.eye(flat.size)
        ]
        slope = ravel_pytree(evidence_slope(at, where, scores, KNOWN))[0]
        np.testing.assert_allclose(slope, np.array(differences) / (2 * step), rtol=1e-4)


def test_the_steps_make_values_more_probable():
    where = places(1)
    scores = masked(jnp.abs(where[:, 0] - 0.3))
    usual = usual_reach(usual_regress(), 3, jnp.asarray(float(NUM_KNOWN)))
    fitted = climb(usual_regress(), usual, where, scores, KNOWN)
    assert surprise(fitted, where, scores) < surprise(usual, where, scores) - 1.0


def test_a_variable_without_effect_reaches_farther():
    where = places(2)
    scores = masked(jnp.abs(where[:, 0] - 0.3))
    usual = usual_reach(usual_regress(), 3, jnp.asarray(float(NUM_KNOWN)))
    closeness = climb(usual_regress(), usual, where, scores, KNOWN).closeness
    assert closeness[0] > 0.5 + jnp.max(closeness[1:])


def test_what_was_evaluated_is_known_and_what_is_far_from_it_is_not():
    where = places(3)
    scores = masked(where[:, 0])
    at = Reach(jnp.full(3, 1.5), jnp.asarray(-6.0))
    expected, variance, *_ = predicted(at, where, scores, KNOWN, jnp.concatenate([where[:5], 100.0 + where[:5]]))
    np.testing.assert_allclose(expected[:5], scores[:5], atol=0.05)
    assert jnp.all(variance[:5] < 0.01)
    np.testing.assert_allclose(expected[5:], 0.0, atol=1e-6)
    np.testing.assert_allclose(variance[5:], 1.0, atol=1e-6)


def test_places_that_were_not_evaluated_change_nothing():
    where, candidates = places(4), places(5, number=6)
    scores = masked(where[:, 0])
    other = where.at[NUM_KNOWN:].set(0.123)
    at = Reach(jnp.zeros(3), jnp.asarray(-4.0))
    found = [predicted(at, own, scores, KNOWN, candidates)[:2] for own in (where, other)]
    for one, two in zip(*found, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-6)


def test_equal_values_teach_nothing_and_break_nothing():
    screen = regression.regression_screening(usual_regress())
    past = screen.init(10.0 * places(6, number=20) - 5.0, jnp.full(20, jnp.nan))
    chosen = screen.choose(past, 10.0 * places(7, number=12) - 5.0, 4)
    assert len(set(np.asarray(chosen).tolist())) == 4


def test_the_more_of_a_plateau_is_known_the_less_it_promises():
    def score_of_best(num_equal):
        fitness = jnp.concatenate([jnp.zeros(num_equal), 1.0 + jnp.arange(20.0 - num_equal)])
        past = remember(empty_past(20, jnp.zeros((20, 2)), fitness), jnp.zeros((20, 2)), fitness)
        scores = normal_scores(past, jnp.ones(20, bool), jnp.asarray(20.0))
        assert jnp.all(scores[:num_equal] == scores[0])
        return float(scores[0])

    promises = [score_of_best(number) for number in (1, 2, 10, 19)]
    assert promises == sorted(promises)
    # A value that nearly all have is no promise, though it is the best.
    assert promises[0] < -1.5
    assert promises[-1] > 1.0


def test_a_search_leaves_a_plateau_for_what_it_knows_nothing_of():
    screen = regression.regression_screening(usual_regress())
    plateau = jnp.asarray(np.random.default_rng(8).uniform(-5.0, 0.0, (30, 2)), jnp.float32)
    past = screen.init(plateau, jnp.zeros(30))
    candidates = jnp.concatenate([plateau + 0.1, jnp.full((1, 2), 4.0)])
    assert screen.choose(past, candidates, 1).tolist() == [30]


def test_one_child_of_four_is_taken_as_it_comes():
    screen = regression.regression_screening(usual_regress())
    past = screen.init(10.0 * places(9, number=20) - 5.0, jnp.arange(20.0))
    # The last candidates are where the worst solution was, so nothing speaks for them.
    hopeless = jnp.tile(from_unit(past.places[19]), (2, 1))
    candidates = jnp.concatenate([10.0 * places(10, number=30) - 5.0, hopeless])
    assert set(np.asarray(screen.choose(past, candidates, 8)).tolist()) >= {30, 31}
    assert not set(np.asarray(screen.choose(past, candidates, 3)).tolist()) & {30, 31}
