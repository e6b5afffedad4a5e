"""Runs on neuroevolution tasks: every algorithm on every family, stopped and gone on with."""

import dataclasses
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bench.zero import ZERO
from lga.algorithms.presets import gaussian_ga, learned_ga
from lga.algorithms.run import compiled
from lga.bench import network_runs
from lga.bench.cells import outcome
from lga.bench.methods import HAND_DESIGNED, as_shipped, methods_named
from lga.bench.network_runs import (
    Curve,
    Run,
    Scale,
    evaluations_compiled,
    measured_run,
    run_cell,
    scale_of,
    unfinished,
    usual_judging,
)
from lga.bench.neuro import ALGORITHMS
from lga.core.tree_io import json_form
from lga.neuroevolution import ONCE, RATES_KEPT_UP, Judging, generation, mean_parent, start
from lga.tasks.network_task import TaskSize
from lga.tasks.registry import NEURO_TASKS, neuro_task
from tasks.neuro_samples import smoke_task

pytestmark = pytest.mark.usefixtures("ranks_promoted", "random_images")

FAMILIES = [
    "digits",
    *(pytest.param(n, marks=pytest.mark.slow) for n in ("pendulum", "minatar-breakout", "hopper", "mnist")),
]
TINY = Scale(8, 6, 2, TaskSize(4, 20, num_steps=10), sigmas=(0.1,))


def planned(method, scale=TINY, seed=0, name="digits"):
    """A run with the first setting of the scale."""
    method = as_shipped(ZERO) if method == "zero" else HAND_DESIGNED.get(method, method)
    method = method.over(scale.elite_ratios, scale.sigmas)
    size = method.size(scale.num_children, scale.num_generations, num_dims=10)
    return Run(name, scale.task, method, size, scale.test_every, seed)


def measured(task, run, file, report=lambda done: None):
    return measured_run(task, run, file, report)[0]


@pytest.mark.parametrize("name", FAMILIES)
def test_every_algorithm_runs_every_family(name, tmp_path):
    task, scale = evaluations_compiled(smoke_task(name)), scale_of(name, "smoke")
    for method in (*methods_named(ALGORITHMS, task.num_weights), "zero"):
        curve = measured(task, planned(method, scale, name=name), tmp_path / "checkpoint")
        assert curve.generations == [2, 3]
        assert np.isfinite(curve.elite + curve.mean_parent).all()


class StoppedError(Exception):
    pass


def stopping_at(number):
    def stop(done):
        if done == number:
            raise StoppedError

    return stop


