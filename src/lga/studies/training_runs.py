"""A summary of the committed training runs: `python -m lga.studies.training_runs` writes its `runs.json`."""

import json
from pathlib import Path
from typing import Any

from lga.meta.run_directory import BEST, read_metrics, saved_config
from lga.meta.validate import ValidationProtocol, validator
from lga.operators.theta import load_theta
from lga.tasks.bbob import FAMILIES

RUNS = Path("results/training")


def summary_of(directory: Path, functions: tuple[str, ...]) -> dict[str, Any]:
    config, metrics = saved_config(directory), read_metrics(directory)
    validated = [entry for entry in metrics if "validation" in entry]
    best = min(validated, key=lambda entry: entry["validation"]["score"])
    validation = best["validation"]
    if config.functions != functions:
        # A run is validated on the functions that it was trained on: its score becomes comparable here.
        validation = validator(ValidationProtocol(functions), config.elite_ratio)(load_theta(directory / BEST)[0])
    return {
        "run": directory.name,
        "seed": config.seed,
        "learned": config.learned,
        "search_space": config.search_space,
        "optimizer": config.optimizer,
        "meta_population": config.meta_population,
        "num_tasks": config.num_tasks,
        "family": config.family,
        "noise": config.noise,
        "objective": config.objective,
        "normalisation": config.normalisation,
        "mean_decay": config.mean_decay,
        "averaging": config.averaging,
        "dims": config.dims,
        "num_children": config.num_children,
        "num_generations": config.num_generations,
        "learning_rate": config.learning_rate,
        "meta_generations": metrics[-1]["meta_generation"],
        "million_inner_generations": sum(e["seconds"] * e["inner_generations_per_second"] for e in metrics) / 1e6,
        "minutes": sum(entry["seconds"] for entry in metrics) / 60,
        "best_meta_generation": best["meta_generation"],
        "score": validation["score"],
        "per_dims": validation["per_dims"],
    }


def main(runs: Path = RUNS, functions: tuple[str, ...] = FAMILIES["large"]) -> None:
    summaries = [summary_of(path.parent, functions) for path in runs.glob("*/metrics.jsonl")]
    summaries.sort(key=lambda summary: summary["score"])
    (runs / "runs.json").write_text(json.dumps(summaries, indent=1))


if __name__ == "__main__":
    main()
