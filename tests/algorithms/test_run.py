import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lga.algorithms.presets import cma_es, gesmr_ga, learned_ga, samr_ga, sep_cma_es
from lga.algorithms.run import compiled, run
from lga.algorithms.strategies import evosax_learned_ga, open_es
from lga.operators.features import fitness_features
from lga.operators.theta import ThetaConfig
from samples import random_archive, random_theta, sphere

N, D, T = 8, 6, 12
START = random_archive(1, N, D).solutions
KEY_SEED = 3
STRATEGIES = {"cma_es": compiled(cma_es(16)), "sep_cma_es": compiled(sep_cma_es(16))}


def searched(algorithm, evaluate=sphere, solutions=START, **settings):
    return run(jax.random.key(KEY_SEED), algorithm, evaluate, solutions, 0.5, T, **settings)


def test_trees_of_solutions_are_searched_as_their_flat_vectors():
    tree = {"bias": START[:, :2], "kernel": START[:, 2:].reshape(N, 2, 2)}

    def evaluate_tree(key, solutions):
        assert solutions["kernel"].shape[1:] == (2, 2)
        return jnp.sum(solutions["bias"] ** 2, axis=1) + jnp.sum(solutions["kernel"] ** 2, axis=(1, 2))

    flat_state, flat_trace = searched(samr_ga(N))
    tree_state, tree_trace = searched(samr_ga(N), evaluate_tree, tree)
    np.testing.assert_allclose(tree_trace.best_so_far, flat_trace.best_so_far, rtol=1e-5)
    np.testing.assert_allclose(tree_state.parents.solutions, flat_state.parents.solutions, rtol=1e-5, atol=1e-6)


def test_the_trace_tells_best_so_far_and_what_failed():
    def fails_outside(key, solutions):
        return jnp.where(jnp.max(jnp.abs(solutions), axis=1) > 1.5, jnp.nan, sphere(key, solutions))

    state, trace = searched(samr_ga(N), fails_outside)
    assert trace.best_so_far.shape == trace.generation_best.shape == trace.mean_sigma.shape == (T,)
    assert np.all(np.diff(trace.best_so_far) <= 0)
    assert np.all(trace.best_so_far <= trace.generation_best)
    assert trace.best_so_far[-1] == state.best_fitness
    before = int(jnp.sum(jnp.isnan(fails_outside(None, START))))
    assert before + trace.failures.sum() == state.progress.failures
    assert trace.failures.sum() > 0
    assert trace.records is None


def test_records_hold_every_generation_whole():
    state, trace = searched(learned_ga(random_theta(1, ThetaConfig(("select",))), N, 0.5), record=True)
    records = trace.records
    assert records.parents.solutions.shape == (T, 4, D)
    assert records.offspring.solutions.shape == (T, N, D)
    assert records.parent_index.shape == (T, N)
    assert records.survivor_index.shape == (T, 4)
    assert records.best_before.shape == (T,)
    # The survivors of one generation are the parents of the next.
    union = np.concatenate([records.offspring.fitness, records.parents.fitness], axis=1)
    survived = np.take_along_axis(union, np.asarray(records.survivor_index), axis=1)
    np.testing.assert_array_equal(survived[:-1], records.parents.fitness[1:])
    np.testing.assert_array_equal(survived[-1], state.parents.fitness)
    np.testing.assert_array_equal(records.best_before[1:], trace.best_so_far[:-1])
    np.testing.assert_array_equal(np.min(records.offspring.fitness, axis=1), trace.generation_best)


def test_improvements_tell_which_child_beats_which_parent():
    _, trace = searched(gesmr_ga(N), record=True)
    improvements, records = np.asarray(trace.records.improvements), trace.records
    assert improvements.shape == (T, 4, N)
    for t, e, n in [(0, 0, 0), (0, 3, 5), (T - 1, 2, 7), (4, 1, 1)]:
        assert improvements[t, e, n] == (records.offspring.fitness[t, n] < records.parents.fitness[t, e])
    assert 0 < improvements.mean() < 1


