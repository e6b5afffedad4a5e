import dataclasses
import json

import pytest

from lga.meta.run_directory import read_metrics
from lga.meta.train import train
from lga.studies.training_runs import main
from meta.tiny import TINY


@pytest.mark.usefixtures("ranks_promoted")
def test_runs_are_summed_up_best_first(tmp_path):
    for seed in range(2):
        train(dataclasses.replace(TINY, seed=seed, meta_generations=2, validate_every=1), tmp_path / f"run-{seed}")
    main(tmp_path, TINY.functions)
    summaries = json.loads((tmp_path / "runs.json").read_text())
    assert {summary["run"] for summary in summaries} == {"run-0", "run-1"}
    assert summaries[0]["score"] <= summaries[1]["score"]
    inner = TINY.meta_population * TINY.num_tasks * TINY.num_generations[0] * 2
    assert summaries[0]["million_inner_generations"] == pytest.approx(inner / 1e6)


@pytest.mark.usefixtures("ranks_promoted")
def test_a_run_on_other_functions_is_scored_on_the_same_as_all(tmp_path):
    train(dataclasses.replace(TINY, meta_generations=1), tmp_path / "run")
    main(tmp_path, ("rastrigin",))
    (summary,) = json.loads((tmp_path / "runs.json").read_text())
    (own,) = [entry["validation"]["score"] for entry in read_metrics(tmp_path / "run") if "validation" in entry]
    assert TINY.functions != ("rastrigin",)
    assert summary["score"] > own + 0.5
