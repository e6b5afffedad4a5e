"""Real runs under COCO's experiment module."""

import dataclasses
import io
import subprocess
import sys

import pytest
from rich.console import Console

from bench.zero import ZERO
from lga.bench.coco import CocoSettings, problem_key, run_coco
from lga.bench.methods import as_shipped, cma_population

SMALL = CocoSettings(dims=(2,), functions=(1,), instances=(1, 2), budget=40, num_children=8)
SHIPPED = as_shipped(ZERO)


def logged(tmp_path, settings=SMALL, method=SHIPPED):
    return run_coco(method, settings, tmp_path / "logs", Console(file=io.StringIO()))


def evaluations_logged(folder):
    (info,) = folder.glob("*.info")
    runs = info.read_text().splitlines()[-1].split(", ")[1:]
    return {run.split(":")[0]: int(run.split(":")[1].split("|")[0]) for run in runs}


def test_coco_logs_one_run_for_each_instance_within_the_budget(tmp_path):
    folder = logged(tmp_path)
    (info,) = folder.glob("*.info")
    assert "algId = 'zero'" in info.read_text()
    evaluations = evaluations_logged(folder)
    assert list(evaluations) == ["1", "2"]
    assert all(72 < count <= 80 for count in evaluations.values())


def test_a_method_has_its_own_population_under_coco(tmp_path):
    method = dataclasses.replace(SHIPPED, population=cma_population)
    # Six children in two dimensions: 13 generations within 80 evaluations.
    assert set(evaluations_logged(logged(tmp_path, method=method)).values()) == {78}


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
