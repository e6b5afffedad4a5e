"""Who is ahead of whom on networks, from reports that are made up."""

import json

import numpy as np
import pytest
from rich.console import Console

from experiments import many_weights, network_hours, network_standings
from experiments.form import carry_out
from experiments.network_standings import EXPERIMENT, StandingsSettings, standings
from experiments.network_tables import NETWORKS
from lga.analysis import figures
from lga.bench.network_runs import SCALES
from lga.bench.statistics import mean_interval
from lga.tasks.registry import NEURO_TASKS

QUIET = Console(quiet=True)
SCORES = {
    "Gaussian GA": [0.2, 0.3, 0.4],
    "SAMR-GA": [0.5, 0.4, 0.6],
    "Sep-CMA-ES": [0.8, 0.9, 0.7],
    "evosax-lga": [0.6, 0.4, 0.5],
    "lga-1": [0.7, 0.5, 0.9],
}


def report(task):
    curve = {"generations": [5, 10], "mean": [0.1, 0.2], "low": [0.0, 0.1], "high": [0.2, 0.3]}
    rows = [
        {"algorithm": name, "per_seed": {"elite": scores}, "curves": {"elite": curve}}
        for name, scores in SCORES.items()
    ]
    return {"task": task, "score": "test accuracy", "rows": rows}


def test_leads_are_over_the_best_genetic_algorithm_and_paired_by_seed():
    (row,) = standings(report("digits"), ["lga-1", "lga-2"])
    assert row["best_genetic"] == "SAMR-GA"  # a strategy is none
    lead = mean_interval(np.subtract(SCORES["lga-1"], SCORES["SAMR-GA"]))
    assert row["ahead_of_genetic"] == lead._asdict()
    assert row["ahead_of_evosax"]["mean"] == pytest.approx(0.2)
    assert (row["place"], row["num_algorithms"]) == (2, 5)


def test_all_tasks_are_in_one_picture_and_one_table(tmp_path):
    for task in ("digits", "mnist", "pendulum", "hopper"):
        (tmp_path / f"{task}.json").write_text(json.dumps(report(task)))
    # What else lies there is no report of a task.
    (tmp_path / "other.json").write_text('{"rows": []}')
    settings = StandingsSettings(reports=tmp_path, ours=("lga-1",))
    found = carry_out("network_standings", EXPERIMENT, settings, tmp_path / "out", QUIET).report
    assert [row["task"] for row in found["rows"]] == ["digits", "hopper", "mnist", "pendulum"]
    assert (tmp_path / "out" / "curves.png").stat().st_size > 0
    table = NETWORKS["network_standings"](found).splitlines()
    assert table[0].startswith("| task | algorithm | best hand-designed GA | ahead of it by")
    assert table[2] == "| digits | lga-1 | SAMR-GA | +0.200 [-0.048, +0.448] | +0.200 [-0.230, +0.630] | 2 of 5 |"


def test_an_algorithm_has_one_colour_in_all_panels_whatever_their_order(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(figures, "save", lambda figure, path: drawn.append(figure))
    curve = {"generations": [1, 2], "mean": [0.0, 1.0], "low": [0.0, 0.5], "high": [0.5, 1.5]}
    panels = {"one": ("a", "b"), "two": ("c", "b", "a")}
    figures.learning_curves({title: dict.fromkeys(names, curve) for title, names in panels.items()}, tmp_path / "x.png")
    (figure,) = drawn
    lines = [line for axes in figure.axes for line in axes.lines]
    colors = {name: {line.get_color() for line in lines if line.get_label() == name} for name in "abc"}
    assert [len(own) for own in colors.values()] == [1, 1, 1]
    assert len(set.union(*colors.values())) == 3
    (legend,) = figure.legends
    told = zip(legend.get_lines(), legend.get_texts(), strict=True)
    assert {text.get_text(): {line.get_color()} for line, text in told} == colors


def test_leads_are_counted_by_their_mean_and_by_the_whole_interval():
    def row(name, mean, low, place, theirs=None):
        own = {"task": "", "algorithm": name, "place": place, "num_algorithms": 5, "ahead_of_evosax": theirs}
        return own | {"ahead_of_genetic": {"mean": mean, "low": low}}

    rows = [
        row("a", 0.2, 0.1, 1, {"mean": 1.0}),
        row("b", 0.3, 0.2, 1),
        row("a", 0.2, -0.1, 2),
        row("a", -0.1, -0.3, 5),
    ]
    assert network_standings.counts(rows) == [["a", "3", "2", "1", "1", "1"], ["b", "1", "1", "1", "0", "0"]]


def test_a_folder_without_reports_is_named(tmp_path):
    with pytest.raises(ValueError, match="holds no report"):
        network_standings.run(StandingsSettings(reports=tmp_path), tmp_path, QUIET)


def test_the_papers_twelve_tasks_have_a_size_of_each_preset():
    assert len(set(network_hours.PAPER_TASKS)) == 12
    for scales in SCALES.values():
        assert {NEURO_TASKS[task].family for task in network_hours.PAPER_TASKS} <= set(scales)


@pytest.mark.slow
@pytest.mark.usefixtures("ranks_promoted")
def test_algorithms_are_tuned_on_other_tasks_than_they_are_compared_on(tmp_path, monkeypatch):
    monkeypatch.setattr(many_weights, "use_compilation_cache", lambda: None)
    found = carry_out(
        "many_weights", many_weights.EXPERIMENT, many_weights.EXPERIMENT.presets["smoke"], tmp_path, QUIET
    )
    assert [row["method"] for row in found.report["rows"]] == ["lga-2", "SAMR-GA"]
    assert len(NETWORKS["many_weights"](found.report).splitlines()) == 4
    assert many_weights.TUNING_SEED != many_weights.TEST_SEED
