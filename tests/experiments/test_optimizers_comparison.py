"""The comparison with other packages counts evaluations exactly and never runs a search twice."""

import json
import shutil
from collections import Counter
from dataclasses import replace
from itertools import product

import pytest
from rich.console import Console

from experiments import comparison_tables, optimizers
from experiments.form import carry_out
from experiments.optimizers import (
    EXPERIMENT,
    METHODS,
    NEVERGRAD,
    REPORT,
    BudgetUsedError,
    Counted,
    OptimizersSettings,
    identities,
    known_runs,
    searches,
    split_of,
    summaries,
)

SETTINGS = OptimizersSettings(dims=(2,), instances=(16,), nevergrad_dims=(2,), functions=(1, 3))
PAPER = OptimizersSettings()


def study(out):
    return carry_out("optimizers", EXPERIMENT, SETTINGS, out, Console(quiet=True)).report


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("study")


@pytest.fixture(scope="module")
def report(out):
    return study(out)


def test_fourteen_of_the_functions_are_held_out():
    splits = [split_of(function) for function in OptimizersSettings().functions]
    assert (splits.count("hold-out"), splits.count("train")) == (14, 10)


def test_all_searches_are_planned_once_and_large_ones_are_fewer():
    planned = list(searches(PAPER))
    assert len({search.name for search in planned}) == len(planned)
    counts = Counter((search.method, search.num_dims, search.budgets) for search in planned)
    quick = [method for method in METHODS if method != NEVERGRAD]
    assert all(counts[method, d, (100, 1000)] == 240 for method in quick for d in (5, 10, 20))
    assert all(counts[method, 40, (100, 1000)] == 48 for method in quick)


def test_nevergrad_has_the_searches_that_are_short_enough():
    sizes = {(search.num_dims, search.budgets) for search in searches(PAPER) if search.method == NEVERGRAD}
    assert sizes == {(5, (100,)), (5, (1000,)), (10, (100,)), (10, (1000,)), (20, (100,))}


def test_a_method_without_searches_has_an_empty_cell():
    gaps = {("lga", 1, 16, d, 100): -1.0 for d in (5, 40)} | {(NEVERGRAD, 1, 16, 5, 100): 0.5}
    rows = list(summaries(replace(PAPER, functions=(1,)), gaps))
    assert [line.split(" | ")[-1] for line in comparison_tables.optimizers({"rows": rows}).splitlines()[2:]] == [
        "0.50 |",
        " |",
    ]


@pytest.mark.slow
def test_the_number_of_processes_changes_nothing(report, tmp_path):
    settings = replace(SETTINGS, functions=(1,), workers=2)
    there = carry_out("optimizers", EXPERIMENT, settings, tmp_path, Console(quiet=True)).report
    assert there["runs"] == {name: report["runs"][name] for name in there["runs"]}


@pytest.mark.slow
def test_every_method_is_measured_at_its_budgets(report):
    rows = {(row["split"], row["budget"], row["method"]) for row in report["rows"]}
    assert rows == set(product(("train", "hold-out"), optimizers.BUDGETS, METHODS))
    assert all(row["num_searches"] == 1 for row in report["rows"])


@pytest.mark.slow
def test_more_evaluations_are_never_worse_for_methods_that_do_not_know_their_budget(report):
    assert all(gaps == sorted(gaps, reverse=True) for gaps in report["runs"].values())


@pytest.mark.slow
@pytest.mark.parametrize("lost", [REPORT, "cells"])
def test_searches_that_were_done_are_not_run_again(out, report, monkeypatch, tmp_path, lost):
    """The report alone is enough, and so are the cells."""
    left = shutil.copytree(out, tmp_path / "left", ignore=shutil.ignore_patterns(lost))
    monkeypatch.setattr(optimizers, "METHODS", dict.fromkeys(METHODS, lambda *_: pytest.fail("run again")))
    assert study(left)["rows"] == report["rows"]


@pytest.mark.slow
def test_searches_with_other_weights_are_run_again(report, tmp_path):
    changed = report | {"identities": report["identities"] | {"lga": "other weights"}}
    (tmp_path / REPORT).write_text(json.dumps(changed))
    known = known_runs(tmp_path / REPORT, identities())
    assert set(report["runs"]) - set(known) == {name for name in report["runs"] if name.startswith("lga,")}


def test_the_gap_is_noted_at_each_budget_and_no_evaluation_is_given_away():
    objective = Counted(function=1, instance=16, num_dims=2, budgets=(1, 2))
    for _ in range(4):
        objective([1.0, 1.0])
    assert len(objective.gaps) == 2
    with pytest.raises(BudgetUsedError):
        objective([0.0, 0.0])
