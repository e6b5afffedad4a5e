"""Real runs under COCO's experiment module."""

import io
import subprocess
import sys

import pytest
from rich.console import Console

from lga.algorithms.presets import learned_ga
from lga.bench.coco import CocoSettings, problem_key, run_coco
from lga.operators.fold import theta_layout
from lga.operators.theta import ThetaConfig

SMALL = CocoSettings(dims=(2,), functions=(1,), instances=(1, 2), budget=40, num_children=8)


def logged(tmp_path, settings=SMALL):
    algorithm = learned_ga(theta_layout(ThetaConfig()), settings.num_children)
    return run_coco(algorithm, "zero", settings, tmp_path / "logs", Console(file=io.StringIO()))


def test_coco_logs_one_run_for_each_instance_within_the_budget(tmp_path):
    folder = logged(tmp_path)
    (info,) = folder.glob("*.info")
    text = info.read_text()
    assert "algId = 'zero'" in text
    runs = text.splitlines()[-1].split(", ")[1:]
    assert [run.split(":")[0] for run in runs] == ["1", "2"]
    evaluations = [int(run.split(":")[1].split("|")[0]) for run in runs]
    assert all(72 < count <= 80 for count in evaluations)


def test_a_problem_has_the_same_key_whatever_else_is_run():
    assert (problem_key(0, "bbob_f001_i01_d02") == problem_key(0, "bbob_f001_i01_d02")).all()
    assert (problem_key(0, "bbob_f001_i01_d02") != problem_key(0, "bbob_f002_i01_d02")).any()
    assert (problem_key(0, "bbob_f001_i01_d02") != problem_key(1, "bbob_f001_i01_d02")).any()


@pytest.mark.slow
def test_cocopp_takes_the_logs(tmp_path):
    folder = logged(tmp_path, CocoSettings(dims=(2, 3), functions=(1, 8), instances=(1, 2), budget=60, num_children=8))
    command = [sys.executable, "-m", "cocopp", "-o", str(tmp_path / "pictures"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert list((tmp_path / "pictures").rglob("*.html"))
