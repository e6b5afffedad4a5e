import dataclasses
import io
import json

import numpy as np
import pytest
from rich.console import Console

from lga.operators.fold import theta_layout
from lga.operators.theta import ThetaConfig
from lga.studies import generalisation, tables
from lga.studies.generalisation import Grid, compare, generalisation_study, horizons

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
)


def test_the_difference_is_to_the_best_of_the_others():
    curves = {"ours": np.full((2, 3), 1e-2), "a": np.full((2, 3), 1.0), "b": np.full((2, 3), 1e-3)}
    outcome = compare(curves, "ours")
    assert outcome["best_baseline"] == "b"
    assert outcome["minus_best_baseline"] == pytest.approx(1.0)


def test_horizons_end_with_the_longest():
    assert horizons(100) == [10, 25, 50, 100]


@pytest.mark.usefixtures("ranks_promoted")
def test_a_study_is_written_and_not_computed_twice(tmp_path, monkeypatch):
    theta, screen = theta_layout(ThetaConfig()), Console(file=io.StringIO())
    report = generalisation_study(TINY, "zero", theta, tmp_path, screen)
    assert len(report["cells"]) == 2
    assert [row["num_generations"] for row in report["horizons"]] == [10, 25]
    assert tables.generalisation(report).count("\n") == 3
    assert tables.horizons(report).count("zero") == 1
    assert {path.name for path in tmp_path.glob("*.png")} == {"heat_map.png", "long_horizon.png"}

    def no_searches(*_, **__):
        raise AssertionError("searched again")

    monkeypatch.setattr(generalisation, "searches", no_searches)
    assert generalisation_study(TINY, "zero", theta, tmp_path, screen) == report
    assert json.loads((tmp_path / "generalisation.json").read_text())["weights"] == "zero"
    # Nor for a grid of fewer cells.
    fewer = dataclasses.replace(TINY, dims=(3,))
    assert generalisation_study(fewer, "zero", theta, tmp_path, screen)["cells"] == report["cells"][1:]
