"""What all neuroevolution tasks have in common, and what makes each family what it is."""

import dataclasses
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lga.bench.network_runs import scale_of
from lga.tasks import brax_v1
from lga.tasks.control import gymnax_environment
from lga.tasks.network_task import TaskSize, members_at_once
from lga.tasks.registry import NEURO_TASKS, neuro_task
from lga.tasks.vision import cross_entropy
from tasks.neuro_samples import ALL_TASKS, smoke_task

# gymnax, brax and evosax add vectors to matrices.
pytestmark = pytest.mark.usefixtures("ranks_promoted", "random_images")


def genomes_for(task, number=3):
    return 0.3 * jax.random.normal(jax.random.key(7), (number, task.num_weights))


@pytest.mark.parametrize("name", ALL_TASKS)
def test_fitness_is_fixed_by_the_key_and_the_same_for_each_member_alone(name):
    task = smoke_task(name)
    genomes = genomes_for(task)
    evaluate = jax.jit(task.evaluate)
    fitness, state = evaluate(jax.random.key(0), task.init(), genomes)
    assert np.isfinite(np.asarray(fitness)).all()
    assert len(set(np.asarray(fitness).tolist())) > 1 or name.startswith("minatar")
    again, _ = evaluate(jax.random.key(0), task.init(), genomes)
    np.testing.assert_array_equal(fitness, again)
    other, _ = evaluate(jax.random.key(1), state, genomes)
    assert np.isfinite(np.asarray(other)).all()
    assert not np.array_equal(fitness, other) or name.startswith("minatar")
    alone = jnp.concatenate([evaluate(jax.random.key(0), task.init(), genome[None])[0] for genome in genomes])
    np.testing.assert_allclose(fitness, alone, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("name", ["pendulum", "digits"])
def test_a_small_memory_budget_changes_nothing_but_the_chunks(name):
    size = TaskSize(num_evaluations=2, num_tests=20, num_steps=20)
    tight = dataclasses.replace(size, memory_gib=1e-9)
    genomes = genomes_for(neuro_task(name, size), 5)
    outcomes = [
        jax.jit(task.evaluate)(jax.random.key(0), task.init(), genomes)[0]
        for task in (neuro_task(name, size), neuro_task(name, tight))
    ]
    np.testing.assert_allclose(*outcomes, rtol=1e-4)


@pytest.mark.parametrize("name", ["pendulum", "digits"])
def test_a_genome_of_the_wrong_length_is_refused(name):
    task = smoke_task(name)
    with pytest.raises(ValueError, match=rf"this task's network has {task.num_weights} weights"):
        task.evaluate(jax.random.key(0), task.init(), jnp.zeros((2, task.num_weights + 1)))


def test_an_unknown_task_is_refused_with_the_names_of_all():
    with pytest.raises(ValueError, match=r"task is 'pong', but must be one of: .*ur5e"):
        neuro_task("pong", TaskSize(1, 1))


@pytest.mark.parametrize(
    ("name", "module"), [("pendulum", "gymnax"), ("hopper", "brax.v1"), ("ant-spring", "brax"), ("digits", "sklearn")]
)
def test_a_missing_package_is_named_with_the_extra_that_has_it(name, module, monkeypatch):
    for loaded in [other for other in sys.modules if other == module or other.startswith(f"{module}.")]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"pip install 'lga\[neuro\]'"):
        neuro_task(name, TaskSize(1, 1))


@pytest.mark.parametrize(("name", "num_weights"), [("minatar-breakout", 51_923), ("mnist", 11_274)])
def test_networks_have_the_sizes_of_the_paper(name, num_weights):
    assert smoke_task(name).num_weights == num_weights


def test_accuracy_is_the_share_of_right_answers():
    task = neuro_task("digits", TaskSize(8, 10_000))
    # Only the last bias is set: the answer is always 3.
    genome = jnp.zeros(task.num_weights).at[-7].set(1.0)
    from sklearn.datasets import load_digits

    labels = load_digits().target[::5]
    scores = jax.jit(task.test)(jax.random.key(0), task.init(), genome[None])
    np.testing.assert_allclose(scores, [np.mean(labels == 3)], rtol=1e-6)


