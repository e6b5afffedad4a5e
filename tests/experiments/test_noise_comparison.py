"""The comparison under noise: NumPy's noise is the task family's, all methods meet the same, and true gaps are kept."""

import json
import shutil

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rich.console import Console
from scipy import stats

from experiments import comparison_tables, noise
from experiments.form import carry_out
from experiments.noise import (
    DISTURBANCES,
    EXPERIMENT,
    METHODS,
    REPORT,
    NoiseSettings,
    Noisy,
    groups,
    noisy_gap,
    searches,
    summaries,
)
from experiments.optimizers import BudgetUsedError, OptimizersSettings
from lga.tasks import bbob

DRAWS, NUM_DIMS = 4000, 5
# Among fifteen comparisons even the least p-value is rarely below this, if the distributions are equal.
LEAST_P = 0.05 / 15
SETTINGS = NoiseSettings(noise=("none", "cauchy_severe"), num_dims=2, instances=(26,), functions=(1, 3))


def study(out):
    return carry_out("noise", EXPERIMENT, SETTINGS, out, Console(quiet=True)).report


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("study")


@pytest.fixture(scope="module")
def report(out):
    return study(out)


def beside(point, step):
    return point + np.array([step, 0.0])


def in_numpy(name, gap):
    random = np.random.default_rng(0)
    return np.array([noisy_gap(name, random, gap, NUM_DIMS) for _ in range(DRAWS)])


def in_jax(name, gap):
    model = jax.jit(bbob.NOISE_MODELS[name])
    with jax.enable_x64(True):
        return np.asarray(model(jax.random.key(0), jnp.full(DRAWS, gap, jnp.float64), jnp.asarray(NUM_DIMS)))


@pytest.mark.parametrize("gap", [3e-7, 10.0, 2e9])
@pytest.mark.parametrize("name", DISTURBANCES)
def test_noise_has_the_distribution_of_the_task_familys(name, gap):
    ours, theirs = in_numpy(name, gap), in_jax(name, gap)
    assert stats.ks_2samp(ours, theirs).pvalue > LEAST_P
    # Where most values are equal, the others alone.
    rare = [np.abs(values - np.median(theirs)) > 1e-6 * np.median(theirs) for values in (ours, theirs)]
    chance = stats.fisher_exact([[np.sum(one), np.sum(~one)] for one in rare]).pvalue
    assert chance > LEAST_P
    if all(one.sum() > 100 for one in rare):
        assert stats.ks_2samp(ours[rare[0]], theirs[rare[1]]).pvalue > LEAST_P


@pytest.mark.parametrize("name", bbob.NOISE_MODELS)
def test_gaps_below_the_target_are_undisturbed_and_noise_alone_never_reaches_it(name):
    assert np.all(in_numpy(name, 9e-9) == 9e-9)
    assert np.all(in_numpy(name, 1.1e-8) > 1e-8)


def test_every_noise_model_is_compared():
    assert ["none", *DISTURBANCES] == list(bbob.NOISE_MODELS)
    assert len(groups(NoiseSettings())["all with noise"]) == 6


def test_instances_are_those_of_no_other_comparison():
    others = OptimizersSettings()
    assert not set(NoiseSettings().instances) & {*others.instances, *others.large_instances, *range(1, 16)}


def test_a_search_meets_the_same_noise_whoever_searches_and_other_searches_meet_other_noise():
    def values(instance):
        objective = Noisy("gaussian_severe", 1, instance, 2, (2,))
        return [objective([1.0, 1.0]) / objective.best for _ in range(4)]

    assert values(26) == values(26)
    assert not set(values(26)) & set(values(27))