def test_recording_does_not_change_the_search():
    plain, _ = searched(samr_ga(N))
    recorded, _ = searched(samr_ga(N), record=True)
    np.testing.assert_allclose(recorded.parents.solutions, plain.parents.solutions, rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("ranks_promoted")
@pytest.mark.parametrize("failing", [(), (0, 1, 2, 3, 40)], ids=["nothing fails", "whole generations fail"])
@pytest.mark.parametrize("name", STRATEGIES)
def test_evolution_strategies_solve_the_sphere_even_if_whole_generations_fail(name, failing):
    algorithm = STRATEGIES[name]
    start = 2.0 + random_archive(2, 16, 10).solutions
    fitness = jnp.full(16, jnp.nan) if failing else sphere(None, start)
    state = algorithm.init(jax.random.key(0), start, fitness, 1.0)
    for number in range(100 + len(failing)):
        key_ask, key_tell = jax.random.split(jax.random.key(number))
        children, state = algorithm.ask(key_ask, state)
        fitness = jnp.full(16, jnp.nan) if number in failing else sphere(None, children.solutions)
        state = algorithm.tell(key_tell, state, children, fitness)
    assert state.progress.failures == (16 * (len(failing) + 1) if failing else 0)
    assert np.all(np.isfinite(state.mean if name == "cma_es" else state.strategy.mean))
    assert state.best_fitness < 1e-3


@pytest.mark.usefixtures("ranks_promoted")
def test_openes_keeps_its_rate_and_takes_steps_of_adam():
    algorithm, rate = compiled(open_es(16)), 0.3
    state = algorithm.init(jax.random.key(0), jnp.ones((16, 10)), jnp.zeros(16), rate)
    for number in range(60):
        key_ask, key_tell = jax.random.split(jax.random.key(number))
        children, state = algorithm.ask(key_ask, state)
        np.testing.assert_allclose(children.sigma, rate)
        # Mirrored around the mean.
        np.testing.assert_allclose(jnp.mean(children.solutions, axis=0), state.strategy.mean, atol=1e-5)
        before = state.strategy.mean
        state = algorithm.tell(key_tell, state, children, sphere(None, children.solutions))
        # A step is at most a few times the learning rate, whatever the scale of fitness.
        assert float(jnp.max(jnp.abs(state.strategy.mean - before))) < 0.03
    assert float(sphere(None, state.strategy.mean[None])[0]) < 6.0  # of 10 at the start
    with pytest.raises(ValueError, match="num_children is 7, but must be even"):
        open_es(7)


def test_a_compiled_ask_hands_the_parents_over_without_a_copy():
    # As many children as parents: arrays of the same shape, so the wrong one could be handed over.
    algorithm = compiled(samr_ga(N, elite_ratio=1.0))
    state = algorithm.init(jax.random.key(0), START, jnp.arange(float(N)), 0.1)
    before = state.parents.solutions.unsafe_buffer_pointer()
    children, state = algorithm.ask(jax.random.key(1), state)
    assert state.parents.solutions.unsafe_buffer_pointer() == before
    assert children.solutions.unsafe_buffer_pointer() != before


@pytest.mark.usefixtures("ranks_promoted")
@pytest.mark.parametrize("build", [samr_ga, lambda n: learned_ga(random_theta(1), n), sep_cma_es, evosax_learned_ga])
def test_without_an_evaluated_start_the_first_generation_is_the_first_that_is_evaluated(build):
    seen = []

    def evaluate(key, solutions):
        seen.append(solutions.shape[0])
        return sphere(key, solutions)

    state, trace = searched(build(N), evaluate, evaluate_start=False)
    assert seen == [N]  # traced once, in the loop
    assert state.progress.evaluations == N * T
    assert state.progress.failures == 0
    assert trace.best_so_far[0] == trace.generation_best[0]


def test_children_of_an_archive_that_was_not_evaluated_are_all_better_than_the_best():
    algorithm = learned_ga(random_theta(1), N)
    state = algorithm.init(jax.random.key(0), START, None, 0.5)
    np.testing.assert_array_equal(state.parents.solutions, START)
    children, state = algorithm.ask(jax.random.key(1), state)
    assert np.all(fitness_features(sphere(None, children.solutions), state.best_fitness)[:, 0] == 1)
