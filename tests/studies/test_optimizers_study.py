"""The comparison with other packages counts evaluations exactly and never runs a search twice."""

import json

import pytest

from lga.studies import optimizers
from lga.studies.optimizers import (
    METHODS,
    NEVERGRAD,
    BudgetUsedError,
    Counted,
    OptimizersConfig,
    kept_runs,
    run,
    split_of,
)


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    out = tmp_path_factory.mktemp("study") / "optimizers.json"
    return OptimizersConfig(out=out, dims=(2,), instances=(16,), nevergrad_instances=(16,), functions=(1, 3))


@pytest.fixture(scope="module")
def report(config):
    return run(config)


def test_fourteen_of_the_functions_are_held_out():
    splits = [split_of(function) for function in OptimizersConfig().functions]
    assert (splits.count("hold-out"), splits.count("train")) == (14, 10)


@pytest.mark.slow
def test_every_method_is_measured_at_its_budgets(config, report):
    rows = {(row["split"], row["budget"], row["method"]) for row in report["rows"]}
    budgets = dict.fromkeys(METHODS, optimizers.BUDGETS) | {NEVERGRAD: config.nevergrad_budgets}
    assert rows == {
        (split, b, method) for split in ("train", "hold-out") for method in METHODS for b in budgets[method]
    }
    assert all(row["num_searches"] == 1 for row in report["rows"])


@pytest.mark.slow
def test_more_evaluations_are_never_worse_for_methods_that_do_not_know_their_budget(report):
    assert all(gaps == sorted(gaps, reverse=True) for gaps in report["runs"].values())


@pytest.mark.slow
def test_searches_that_were_done_are_not_run_again(config, report, monkeypatch):
    monkeypatch.setattr(optimizers, "search", lambda cell: pytest.fail(f"{cell.name} was run again"))
    assert run(config)["rows"] == report["rows"]


@pytest.mark.slow
def test_searches_with_other_weights_are_run_again(config, report):
    changed = json.loads(config.out.read_text())
    changed["identities"]["lga"] = "other weights"
    other = config.out.with_name("other.json")
    other.write_text(json.dumps(changed))
    assert set(report["runs"]) - set(kept_runs(other)) == {name for name in report["runs"] if name.startswith("lga,")}


def test_the_gap_is_noted_at_each_budget_and_no_evaluation_is_given_away():
    objective = Counted(function=1, instance=16, num_dims=2, budgets=(1, 2))
    for _ in range(4):
        objective([1.0, 1.0])
    assert len(objective.gaps) == 2
    with pytest.raises(BudgetUsedError):
        objective([0.0, 0.0])
