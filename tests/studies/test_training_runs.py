import dataclasses
import json

import pytest

from lga.meta.train import train
from lga.studies.training_runs import main
from meta.tiny import TINY


@pytest.mark.usefixtures("ranks_promoted")
def test_runs_are_summed_up_best_first(tmp_path):
    for seed in range(2):
        train(dataclasses.replace(TINY, seed=seed, meta_generations=2, validate_every=1), tmp_path / f"run-{seed}")
    main(tmp_path)
    summaries = json.loads((tmp_path / "runs.json").read_text())
    assert {summary["run"] for summary in summaries} == {"run-0", "run-1"}
    assert summaries[0]["score"] <= summaries[1]["score"]
    inner = TINY.meta_population * TINY.num_tasks * TINY.num_generations[0] * 2
    assert summaries[0]["million_inner_generations"] == pytest.approx(inner / 1e6)