def test_cross_entropy_is_minus_the_log_of_the_right_answers_probability():
    logits = jnp.log(jnp.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]]))
    np.testing.assert_allclose(cross_entropy(logits, jnp.array([0, 1])), -(np.log(0.7) + np.log(0.1)) / 2, rtol=1e-6)


def test_a_pendulum_that_stands_upright_loses_nothing():
    environment = gymnax_environment("pendulum", "Pendulum-v1")
    env_state, _ = environment.reset(jax.random.key(0))
    upright = env_state.replace(theta=jnp.float32(0.0), theta_dot=jnp.float32(0.0))
    _, observation, reward, _ = environment.step(jax.random.key(0), upright, jnp.float32(0.0))
    assert float(reward) == 0.0
    np.testing.assert_allclose(observation, [1.0, 0.0, 0.0], atol=1e-6)


def test_members_fill_the_budget_unless_they_take_turns_on_a_cpu():
    assert members_at_once(2**20, 1.0, take_turns=False) == 1024
    assert members_at_once(2**40, 1.0, take_turns=False) == 1
    if jax.default_backend() == "cpu":
        assert members_at_once(2**20, 1.0, take_turns=True) == 1


@pytest.mark.parametrize("name", ["mnist", "minatar-breakout"])
def test_a_generation_of_the_papers_size_takes_less_than_four_gib(name):
    scale = scale_of(name, "paper")
    task = neuro_task(name, scale.task)
    genomes = jax.ShapeDtypeStruct((scale.num_children, task.num_weights), jnp.float32)
    program = jax.jit(task.evaluate).lower(jax.random.key(0), task.init(), genomes).compile()
    memory = program.memory_analysis()
    assert memory.temp_size_in_bytes + memory.argument_size_in_bytes + memory.output_size_in_bytes < 4 * 2**30


def test_names_that_jax_has_are_left_alone(monkeypatch):
    mark = object()
    monkeypatch.setattr(brax_v1.batching, "BatchTracer", mark, raising=False)
    brax_v1.restore_batch_tracer()
    assert brax_v1.batching.BatchTracer is mark


def test_the_name_that_jax_dropped_is_put_back(monkeypatch):
    monkeypatch.delattr(brax_v1.batching, "BatchTracer", raising=False)
    brax_v1.restore_batch_tracer()
    seen = []
    jax.vmap(lambda x: seen.append(isinstance(x, brax_v1.batching.BatchTracer)) or x)(jnp.zeros(2))
    assert seen == [True]


def test_every_task_of_the_paper_is_there():
    assert set(NEURO_TASKS) == {
        *("pendulum", "hopper", "halfcheetah", "walker2d", "fetch", "ur5e"),
        *("ant", "grasp", "reacher", "swimmer"),
        *("hopper-spring", "halfcheetah-spring", "walker2d-spring", "ant-spring"),
        *("minatar-spaceinvaders", "minatar-breakout", "minatar-asterix"),
        *("mnist", "fashion-mnist", "k-mnist", "mnist-14", "digits"),
    }


@pytest.mark.parametrize("field", ["num_evaluations", "num_tests", "num_steps"])
def test_sizes_must_be_positive(field):
    with pytest.raises(ValueError, match=f"{field} is 0"):
        dataclasses.replace(TaskSize(1, 1), **{field: 0})


@pytest.mark.slow
def test_brax_statistics_count_what_was_acted_on_and_change_what_the_policy_sees():
    task = smoke_task("hopper")
    genomes = genomes_for(task, 4)
    evaluate = jax.jit(task.evaluate)
    _, state = evaluate(jax.random.key(0), task.init(), genomes)
    # Four members, two episodes each, at most 20 steps.
    assert 0 < float(state.count) <= 4 * 2 * 20
    fresh, _ = evaluate(jax.random.key(1), task.init(), genomes)
    later, _ = evaluate(jax.random.key(1), state, genomes)
    assert not np.array_equal(fresh, later)
