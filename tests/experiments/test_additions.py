import dataclasses
import io
import json

import pytest
from rich.console import Console

from experiments import additions, variants
from experiments.additions import EXPERIMENT, VARIANTS
from experiments.form import carry_out
from experiments.shape_parts import VARIANTS as PARTS
from experiments.shape_parts import short_training
from experiments.variants import VariantsSettings
from lga.meta.config import MetaConfig
from lga.meta.search_space import search_space
from meta.tiny import TINY


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_can_be_trained(name):
    assert MetaConfig(**{"search_space": "folded", **VARIANTS[name]}).learned[:2] == ("select", "rate")


@pytest.mark.parametrize("name", PARTS)
def test_every_part_of_the_shape_can_be_left_out(name):
    config = dataclasses.replace(short_training(), **PARTS[name])
    assert (config == short_training()) == (name == "all parts")
    assert search_space(config).start.size <= search_space(short_training()).start.size


@pytest.mark.usefixtures("ranks_promoted")
def test_finished_trainings_are_not_run_again(tmp_path, monkeypatch):
    two = {name: VARIANTS[name] for name in list(VARIANTS)[:2]}
    monkeypatch.setattr(additions, "VARIANTS", two)
    # Devices and caches are set before JAX starts, and here it runs already.
    monkeypatch.setattr(variants, "use_cores", lambda: None)
    monkeypatch.setattr(variants, "use_compilation_cache", lambda: None)
    settings = VariantsSettings(
        dataclasses.replace(TINY, meta_generations=2, validate_every=1), num_seeds=1, runs=tmp_path / "runs"
    )

    def study():
        return carry_out("additions", EXPERIMENT, settings, tmp_path, Console(file=io.StringIO())).report

    report = study()
    assert [row["variant"] for row in report["rows"]] == list(two)
    assert all(len(row["scores"]) == 1 and len(row["scores"][0]) == 2 for row in report["rows"])
    assert (tmp_path / "additions.png").exists()

    def no_training(*_, **__):
        raise AssertionError("trained again")

    monkeypatch.setattr(variants, "train", no_training)
    assert study()["rows"] == report["rows"]
    assert json.loads((tmp_path / "additions.json").read_text())["meta_generations"] == [1, 2]
