"""Training in this process: what it learns, what it writes, what it refuses."""

import dataclasses
import json
import os

import jax
import numpy as np
import pytest

from lga.algorithms.presets import gaussian_ga
from lga.meta import train as training
from lga.meta.config import OBJECTIVES, PRESETS
from lga.meta.run_directory import BEST, CHECKPOINT, CONFIG, FINAL, RunDirectory, load_checkpoint, read_metrics
from lga.meta.train import drawn_scales, train
from lga.meta.validate import ValidationProtocol, algorithm_scorer, validator
from lga.operators.fold import theta_layout
from lga.operators.theta import config_of
from lga.weights import load_theta
from meta.tiny import TINY

# The meta-optimisers are evosax's.
pytestmark = pytest.mark.usefixtures("ranks_promoted")


def test_a_run_leaves_settings_metrics_checkpoint_and_weights(tmp_path):
    theta = train(TINY, tmp_path)
    assert json.loads((tmp_path / CONFIG).read_text())["meta_population"] == TINY.meta_population
    metrics = read_metrics(tmp_path)
    assert [entry["meta_generation"] for entry in metrics] == list(range(1, 31))
    assert [entry["meta_generation"] for entry in metrics if "validation" in entry] == [10, 20, 30]
    best, provenance = load_theta(tmp_path / BEST)
    assert jax.tree.all(jax.tree.map(lambda a, b: bool((a == b).all()), theta, best))
    scores = [entry["validation"]["score"] for entry in metrics if "validation" in entry]
    assert provenance["validation"]["score"] == min(scores)
    assert provenance["run"]["seed"] == TINY.seed
    assert load_theta(tmp_path / FINAL)[1]["meta_generation"] == 30


def test_a_longer_run_continues_a_shorter_one_bit_by_bit(tmp_path):
    train(TINY, tmp_path / "whole")
    train(dataclasses.replace(TINY, meta_generations=20), tmp_path / "parts")
    train(TINY, tmp_path / "parts", resume=True)
    assert (tmp_path / "whole" / CHECKPOINT).read_bytes() == (tmp_path / "parts" / CHECKPOINT).read_bytes()
    assert (tmp_path / "whole" / FINAL).read_bytes() == (tmp_path / "parts" / FINAL).read_bytes()


def test_other_settings_do_not_continue_a_run(tmp_path):
    train(dataclasses.replace(TINY, meta_generations=2), tmp_path)
    with pytest.raises(ValueError, match="its run had other settings: learning_rate was 0.01 and is 0.02 now"):
        train(dataclasses.replace(TINY, learning_rate=0.02), tmp_path, resume=True)


def test_a_directory_holds_one_run(tmp_path):
    first = RunDirectory(tmp_path, TINY, resume=False)
    with pytest.raises(ValueError, match="another run is at work there"):
        train(TINY, tmp_path, resume=True)
    first.close()
    with pytest.raises(ValueError, match="holds a run already: continue it with --resume"):
        train(TINY, tmp_path)


def test_there_must_be_a_run_to_resume(tmp_path):
    with pytest.raises(ValueError, match="holds no run to resume"):
        train(TINY, tmp_path, resume=True)


