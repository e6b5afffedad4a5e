"""Runs on neuroevolution tasks: every algorithm on every family, stopped and gone on with."""

import dataclasses

import jax
import numpy as np
import pytest

from lga.algorithms.presets import gaussian_ga
from lga.algorithms.run import compiled
from lga.bench import neuro
from lga.bench.neuro import (
    HAND_DESIGNED,
    Scale,
    cell_of,
    contender,
    evaluations_compiled,
    load_run,
    measured_run,
    scale_of,
)
from lga.neuroevolution import generation, mean_parent, start
from lga.operators.fold import theta_layout
from lga.operators.theta import ThetaConfig
from lga.tasks.neuro import TaskSize
from lga.tasks.registry import NEURO_TASKS, neuro_task
from lga.weights import EVOSAX_LGA, resolve
from tasks.neuro_samples import smoke_task

pytestmark = pytest.mark.usefixtures("ranks_promoted", "random_images")

WEIGHTS = {"zero": theta_layout(ThetaConfig())}
FAMILIES = [
    "digits",
    *(pytest.param(n, marks=pytest.mark.slow) for n in ("pendulum", "minatar-breakout", "hopper", "mnist")),
]
TINY = Scale(8, 6, 2, TaskSize(4, 20, num_steps=10), sigma0=0.1)


def run(task, entry, scale, file, seed=0, report=lambda done: None, name="digits"):
    return measured_run(name, task, entry, scale, seed, file, report)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_algorithm_runs_every_family(name, tmp_path):
    task, scale = evaluations_compiled(smoke_task(name)), scale_of(name, "smoke")
    for algorithm in (*HAND_DESIGNED, EVOSAX_LGA, "zero", "lga-1"):
        entry = contender(algorithm, scale, task.num_weights, WEIGHTS | {"lga-1": resolve("lga-1").theta})
        curve = run(task, entry, scale, tmp_path / f"{algorithm}.safetensors", name=name)
        assert curve.generations == [2, 3]
        assert np.isfinite(curve.elite + curve.mean_parent).all()


class StoppedError(Exception):
    pass


@pytest.mark.parametrize("algorithm", ["gesmr_ga", "sep_cma_es", "zero"])
def test_a_stopped_run_goes_on_where_it_was_and_ends_with_the_same_scores(algorithm, tmp_path, monkeypatch):
    monkeypatch.setattr(neuro, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    task = evaluations_compiled(neuro_task("digits", TINY.task))
    entry = contender(algorithm, TINY, task.num_weights, WEIGHTS)
    whole = run(task, entry, TINY, tmp_path / "whole.safetensors")
    seen = []

    def stop(done):
        seen.append(done)
        if done == 4:
            raise StoppedError

    with pytest.raises(StoppedError):
        run(task, entry, TINY, tmp_path / "parts.safetensors", report=stop)
    seen.clear()
    assert run(task, entry, TINY, tmp_path / "parts.safetensors", report=seen.append) == whole
    assert seen == [4, 5, 6]
    assert (tmp_path / "parts.safetensors").read_bytes() == (tmp_path / "whole.safetensors").read_bytes()


@pytest.mark.slow
def test_observation_statistics_are_part_of_a_stopped_run(tmp_path, monkeypatch):
    monkeypatch.setattr(neuro, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    scale = scale_of("hopper", "smoke")
    task = evaluations_compiled(smoke_task("hopper"))
    entry = contender("samr_ga", scale, task.num_weights, {})
    whole = run(task, entry, scale, tmp_path / "whole.safetensors", name="hopper")

    def stop(done):
        if done == 2:
            raise StoppedError

    with pytest.raises(StoppedError):
        run(task, entry, scale, tmp_path / "parts.safetensors", report=stop, name="hopper")
    saved = load_run(tmp_path / "parts.safetensors", cell_of("hopper", entry, scale, 0))
    assert saved.tensors["task_state.count"] > 0
    assert run(task, entry, scale, tmp_path / "parts.safetensors", name="hopper") == whole


def test_a_finished_run_is_not_run_again(tmp_path):
    task = neuro_task("digits", TINY.task)
    entry = contender("gaussian_ga", TINY, task.num_weights, {})
    file = tmp_path / "run.safetensors"
    curve = run(evaluations_compiled(task), entry, TINY, file)

    def forbidden(*_):
        raise AssertionError

    assert run(task._replace(evaluate=forbidden, test=forbidden), entry, TINY, file) == curve


def test_a_file_of_other_settings_is_not_trusted(tmp_path):
    task = evaluations_compiled(neuro_task("digits", TINY.task))
    entry = contender("gaussian_ga", TINY, task.num_weights, {})
    file = tmp_path / "run.safetensors"
    run(task, entry, TINY, file)
    other = dataclasses.replace(TINY, sigma0=0.2)
    assert load_run(file, cell_of("digits", entry, other, 0)).done == 0
    assert load_run(file, cell_of("digits", entry, TINY, 1)).done == 0
    assert load_run(file, cell_of("digits", entry, TINY, 0)).done == TINY.num_generations


def test_seeds_decide_the_scores(tmp_path):
    task = evaluations_compiled(neuro_task("digits", TINY.task))
    entry = contender("samr_ga", TINY, task.num_weights, {})
    first, again, other = (run(task, entry, TINY, tmp_path / f"{n}", seed) for n, seed in enumerate((0, 0, 1)))
    assert first == again
    assert first != other


def test_a_small_classifier_learns(tmp_path):
    scale = Scale(32, 60, 60, TaskSize(128, 1000), sigma0=0.05)
    task = evaluations_compiled(neuro_task("digits", scale.task))
    curve = run(task, contender("samr_ga", scale, task.num_weights, {}), scale, tmp_path / "run.safetensors")
    # A tenth is chance.
    assert curve.elite[-1] > 0.25


def test_the_mean_parent_is_the_centre_of_the_archive():
    task, algorithm = evaluations_compiled(neuro_task("digits", TINY.task)), compiled(gaussian_ga(8, 0.5))
    evolution = start(jax.random.key(0), algorithm, task, 0.1)
    assert float(np.abs(mean_parent(evolution.search)).max()) == 0.0
    evolution = generation(jax.random.key(1), algorithm, task, evolution)
    parents = evolution.search.parents
    np.testing.assert_allclose(mean_parent(evolution.search), np.mean(parents.solutions, axis=0), atol=1e-7)
    np.testing.assert_array_equal(evolution.elite, parents.solutions[np.argmin(parents.fitness)])


def test_the_papers_sizes_are_those_of_its_table():
    brax, minatar, mnist = (scale_of(name, "paper") for name in ("fetch", "minatar-asterix", "k-mnist"))
    assert (brax.num_children, brax.num_generations, brax.task.num_steps, brax.task.num_evaluations) == (
        256,
        2000,
        500,
        8,
    )
    assert (minatar.num_children, minatar.num_generations, minatar.task.num_evaluations) == (256, 4000, 16)
    assert (mnist.num_children, mnist.num_generations, mnist.task.num_evaluations) == (128, 4000, 1024)
    assert {entry.family for entry in NEURO_TASKS.values()} == set(neuro.SMALL) == set(neuro.SMOKE)


def test_unknown_algorithms_and_presets_are_named():
    with pytest.raises(ValueError, match="algorithm is 'adam', but must be one of"):
        contender("adam", TINY, 10, WEIGHTS)
    with pytest.raises(ValueError, match="preset is 'huge', but must be one of: paper, small, smoke"):
        scale_of("pendulum", "huge")
