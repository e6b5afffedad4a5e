"""A summary of the committed training runs: `python -m lga.studies.training_runs` writes its `runs.json`.

Validation during a run is small, and the best of many small ones is partly luck. So the best and the last weights of
each run are validated once more, on more instances and seeds, and runs are compared by that.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.progress import track

from lga.meta.run_directory import BEST, FINAL, read_metrics, saved_config
from lga.meta.validate import ValidationProtocol, validator
from lga.operators.theta import Theta
from lga.tasks.bbob import FAMILIES
from lga.weights import load_theta

RUNS = Path("results/training")
LARGER = ValidationProtocol(FAMILIES["large"], instances=tuple(range(101, 121)), num_seeds=8)


def summary_of(directory: Path, validate: Callable[[Theta], dict[str, Any]]) -> dict[str, Any]:
    config, metrics = saved_config(directory), read_metrics(directory)
    validated = [entry for entry in metrics if "validation" in entry]
    best = min(validated, key=lambda entry: entry["validation"]["score"])
    found = {name: directory / name for name in (BEST, FINAL) if (directory / name).exists()}
    again = {}
    for name, path in found.items():
        validation = validate(load_theta(path)[0])
        again[Path(name).stem] = {"score": validation["score"], "per_scale": validation["per_scale"]}
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
        "normalisation": config.normalization,
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
        "score": best["validation"]["score"],
        "larger_validation": again,
    }


def main(runs: Path = RUNS, protocol: ValidationProtocol = LARGER) -> None:
    validate = validator(protocol)
    folders = [path.parent for path in sorted(runs.glob("*/metrics.jsonl"))]
    summaries = [summary_of(folder, validate) for folder in track(folders, description="runs")]
    summaries.sort(key=lambda summary: min(weights["score"] for weights in summary["larger_validation"].values()))
    (runs / "runs.json").write_text(json.dumps(summaries, indent=1))


if __name__ == "__main__":
    main()
