import dataclasses
import io
import json

import pytest
from rich.console import Console

from lga.meta.config import MetaConfig
from lga.studies import additions
from lga.studies.additions import VARIANTS, AdditionsConfig, additions_study
from meta.tiny import TINY


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_can_be_trained(name):
    assert MetaConfig(**{"search_space": "folded", **VARIANTS[name]}).learned[:2] == ("select", "rate")


@pytest.mark.usefixtures("ranks_promoted")
def test_finished_trainings_are_not_run_again(tmp_path, monkeypatch):
    two = {name: VARIANTS[name] for name in list(VARIANTS)[:2]}
    monkeypatch.setattr(additions, "VARIANTS", two)
    config = AdditionsConfig(dataclasses.replace(TINY, meta_generations=2, validate_every=1), num_seeds=1)
    report = additions_study(config, tmp_path / "runs", tmp_path, Console(file=io.StringIO()))
    assert [row["variant"] for row in report["rows"]] == list(two)
    assert all(len(row["scores"]) == 1 and len(row["scores"][0]) == 2 for row in report["rows"])
    assert (tmp_path / "additions.png").exists()

    def no_training(*_, **__):
        raise AssertionError("trained again")

    monkeypatch.setattr(additions, "train", no_training)
    again = additions_study(config, tmp_path / "runs", tmp_path, Console(file=io.StringIO()))
    assert again["rows"] == report["rows"]
    assert json.loads((tmp_path / "additions.json").read_text())["meta_generations"] == [1, 2]
