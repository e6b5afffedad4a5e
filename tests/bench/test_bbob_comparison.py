"""The BBOB comparison, small."""

import csv
import io
import json

import pytest
from rich.console import Console

from bench.zero import ZERO
from lga.bench import bbob
from lga.bench.bbob import BbobProtocol

SMALL = BbobProtocol(
    functions=("sphere", "linear_slope"),
    num_dims=3,
    num_children=8,
    num_generations=4,
    tuning_instances=(1,),
    tuning_seeds=1,
    report_instances=(6, 7),
    report_seeds=2,
)


def test_rules_and_peers_are_compared_tuned_and_as_they_come():
    settings = {method.name: len(method.settings) for method in bbob.roster(SMALL, [ZERO])}
    for name in ("distilled GA", "evosax's LearnedGA"):
        assert settings[name] == len(bbob.ELITE_RATIOS) * len(bbob.SIGMAS)
        assert settings[f"{name}, untuned"] == 1


@pytest.mark.slow
@pytest.mark.usefixtures("ranks_promoted")
def test_an_interrupted_comparison_goes_on_where_it_stopped(tmp_path, monkeypatch):
    def compare(folder):
        return bbob.compare_on_bbob(SMALL, [ZERO], folder, Console(file=io.StringIO(), width=160))

    whole = compare(tmp_path / "whole")
    stopped, calls = bbob.tune_and_measure, []

    def stops_after_three(*arguments):
        calls.append(arguments)
        if len(calls) > 3:
            raise KeyboardInterrupt
        return stopped(*arguments)

    monkeypatch.setattr(bbob, "tune_and_measure", stops_after_three)
    with pytest.raises(KeyboardInterrupt):
        compare(tmp_path / "parts")
    monkeypatch.undo()
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "parts" / "cells").iterdir()}
    assert before
    assert compare(tmp_path / "parts") == whole
    assert all(path.stat().st_mtime_ns == then for path, then in before.items())
    with open(tmp_path / "whole" / "runs.csv") as file:
        runs = list(csv.DictReader(file))
    assert len(runs) == len(whole["rows"]) * 2 * 2 * 2
    assert json.loads((tmp_path / "whole" / "summary.json").read_text()) == whole
    assert {path.name for path in (tmp_path / "whole").glob("*.png")} == {
        "ratio_to_gaussian.png",
        "curves.png",
        "profiles.png",
        "ranks.png",
    }
