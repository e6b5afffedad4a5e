"""Every preset searches: the registry is walked, so that a newcomer is met here too."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import lga
from lga.algorithms.presets import ALGORITHMS, gesmr_ga, learned_ga, random_search
from lga.algorithms.run import run
from lga.operators.theta import PAPERS, ThetaConfig
from samples import random_archive, random_theta, sphere

N = 8
START = random_archive(1, N, 4).solutions


def build(name: str):
    arguments = {"num_children": N}
    if "weights" in inspect.signature(ALGORITHMS[name]).parameters:
        arguments["weights"] = random_theta(0)
    return ALGORITHMS[name](**arguments)


@pytest.mark.usefixtures("ranks_promoted")
@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_preset_searches_and_never_forgets_its_best(name):
    algorithm = build(name)
    state, trace = run(jax.random.key(0), algorithm, sphere, START, 0.5, 20)
    assert np.all(np.diff(trace.best_so_far) <= 0)
    assert state.best_fitness <= np.min(sphere(None, START))
    assert sphere(None, state.best_solution[None])[0] == pytest.approx(float(state.best_fitness), rel=1e-5)
    assert state.progress.evaluations == N * 21
    assert state.progress.generation == 20
    assert np.all(np.isfinite(trace.mean_sigma))


def test_the_package_offers_every_preset():
    assert set(ALGORITHMS) <= set(lga.__all__)
    assert all(getattr(lga, name) is function for name, function in ALGORITHMS.items())


@pytest.mark.parametrize("learned", PAPERS)
def test_any_operator_can_be_the_only_learned_one(learned):
    theta = random_theta(2, ThetaConfig((learned,)))
    _, trace = run(jax.random.key(0), learned_ga(theta, N, 0.5), sphere, START, 0.5, 5)
    assert np.all(np.isfinite(trace.best_so_far))


def test_random_search_stays_in_its_box_and_keeps_one_parent():
    algorithm = random_search(N, 1.0, 2.0)
    assert algorithm.num_parents == 1
    state = algorithm.init(jax.random.key(0), START, sphere(None, START), 0.5)
    children, _ = algorithm.ask(jax.random.key(1), state)
    assert np.all((children.solutions >= 1) & (children.solutions <= 2))


def test_there_are_as_many_groups_as_members_in_each_unless_told():
    rate_state = gesmr_ga(16).init(jax.random.key(0), START, sphere(None, START), 0.5).rate_state
    assert rate_state.shape == (4,)


def test_children_of_the_best_start_there_by_turns_and_as_they_are():
    """With hardly any mutation a child is its parent."""
    algorithm = learned_ga("lga-net", 8, best_share=0.25)
    solutions = jnp.tile(jnp.arange(8.0)[:, None], (1, 300))
    state = algorithm.init(jax.random.key(0), solutions, jnp.arange(8.0), 1e-6)
    children, _ = algorithm.ask(jax.random.key(1), state)
    np.testing.assert_allclose(children.solutions[:, 0], [0, 1] * 4, atol=1e-4)
    blends, _ = learned_ga("lga-net", 8).ask(jax.random.key(1), state)
    assert np.abs(blends.solutions[:, 0] - np.round(blends.solutions[:, 0])).max() > 0.1
