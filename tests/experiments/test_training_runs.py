import dataclasses
import json

import pytest
from rich.console import Console

from experiments.form import carry_out
from experiments.training_runs import EXPERIMENT, TrainingRunsSettings
from lga.meta.config import Scale
from lga.meta.train import train
from lga.meta.validate import ValidationProtocol, validator
from meta.tiny import TINY

SMALL = ValidationProtocol(("rastrigin",), scales=(Scale(3, 8, 5),), instances=(101,), num_seeds=2)


def summed_up(runs, out):
    settings = TrainingRunsSettings(runs, SMALL)
    return carry_out("training_runs", EXPERIMENT, settings, out, Console(quiet=True)).report


@pytest.mark.usefixtures("ranks_promoted")
def test_runs_are_summed_up_best_first_by_a_validation_that_all_share(tmp_path):
    for seed, function in enumerate(("sphere", "linear_slope")):
        config = dataclasses.replace(TINY, seed=seed, family=(function,), meta_generations=2, validate_every=1)
        train(config, tmp_path / "runs" / function)
    (tmp_path / "runs" / "linear_slope" / "final.safetensors").unlink()
    summed_up(tmp_path / "runs", tmp_path / "out")
    summaries = json.loads((tmp_path / "out" / "runs.json").read_text())
    assert {summary["run"]: set(summary["larger_validation"]) for summary in summaries} == {
        "sphere": {"best", "final"},
        "linear_slope": {"best"},
    }
    scores = [min(weights["score"] for weights in summary["larger_validation"].values()) for summary in summaries]
    assert scores == sorted(scores)
    inner = TINY.meta_population * TINY.num_tasks * TINY.num_generations[0] * 2
    assert summaries[0]["million_inner_generations"] == pytest.approx(inner / 1e6)
    assert summaries[0]["settings"]["meta_population"] == TINY.meta_population
    # Runs that are gone keep their rows.
    assert summed_up(tmp_path / "none", tmp_path / "out") == summaries


@pytest.mark.usefixtures("ranks_promoted")
def test_weights_are_validated_with_the_elite_ratio_that_they_were_trained_with(tmp_path):
    config = dataclasses.replace(TINY, elite_ratio=0.25, meta_generations=1, validate_every=1)
    theta = train(config, tmp_path / "runs" / "few-parents")
    (row,) = summed_up(tmp_path / "runs", tmp_path / "out")
    scores = [validator(SMALL, elite_ratio)(theta)["score"] for elite_ratio in (0.25, 1.0)]
    assert row["larger_validation"]["best"]["score"] == pytest.approx(scores[0])
    assert scores[0] != pytest.approx(scores[1])