@pytest.mark.parametrize("algorithm", ["gesmr_ga", "sep_cma_es", "zero"])
def test_a_stopped_run_goes_on_where_it_was_and_ends_with_the_same_scores(algorithm, tmp_path, monkeypatch):
    monkeypatch.setattr(network_runs, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    task, run = evaluations_compiled(neuro_task("digits", TINY.task)), planned(algorithm)
    whole = measured(task, run, tmp_path / "whole")
    with pytest.raises(StoppedError):
        measured(task, run, tmp_path / "parts", stopping_at(4))
    seen = []
    assert measured(task, run, tmp_path / "parts", seen.append) == whole
    assert seen == [4, 5, 6]


@pytest.mark.slow
def test_observation_statistics_are_part_of_a_stopped_run(tmp_path, monkeypatch):
    monkeypatch.setattr(network_runs, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    task = evaluations_compiled(smoke_task("hopper"))
    run = planned("samr_ga", scale_of("hopper", "smoke"), name="hopper")
    whole = measured(task, run, tmp_path / "whole")
    with pytest.raises(StoppedError):
        measured(task, run, tmp_path / "parts", stopping_at(2))
    _, _, leaves = unfinished(tmp_path / "parts", json_form(run_cell(run).key))
    assert leaves["task_state.count"] > 0
    assert measured(task, run, tmp_path / "parts") == whole


def test_a_finished_run_is_not_run_again(tmp_path, monkeypatch):
    run = planned("gaussian_ga")
    found = outcome(run_cell(run), tmp_path)
    monkeypatch.setattr(network_runs, "measured_run", lambda *_: pytest.fail("run again"))
    again = outcome(run_cell(run), tmp_path)
    assert [again[name].tolist() for name in Curve._fields] == [found[name].tolist() for name in Curve._fields]


def test_a_checkpoint_of_another_run_is_not_trusted(tmp_path, monkeypatch):
    monkeypatch.setattr(network_runs, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    task, run = evaluations_compiled(neuro_task("digits", TINY.task)), planned("gaussian_ga")
    measured(task, run, tmp_path / "run")

    def done(run):
        return unfinished(tmp_path / "run", json_form(run_cell(run).key))[0]

    assert done(planned("gaussian_ga", dataclasses.replace(TINY, sigmas=(0.2,)))) == 0
    assert done(planned("gaussian_ga", seed=1)) == 0
    assert done(run) == TINY.num_generations - 1


def test_seeds_decide_the_scores(tmp_path):
    task = evaluations_compiled(neuro_task("digits", TINY.task))
    first, again, other = (
        measured(task, planned("samr_ga", seed=seed), tmp_path / f"{number}") for number, seed in enumerate((0, 0, 1))
    )
    assert first == again
    assert first != other


def test_a_small_classifier_learns(tmp_path):
    scale = Scale(32, 60, 60, TaskSize(128, 1000), sigmas=(0.05,))
    task = evaluations_compiled(neuro_task("digits", scale.task))
    # A tenth is chance.
    assert measured(task, planned("samr_ga", scale), tmp_path / "run").elite[-1] > 0.25


def test_a_cell_can_be_sent_to_another_process():
    cell = run_cell(planned("zero"))
    assert pickle.loads(pickle.dumps(cell)).key == cell.key


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
    assert {entry.family for entry in NEURO_TASKS.values()} == set(network_runs.SMALL) == set(network_runs.SMOKE)


def test_runs_that_tune_are_shorter_and_else_the_same():
    scale = scale_of("minatar-breakout", "medium")
    short = scale.for_tuning
    assert (short.num_generations, short.test_every) == (scale.tuning_generations, scale.tuning_generations)
    assert dataclasses.replace(short, num_generations=scale.num_generations, test_every=scale.test_every) == scale
    assert TINY.for_tuning == TINY


def test_unknown_presets_are_named():
    with pytest.raises(ValueError, match="preset is 'huge', but must be one of: medium, paper, small, smoke"):
        scale_of("pendulum", "huge")


@pytest.mark.parametrize("least_rate", [0.0, 0.3])
def test_no_rate_falls_below_its_share_of_the_initial_one(least_rate):
    """A search that starts at the best of all networks has no use for rates."""
    task = smoke_task("digits")
    bowl = task._replace(evaluate=lambda key, state, genomes: (jnp.sum(genomes**2, axis=1), state))
    algorithm = compiled(learned_ga("lga-paper", 16))
    evolution = start(jax.random.key(0), algorithm, bowl, 0.1)
    for number in range(30):
        evolution = generation(jax.random.key(number), algorithm, bowl, evolution, Judging(least_rate=least_rate))
    lowest = float(evolution.search.parents.sigma.min())
    assert lowest >= np.float32(least_rate) * np.float32(0.1) if least_rate else lowest < 0.03


def test_rates_of_our_learned_weights_alone_are_kept_up_and_for_policies_alone():
    methods = list(methods_named(ALGORITHMS, 100))
    kept_up = {method.name for method in methods if usual_judging("hopper", method) == RATES_KEPT_UP}
    assert kept_up == {"lga-paper", "lga-1", "lga-net"}
    assert {usual_judging("hopper", method) for method in methods if method.name not in kept_up} == {ONCE}
    assert {usual_judging(name, method) for name in ("mnist", "digits") for method in methods} == {ONCE}
