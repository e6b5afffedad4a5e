"""The neuroevolution study, small."""

import io
import json

import pytest
from rich.console import Console

from lga.bench.neuro import scale_of
from lga.studies.neuro import neuro_study
from lga.studies.tables import RENDERERS

pytestmark = pytest.mark.usefixtures("ranks_promoted")


def test_a_study_writes_results_curves_and_a_table(tmp_path):
    screen = io.StringIO()
    algorithms = ["gaussian_ga", "mr15_ga"]
    scale = scale_of("digits", "smoke")
    report = neuro_study("digits", algorithms, {}, scale, 2, tmp_path, Console(file=screen, width=160))
    assert json.loads((tmp_path / "digits.json").read_text()) == report
    assert (tmp_path / "digits.png").stat().st_size > 0
    assert [row["algorithm"] for row in report["rows"]] == algorithms
    for row in report["rows"]:
        assert row["curves"]["elite"]["generations"] == [2, 3]
        assert row["final"]["elite"]["mean"] == pytest.approx(sum(row["per_seed"]["elite"]) / 2)
    assert "gaussian_ga" in screen.getvalue()
    settings, _, *table = RENDERERS["neuro"](report).splitlines()
    assert settings.startswith("1,370 weights, 2 seeds; 8 children, 3 generations")
    assert len(table) == 2 + len(algorithms)
    assert table[0].startswith("| algorithm | elite ratio | test accuracy of the elite (95 %)")


def test_a_study_needs_a_seed(tmp_path):
    with pytest.raises(ValueError, match="seeds is 0"):
        neuro_study("digits", ["mr15_ga"], {}, scale_of("digits", "smoke"), 0, tmp_path, Console(quiet=True))