def test_true_gaps_of_the_best_and_of_the_recommended_point_are_kept():
    objective = Noisy("none", 1, 26, 2, (1, 2, 3))
    optimum = np.array(objective.problem.optimum.x)
    objective.noise = "gaussian_severe"
    for step in (3.0, 2.0):
        objective(beside(optimum, step))
    objective(beside(optimum, 1.0))
    objective.recommend(beside(optimum, 0.5))
    objective(beside(optimum, 4.0))
    objective.recommend(beside(optimum, 20.0))
    objective(optimum)
    objective(beside(optimum, 5.0))
    with pytest.raises(BudgetUsedError):
        objective(optimum)
    assert objective.gaps == pytest.approx([4.0, 1.0, 0.0])
    assert objective.recommended_gaps[1] == pytest.approx(0.25)
    # What lies outside of the box is moved into it.
    assert objective.recommended_gaps[2] == pytest.approx((5.0 - optimum[0]) ** 2)


def test_methods_that_recommend_nothing_recommend_the_point_with_the_least_value():
    objective = Noisy("none", 1, 26, 2, (2,))
    optimum = np.array(objective.problem.optimum.x)
    for step in (3.0, 1.0, 2.0, 4.0):
        objective(beside(optimum, step))
    assert objective.recommended_gaps == objective.gaps == pytest.approx([1.0])


def test_differences_are_ours_minus_theirs_over_functions():
    theirs = {"best": [1.0, 0.0], "recommended": [2.0, 1.0]}
    ours = {"best": [0.5, -1.0], "recommended": [2.5, 1.0]}
    runs = {search.name: ours if search.method == "lga" else theirs for search in searches(SETTINGS)}
    rows = [row for row in summaries(SETTINGS, runs) if row["method"] == "pycma" and row["budget"] == 1000]
    assert {row["noise"] for row in rows} == {"all with noise", "none", "cauchy_severe"}
    for row in rows:
        assert row["best"]["ours_minus_theirs"]["mean"] == -1.0
        assert row["recommended"]["functions_won_by_ours"] == 0
    report = {"rows": list(summaries(SETTINGS, runs))}
    header, _, *lines = comparison_tables.noise(report).splitlines()
    assert len(lines) == len({(row["split"], row["budget"], row["noise"]) for row in report["rows"]})
    assert header.count("|") == 4 + len(METHODS)
    assert "| -1.00, 1 of 1 | +0.00, 0 of 1 |" in comparison_tables.noise_differences(report)
    assert comparison_tables.noise_models(report).count("\n") == 2 + 2 * 2


@pytest.mark.slow
def test_every_method_is_measured_at_both_budgets_and_the_best_is_never_worse_than_the_recommended(report):
    assert {row["method"] for row in report["rows"]} == set(METHODS)
    for gaps in report["runs"].values():
        assert all(len(gaps[measure]) == 2 for measure in noise.MEASURES)
        assert gaps["best"] == sorted(gaps["best"], reverse=True)
    kept = [gaps for name, gaps in report["runs"].items() if not name.startswith(("pycma", "lga reevaluate"))]
    assert all(best <= own for gaps in kept for best, own in zip(gaps["best"], gaps["recommended"], strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("lost", [REPORT, "cells"])
def test_searches_that_were_done_are_not_run_again(out, report, monkeypatch, tmp_path, lost):
    left = shutil.copytree(out, tmp_path / "left", ignore=shutil.ignore_patterns(lost))
    monkeypatch.setattr(noise, "METHODS", dict.fromkeys(METHODS, lambda *_: pytest.fail("run again")))
    assert study(left)["rows"] == report["rows"]


@pytest.mark.slow
def test_the_committed_report_decides_nothing_for_other_weights(out, report, monkeypatch, tmp_path):
    changed = {method: "other" if method.startswith("lga") else own for method, own in noise.identities().items()}
    (tmp_path / REPORT).write_text(json.dumps(report | {"identities": changed}))
    known = noise.known_runs(tmp_path / REPORT, noise.identities())
    assert set(report["runs"]) - set(known) == {name for name in report["runs"] if name.startswith("lga")}
