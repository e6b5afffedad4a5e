"""The notebooks, which are scripts, run from a clean start and end where they say."""

import runpy
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parent.parent / "docs" / "notebooks"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda name: runpy.run_path(str(NOTEBOOKS / f"{name}.py"))


def test_a_simulator_is_minimized_and_its_failures_are_survived(run, tmp_path):
    result = run("minimize_a_simulator")["result"]
    assert result.fun < 0.6
    assert result.failures["exception"] > 0
    assert (tmp_path / "throw.html").exists()


def test_a_model_is_tuned(run):
    assert run("tune_with_optuna")["study"].best_value < 0.03


def test_a_network_is_evolved(run):
    found = run("evolve_a_network")
    assert found["result"].fun < 0.01
    assert float(found["trace"].best_so_far[-1]) < 0.1


def test_all_notebooks_are_tested():
    tested = {"minimize_a_simulator", "tune_with_optuna", "evolve_a_network"}
    assert {path.stem for path in NOTEBOOKS.glob("*.py")} == tested
