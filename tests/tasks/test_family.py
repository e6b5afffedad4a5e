"""Families of one's own: variables in their own units, and searches that start where one says."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lga.optimize.bounds import make_space
from lga.tasks.family import Family, family, find_family, started_at

BOUNDS = [(1e-3, 10.0), (-2.0, 5.0), (1.0, 9.0)]
LOG, WHOLE = [True, False, False], [False, False, True]
X0, SIGMA0 = [0.1, 1.0, 4.0], [0.5, 0.7, 2.0]


def draw(key):
    return jax.random.normal(key, (3,))


def evaluate(task, solutions):
    return jnp.sum(solutions, axis=1) + task[0]


OWN = family(draw, evaluate, BOUNDS, log_scale=LOG, integrality=WHOLE)


@pytest.mark.parametrize("start", [False, True])
def test_variables_are_those_that_minimize_would_see(start):
    options = {"x0": X0, "sigma0": SIGMA0} if start else {}
    space = make_space(BOUNDS, integrality=WHOLE, log_scale=LOG, **options)
    own = started_at(OWN, np.array(X0), np.diag(SIGMA0)) if start else OWN
    coordinates = np.random.default_rng(0).normal(scale=6.0, size=(200, 3))
    seen = np.asarray(own.variables.decode(jnp.asarray(coordinates), jnp))
    expected = space.decode(coordinates)
    # Whole numbers may be rounded the other way where they are halves, up to single precision.
    np.testing.assert_allclose(seen[:, :2], expected[:, :2], rtol=2e-4)
    assert (np.abs(seen[:, 2] - expected[:, 2]) > 0).mean() < 0.02


def test_a_start_moves_the_search_and_not_the_tasks():
    task = OWN.draw(jax.random.key(0), (3, 3))
    started = started_at(OWN, np.array(X0), np.diag(SIGMA0))
    coordinates = jnp.zeros((1, 3))
    true, seen = started.observe(jax.random.key(1), task, coordinates)
    assert float(true[0]) == pytest.approx(sum(X0) + float(task[0]), rel=1e-5)
    assert float(seen[0]) == float(true[0])
    first = np.asarray(started.start(jax.random.key(2), 4000, 3))
    assert first.std() == pytest.approx(2.5, abs=4 * 2.5 / np.sqrt(2 * first.size))


def test_a_start_from_points_begins_with_them_and_draws_the_rest():
    points = np.array([X0, [1.0, -1.5, 8.0]])
    started = started_at(OWN, np.array(X0), np.diag(SIGMA0), points)
    first = started.start(jax.random.key(0), 5, 3)
    np.testing.assert_allclose(started.variables.decode(np.asarray(first, float))[:2], points, rtol=1e-4)
    around = started_at(OWN, np.array(X0), np.diag(SIGMA0)).start(jax.random.key(0), 5, 3)
    np.testing.assert_array_equal(first[2:], around[2:])


def test_noise_is_seen_and_not_judged_by():
    noisy = family(draw, evaluate, BOUNDS, noise=lambda key, values: values + jax.random.normal(key, values.shape))
    task, coordinates = noisy.draw(jax.random.key(0), (3, 3)), jnp.zeros((50, 3))
    true, seen = noisy.observe(jax.random.key(1), task, coordinates)
    assert len(set(np.asarray(true).tolist())) == 1
    assert len(set(np.asarray(seen).tolist())) == 50


def test_what_is_not_finite_is_the_worst():
    own = family(draw, lambda task, x: jnp.where(x[:, 1] > 1.5, -jnp.nan, x[:, 1]), BOUNDS)
    true, _ = own.observe(jax.random.key(0), None, jnp.array([[0.0, 4.0, 0.0], [0.0, -4.0, 0.0]]))
    assert np.isposinf(true[0])
    assert np.isfinite(true[1])


@pytest.mark.parametrize(
    ("bounds", "options", "sentence"),
    [
        ([(0.0, np.inf)], {}, "bounds must be a finite pair"),
        ([(1.0, 0.0)], {}, "lower end first"),
        ([(0.0, 1.0)], {"log_scale": True}, "log_scale needs a lower bound of more than 0"),
    ],
)
def test_impossible_bounds_are_refused(bounds, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        family(draw, evaluate, bounds, **options)


def test_a_family_is_found_in_a_file(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("import lga\nmine = lga.family(lambda key: key, lambda task, x: x[:, 0], [(0, 1)])\nother = 3\n")
    assert isinstance(find_family(f"{file}:mine"), Family)
    with pytest.raises(ValueError, match="has no family of that name"):
        find_family(f"{file}:other")
    with pytest.raises(ValueError, match="must be FILE.py:NAME"):
        find_family("nowhere.py:mine")