def test_a_full_disk_leaves_the_last_good_checkpoint(tmp_path, monkeypatch):
    directory = RunDirectory(tmp_path, TINY, resume=False)
    state = {"mean": np.arange(3.0)}
    directory.save_checkpoint(7, state, None)

    def no_space(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(
        OSError, match="could not be written .No space left on device.; the last good one is still there"
    ):
        directory.save_checkpoint(8, {"mean": np.zeros(3)}, None)
    generation, loaded, _ = load_checkpoint(tmp_path, state, TINY)
    assert generation == 7
    np.testing.assert_array_equal(loaded["mean"], state["mean"])
    assert not list(tmp_path.glob("*.partial"))
    directory.close()


def test_metrics_after_the_checkpoint_are_written_again(tmp_path, monkeypatch):
    train(dataclasses.replace(TINY, meta_generations=4), tmp_path)
    with open(tmp_path / "metrics.jsonl", "a") as file:
        file.write('{"meta_generation": 5}\n{"meta_gen')
    train(dataclasses.replace(TINY, meta_generations=6), tmp_path, resume=True)
    assert [entry["meta_generation"] for entry in read_metrics(tmp_path)] == [1, 2, 3, 4, 5, 6]
    assert all("seconds" in entry for entry in read_metrics(tmp_path))


def test_scales_are_drawn_from_their_ranges_by_the_seed_alone():
    config = dataclasses.replace(TINY, num_children=(8, 16, 32), num_generations=(5, 60), meta_generations=300)
    drawn = list(drawn_scales(config))
    assert drawn == list(drawn_scales(config))
    assert drawn != list(drawn_scales(dataclasses.replace(config, seed=1)))
    assert {scale.num_children for (scale,) in drawn} == {8, 16, 32}
    assert {scale.num_dims for (scale,) in drawn} == {3}
    assert min(scale.num_generations for (scale,) in drawn) == 5
    assert max(scale.num_generations for (scale,) in drawn) == 60


def test_all_scales_are_tried_in_each_meta_generation_with_horizons_log_uniform_up_to_their_own():
    config = dataclasses.replace(TINY, scales=("2x4x10-10", "5x6x10-1000"), meta_generations=300)
    drawn = list(drawn_scales(config))
    assert {(scale.num_dims, scale.num_children) for scale, _ in drawn} == {(2, 4)}
    assert {scale.num_generations for scale, _ in drawn} == {10}
    longer = np.array([scale.num_generations for _, scale in drawn])
    assert longer.min() >= 10
    assert longer.max() <= 1000
    # Half of the horizons lie below the geometric mean, up to four deviations.
    assert abs(np.mean(longer < 100) - 0.5) <= 4 * np.sqrt(0.25 / 300)


def test_drawn_budgets_train(tmp_path):
    train(dataclasses.replace(TINY, num_children=(4, 8), num_generations=(3, 9), meta_generations=6), tmp_path)
    assert {entry["scales"][0].split("x")[1] for entry in read_metrics(tmp_path)} == {"4", "8"}


@pytest.mark.usefixtures("ranks_promoted")
def test_a_shape_is_trained_at_several_scales(tmp_path):
    config = dataclasses.replace(
        TINY,
        learned=("select", "rate", "sample", "blend", "jitter", "shape"),
        search_space="compact",
        start="strategy",
        optimizer="cma_es",
        objective="anytime",
        normalization="soft",
        scales=("2x4x3-6", "2x4x6-8"),
        validation_scales=("2x4x8",),
        meta_generations=2,
        validate_every=1,
    )
    theta = train(config, tmp_path)
    assert config_of(theta) == config.theta_config
    validation = load_theta(tmp_path / BEST)[1]["validation"]
    assert list(validation["per_scale"]) == ["2x4x8"]


def improvement(config, path):
    """How much lower the median outcome of the last generations is than that of the first."""
    train(config, path)
    outcomes = [entry["median_log10_outcome"] for entry in read_metrics(path)]
    fifth = len(outcomes) // 5
    return np.mean(outcomes[:fifth]) - np.mean(outcomes[-fifth:])


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_objective_is_improved(tmp_path, objective):
    config = dataclasses.replace(TINY, objective=objective, meta_generations=100, search_space="folded")
    assert improvement(config, tmp_path) > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", ["snes", "pgpe", "sep_cma_es", "cma_es", "ga"])
def test_every_optimiser_improves_its_objective(tmp_path, optimizer):
    config = dataclasses.replace(TINY, optimizer=optimizer, meta_generations=100, search_space="folded")
    assert improvement(config, tmp_path) > 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    "learned",
    [("select",), ("rate",), ("sample",), ("cross",), ("sample", "cross"), ("select", "rate", "sample", "cross")],
)
def test_every_subset_of_operators_learns(tmp_path, learned):
    config = dataclasses.replace(TINY, learned=learned, meta_generations=150)
    assert improvement(config, tmp_path) > 0.0
    assert config_of(load_theta(tmp_path / BEST)[0]).learned == learned


@pytest.mark.slow
def test_training_beats_its_start_and_the_gaussian_ga(tmp_path):
    """Over three seeds, on validation tasks: instances, dimensions and population size that training never sees."""
    config = dataclasses.replace(PRESETS["laptop"], meta_population=32, num_tasks=16, meta_generations=100)
    protocol = ValidationProtocol(functions=config.functions)
    score = algorithm_scorer(protocol)
    gaussian = min(
        float(np.mean(np.asarray(scores(sigma))))
        for scores in [jax.jit(lambda s, rho=rho: score(lambda n: gaussian_ga(n, rho), s)) for rho in (0.0, 0.5)]
        for sigma in (0.05, 0.1, 0.25, 0.5, 1.0)
    )
    validate = validator(protocol)
    start = validate(theta_layout(config.theta_config))["score"]
    for seed in range(3):
        theta = train(dataclasses.replace(config, seed=seed), tmp_path / str(seed))
        reached = validate(theta)["score"]
        assert reached < start - 1.0
        assert reached < gaussian


def test_checkpoints_are_saved_on_the_way(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    seen = []
    config = dataclasses.replace(TINY, meta_generations=3)
    train(config, tmp_path, report=lambda entry: seen.append((tmp_path / CHECKPOINT).exists()))
    assert seen == [True, True, True]
