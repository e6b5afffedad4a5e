"""A summary of the committed training runs: `python -m lga.studies.training_runs` writes its `runs.json`."""

import json
from pathlib import Path
from typing import Any

from lga.meta.run_directory import read_metrics, saved_config

RUNS = Path("results/training")


def summary_of(directory: Path) -> dict[str, Any]:
    config, metrics = saved_config(directory), read_metrics(directory)
    validated = [entry for entry in metrics if "validation" in entry]
    best = min(validated, key=lambda entry: entry["validation"]["score"])
    return {
        "run": directory.name,
        "learned": config.learned,
        "search_space": config.search_space,
        "optimizer": config.optimizer,
        "meta_population": config.meta_population,
        "num_tasks": config.num_tasks,
        "dims": config.dims,
        "num_children": config.num_children,
        "num_generations": config.num_generations,
        "learning_rate": config.learning_rate,
        "meta_generations": metrics[-1]["meta_generation"],
        "million_inner_generations": sum(e["seconds"] * e["inner_generations_per_second"] for e in metrics) / 1e6,
        "minutes": sum(entry["seconds"] for entry in metrics) / 60,
        "best_meta_generation": best["meta_generation"],
        "score": best["validation"]["score"],
        "per_dims": best["validation"]["per_dims"],
    }


def main(runs: Path = RUNS) -> None:
    summaries = [summary_of(path.parent) for path in runs.glob("*/metrics.jsonl")]
    summaries.sort(key=lambda summary: summary["score"])
    (runs / "runs.json").write_text(json.dumps(summaries, indent=1))


if __name__ == "__main__":
    main()
