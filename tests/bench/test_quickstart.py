"""The whole quick start, small."""

import dataclasses
import io
import json

import pytest
from rich.console import Console

from lga.bench.quickstart import QuickstartConfig, quickstart
from lga.meta.config import PRESETS


@pytest.mark.slow
@pytest.mark.usefixtures("ranks_promoted")
def test_quick_start_writes_its_report(tmp_path):
    config = QuickstartConfig(
        training=dataclasses.replace(PRESETS["smoke"], meta_generations=5),
        num_dims=3,
        tuning_instances=(101,),
        test_instances=(1,),
        num_children=8,
        num_generations=5,
        num_seeds=2,
    )
    screen = io.StringIO()
    report = quickstart(config, tmp_path, Console(file=screen, width=160))
    assert {path.name for path in tmp_path.glob("*.png")} == {
        "training_curves.png",
        "convergence.png",
        "gaps_by_function.png",
    }
    assert json.loads((tmp_path / "report.json").read_text())["num_functions"] == 14
    assert len(report["rows"]) == 7
    assert "Sep-CMA-ES" in screen.getvalue()
