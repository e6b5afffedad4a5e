"""The layout of an OptunaHub package, loaded as OptunaHub does."""

import runpy
from pathlib import Path

import optuna
import pytest

optunahub = pytest.importorskip("optunahub")
REGISTRY = Path(__file__).parent.parent.parent / "package"
FOLDER = REGISTRY / "samplers" / "lga"


def test_the_package_has_the_files_that_the_registry_asks_for():
    head = (FOLDER / "README.md").read_text().split("---")[1]
    fields = [line.split(":")[0] for line in head.strip().splitlines()]
    assert fields == ["author", "title", "description", "tags", "optuna_versions", "license"]
    assert {"LICENSE", "__init__.py", "example.py", "tests"} <= {path.name for path in FOLDER.iterdir()}


def test_the_package_loads_and_its_example_ends_in_one_of_its_two_valleys():
    module = optunahub.load_local_module("samplers/lga", registry_root=str(REGISTRY))
    objective = runpy.run_path(str(FOLDER / "example.py"), run_name="example")["objective"]
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=module.LGASampler(seed=0))
    study.optimize(objective, n_trials=60)
    # One kind has 0 at its best, the other 0.5.
    assert study.best_value < 0.6
