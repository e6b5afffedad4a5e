"""The paper's studies, in their smallest size: real runs, a report that tables can be made of, and pictures."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from experiments import (
    bbob_detail,
    distillation,
    engines,
    generalization,
    robustness,
    ties,
    transfer,
    unshipped,
    variants,
)
from experiments.__main__ import find
from experiments.bbob_detail import functions_won
from experiments.form import carry_out
from experiments.study_tables import STUDIES, mean_ratio
from experiments.sweep import PAPER, SMALL
from experiments.ties import shared_ranks
from lga.meta.config import MetaConfig

QUIET = Console(quiet=True)
TRAININGS = (
    "regularization",
    "ablation",
    "attention_size",
    "task_families",
    "meta_optimizers",
    "meta_objectives",
)
PICTURES = {
    "selection": ["selection.png"],
    "reverse_engineering": ["reverse_engineering_lga-paper.png"],
    "generalization": ["generalization.png"],
    "bbob_detail": ["bbob_detail_n4_d2.png"],
    "transfer": ["transfer.png"],
    "robustness": ["robustness_pendulum.png"],
    "distillation": ["distillation.png"],
    "ties": [],
    "engines": [],
    "unshipped": [],
    "gesmr": [],
}
RENDERERS = {
    "generalization": "budgets",
    "bbob_detail": "bbob_wins",
    "engines": "mean_gaps",
    "unshipped": "mean_gaps",
}


@pytest.fixture
def no_compilation_cache(monkeypatch):
    # Caches are set before JAX starts, and here it runs already.
    for module in (bbob_detail, distillation, engines, unshipped, generalization, robustness, transfer, variants):
        monkeypatch.setattr(module, "use_compilation_cache", lambda: None)
    monkeypatch.setattr(variants, "use_cores", lambda: None)


def in_folder(settings, folder: Path):
    """Whatever the settings keep on disk is kept there."""
    kept = {name: folder / name for name in ("cells", "runs") if hasattr(settings, name)}
    return dataclasses.replace(settings, **kept)


@pytest.mark.slow
@pytest.mark.usefixtures("ranks_promoted", "no_compilation_cache")
@pytest.mark.parametrize("name", PICTURES)
def test_a_study_runs_and_its_table_can_be_rendered(name, tmp_path):
    experiment = find(name)
    carry_out(name, experiment, in_folder(experiment.presets["smoke"], tmp_path), tmp_path, QUIET)
    report = json.loads((tmp_path / f"{name}.json").read_text())
    table = STUDIES[RENDERERS.get(name, name)](report)
    assert len(table.splitlines()) >= 2 + len(report["rows"])
    assert all((tmp_path / picture).exists() for picture in PICTURES[name])


@pytest.mark.slow
@pytest.mark.usefixtures("ranks_promoted", "no_compilation_cache")
def test_trainings_that_studies_share_are_run_once(tmp_path, monkeypatch):
    def study(name, **changes):
        experiment = find(name)
        settings = dataclasses.replace(in_folder(experiment.presets["smoke"], tmp_path), **changes)
        return carry_out(name, experiment, settings, tmp_path, QUIET).report

    first = study("regularization")
    trained = len(list((tmp_path / "runs").iterdir()))
    assert trained == len(first["rows"]) == 3
    assert (tmp_path / "regularization.png").exists()
    assert len(STUDIES["training_study"](first).splitlines()) == 5
    shared = study("meta_objectives", finished_only=True)
    assert [row["variant"] for row in shared["rows"]] == ["minN-finalT"]
    both = study("meta_objectives")
    assert len(list((tmp_path / "runs").iterdir())) == trained + 3
    assert both["rows"][0]["panels"] == first["rows"][0]["panels"]


@pytest.mark.parametrize("name", TRAININGS)
def test_the_first_variant_of_every_training_study_is_the_papers_recipe(name):
    variants_of = __import__(f"experiments.{name}", fromlist=["VARIANTS"]).VARIANTS
    assert next(iter(variants_of.values())) == {}
    for changes in variants_of.values():
        for preset in (PAPER, SMALL):
            assert isinstance(dataclasses.replace(preset.training, **changes), MetaConfig)


def test_a_study_of_which_nothing_is_finished_cannot_be_looked_at(tmp_path):
    settings = dataclasses.replace(SMALL, runs=tmp_path, finished_only=True)
    with pytest.raises(ValueError, match="no training of this study is finished"):
        variants.trained({"recipe": {}}, settings, QUIET)


def test_functions_are_won_by_the_least_gap():
    gaps = {"a": {"f": 1.0, "g": 2.0, "h": 0.0}, "b": {"f": 0.5, "g": 3.0, "h": 1.0}}
    assert functions_won(gaps, ["f", "g", "h"]) == {"a": 2, "b": 1}


def test_shared_ranks_are_equal_for_equals_and_symmetric():
    np.testing.assert_allclose(shared_ranks(np.array([1.0, 1.0, 0.0, 2.0])), [0, 0, -0.5, 0.5])


def test_the_papers_measure_is_the_mean_of_ratios():
    gaps, reference = {"f": 0.0, "g": -2.0}, {"f": 0.0, "g": -1.0}
    assert mean_ratio(gaps, reference, ["f", "g"]) == pytest.approx((1.0 + 0.1) / 2)


def test_the_share_of_the_gain_is_one_for_the_learned_ga_and_zero_for_the_reference():
    functions = ("sphere", "sharp_ridge")
    gaps = {name: np.full((2, 3, 1), level) for name, level in (("gaussian", 2.0), ("learned", 1.0), ("rules", 1.1))}
    rows = distillation.compared(gaps, functions)
    assert [row["share_of_gain"] for row in rows] == [None, 1.0, pytest.approx(0.9)]


def test_the_engines_that_are_compared_on_ties_have_the_same_size():
    sizes = {algorithm.num_parents for algorithm in ties.engines(ties.TiesSettings(num_children=6)).values()}
    assert sizes == {6}
