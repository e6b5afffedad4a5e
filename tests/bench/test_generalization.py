import dataclasses
import io
import json

import numpy as np
import pytest
from rich.console import Console

from bench.zero import ZERO
from experiments import tables
from lga.bench import searches
from lga.bench.generalization import Budget, Grid, baselines, compare, compare_budgets, horizons
from lga.weights import save_theta

TINY = Grid(
    functions=("sphere",),
    populations=(4,),
    dims=(2, 3),
    num_generations=3,
    long_population=4,
    long_dims=2,
    long_horizon=25,
    elite_ratios=(0.5,),
    sigmas=(0.1, 0.5),
    report_instances=(6,),
    report_seeds=2,
    matrix_dims=0,
)


def test_the_difference_is_to_the_best_of_the_others():
    curves = {"ours": np.full((2, 4, 3), 1e-2), "a": np.full((2, 4, 3), 1.0), "b": np.full((2, 4, 3), 1e-3)}
    outcome = compare(curves, "ours")
    assert outcome["best_baseline"] == "b"
    assert outcome["minus_best_baseline"]["mean"] == pytest.approx(1.0)
    assert outcome["minus_baselines"]["a"]["mean"] == pytest.approx(-2.0)


def test_intervals_are_over_functions_and_not_over_their_runs():
    """Two functions that differ, with any number of equal runs."""
    theirs = np.ones((2, 1, 1))
    ours = np.array([1e-1, 1e-3]).reshape(2, 1, 1)
    intervals = [
        compare({"ours": np.repeat(ours, runs, axis=1), "theirs": np.repeat(theirs, runs, axis=1)}, "ours")
        for runs in (1, 9)
    ]
    assert intervals[0]["minus_best_baseline"] == pytest.approx(intervals[1]["minus_best_baseline"])
    # Student's 97.5 % quantile of one degree of freedom, and a standard error of one.
    assert intervals[0]["minus_best_baseline"]["high"] == pytest.approx(-2.0 + 12.706, abs=1e-3)


def test_cma_es_with_a_full_matrix_is_a_baseline_in_few_dimensions():
    names = {d: {method.name for method in baselines(Grid(), Budget(8, d, 50))} for d in (40, 50)}
    assert names[40] - names[50] == {"CMA-ES"}
    assert len(names[50]) == 6


def test_horizons_end_with_the_longest():
    assert horizons(100) == [10, 25, 50, 100]


@pytest.mark.usefixtures("ranks_promoted")
def test_a_comparison_is_written_and_not_computed_twice(tmp_path, monkeypatch):
    screen, weights = Console(file=io.StringIO()), tmp_path / "zero.safetensors"
    save_theta(weights, ZERO.theta, {})
    report = compare_budgets(TINY, weights, tmp_path, screen)
    assert len(report["cells"]) == 2
    assert [row["num_generations"] for row in report["horizons"]] == [10, 25]
    assert tables.generalization(report).count("\n") == 3
    assert tables.horizons(report).count("zero") == 2
    assert {path.name for path in tmp_path.glob("*.png")} == {"heat_map.png", "long_horizon.png"}

    def no_searches(*_, **__):
        raise AssertionError("searched again")

    monkeypatch.setattr(searches, "searches_of", no_searches)
    assert compare_budgets(TINY, weights, tmp_path, screen) == report
    assert json.loads((tmp_path / "generalization.json").read_text())["weights"] == "zero"
    # Nor for a grid of fewer cells.
    fewer = dataclasses.replace(TINY, dims=(3,))
    assert compare_budgets(fewer, weights, tmp_path, screen)["cells"] == report["cells"][1:]
