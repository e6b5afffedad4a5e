"""The neuroevolution comparison, small."""

import dataclasses
import io
import json

import pytest
from rich.console import Console

from experiments.tables import RENDERERS
from lga.bench.network_runs import scale_of
from lga.bench.neuro import compare_on_task, compared_methods
from tasks.neuro_samples import smoke_task

pytestmark = pytest.mark.usefixtures("ranks_promoted")
QUIET = Console(quiet=True)


def test_a_comparison_writes_results_curves_and_a_table(tmp_path):
    screen = io.StringIO()
    algorithms = ["gaussian_ga", "mr15_ga"]
    scale = scale_of("digits", "smoke")
    report = compare_on_task("digits", algorithms, scale, 2, tmp_path, Console(file=screen, width=160))
    assert json.loads((tmp_path / "digits.json").read_text()) == report
    assert (tmp_path / "digits.png").stat().st_size > 0
    assert [row["algorithm"] for row in report["rows"]] == ["Gaussian GA", "MR-1/5 GA"]
    for row in report["rows"]:
        assert row["curves"]["elite"]["generations"] == [2, 3]
        assert row["final"]["elite"]["mean"] == pytest.approx(sum(row["per_seed"]["elite"]) / 2)
    assert "Gaussian GA" in screen.getvalue()
    settings, _, *table = RENDERERS["neuro"](report).splitlines()
    assert settings.startswith("1,370 weights, 2 seeds; 8 children, 3 generations")
    assert len(table) == 2 + len(algorithms)
    assert table[0].startswith("| algorithm | elite ratio | test accuracy of the elite (95 %, over seeds)")


@pytest.mark.parametrize(
    ("task", "file", "beginning"),
    [
        ("pendulum", "pendulum_at_work.gif", b"GIF89a"),
        ("minatar-breakout", "minatar-breakout_at_work.gif", b"GIF89a"),
        ("digits", "digits_at_work.png", b"\x89PNG"),
        pytest.param("hopper", "hopper_at_work.html", b"\n<html>", marks=pytest.mark.slow),
    ],
)
def test_the_best_network_is_shown_at_work(tmp_path, task, file, beginning):
    screen = io.StringIO()
    console = Console(file=screen, width=300)
    compare_on_task(task, ["gaussian_ga"], scale_of(task, "smoke"), 1, tmp_path, console, render=True)
    assert (tmp_path / file).read_bytes().startswith(beginning)
    assert file in screen.getvalue()


def test_a_comparison_needs_a_seed(tmp_path):
    with pytest.raises(ValueError, match="seeds is 0"):
        compare_on_task("digits", ["mr15_ga"], scale_of("digits", "smoke"), 0, tmp_path, Console(quiet=True))


@pytest.mark.slow
def test_two_workers_find_what_one_finds(tmp_path):
    scale = dataclasses.replace(scale_of("digits", "smoke"), sigmas=(0.01, 0.1), tuning_seeds=1, tuning_generations=2)
    reports = [
        compare_on_task("digits", ["samr_ga"], scale, 2, tmp_path / str(workers), Console(quiet=True), workers=workers)
        for workers in (1, 2)
    ]
    assert reports[0] == reports[1]


def test_a_comparison_tells_what_it_costs(tmp_path):
    screen = io.StringIO()
    scale = dataclasses.replace(
        scale_of("digits", "smoke"), sigmas=(0.01, 0.1), tuning_seeds=1, tuning_generations=2, elite_ratios=(0.0, 1.0)
    )
    report = compare_on_task("digits", ["samr_ga", "open_es"], scale, 1, tmp_path, Console(file=screen, width=300))
    # Four settings of one and two of the other with two generations each; then three generations of both.
    assert report["evaluations"] == {"tuning": 8 * 6 * 2, "reported": 8 * 2 * 3}
    assert "48 networks to evaluate and 96 to tune by" in screen.getvalue()


def test_several_settings_are_tuned_over_with_seeds_that_are_not_reported(tmp_path):
    scale = dataclasses.replace(
        scale_of("digits", "smoke"), sigmas=(0.01, 0.1), elite_ratios=(0.0, 0.5), tuning_seeds=1
    )
    report = compare_on_task("digits", ["samr_ga", "sep_cma_es"], scale, 2, tmp_path, Console(quiet=True))
    assert [row["elite_ratio"] in options for row, options in zip(report["rows"], [(0.0, 0.5), (0.5,)], strict=True)]
    assert all(row["sigma0"] in scale.sigmas for row in report["rows"])
    # Four settings and two settings with one seed each, and twice the two seeds of the report.
    assert len(list((tmp_path / "cells").iterdir())) == 4 + 2 + 2 * 2


def test_rows_of_an_earlier_report_are_kept_and_those_made_anew_are_not(tmp_path):
    scale = scale_of("digits", "smoke")
    first = compare_on_task("digits", ["gaussian_ga", "lga-1"], scale, 2, tmp_path / "first", QUIET)
    second = compare_on_task(
        "digits", ["lga-1", "samr_ga"], scale, 2, tmp_path / "second", QUIET, earlier=tmp_path / "first"
    )
    assert [row["algorithm"] for row in second["rows"]] == ["Gaussian GA", "lga-1", "SAMR-GA"]
    assert second["rows"][:2] == first["rows"]
    assert json.loads((tmp_path / "second" / "digits.json").read_text())["rows"] == second["rows"]


def test_an_earlier_report_of_another_size_is_refused(tmp_path):
    scale = scale_of("digits", "smoke")
    compare_on_task("digits", ["gaussian_ga"], scale, 2, tmp_path / "first", QUIET)
    with pytest.raises(ValueError, match="num_seeds is 1, but was 2 in the earlier report"):
        compare_on_task("digits", ["lga-1"], scale, 1, tmp_path / "second", QUIET, earlier=tmp_path / "first")


def test_only_in_games_and_only_of_weights_that_blend_is_blending_tuned():
    def shares(task_name, name, preset="medium"):
        task = smoke_task("digits")
        [method] = compared_methods(task_name, task, [name], scale_of(task_name, preset))
        return method.best_shares, len(method.candidates)

    assert shares("minatar-breakout", "lga-net") == ((None, 0.25), 6)
    assert shares("minatar-breakout", "lga-net", "small") == ((None,), 1)
    assert shares("minatar-breakout", "lga-paper") == ((None,), 3)
    assert shares("minatar-breakout", "gaussian_ga") == ((None,), 12)
    assert shares("ant", "lga-net") == ((None,), 3)
