"""A summary of training runs: one row for each, in the `runs.json` of the folder that is written to.

Validation during a run is small, and the best of many small ones is partly luck. So the best and the last weights of
each run are validated once more, on more instances and seeds, and runs are compared by that. Runs that are no longer
there keep the row that they have.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import tyro
from rich.console import Console
from rich.progress import track
from rich.table import Table

from experiments.form import Experiment, Outcome
from lga.core.tree_io import json_form
from lga.meta.run_directory import BEST, FINAL, read_metrics, saved_config
from lga.meta.validate import ValidationProtocol, validator
from lga.operators.theta import Theta
from lga.tasks.bbob import FAMILIES
from lga.weights import load_theta

REPORT = "runs.json"
LARGER = ValidationProtocol(FAMILIES["large"], instances=tuple(range(101, 121)), num_seeds=8)


@dataclass(frozen=True)
class TrainingRunsSettings:
    runs: Path = Path("runs/training")
    """Folder of run directories of `lga train`, by the names that they are to be known under."""
    validation: tyro.conf.Suppress[ValidationProtocol] = field(default_factory=lambda: LARGER)


def summary_of(directory: Path, validator_for: Callable[[float], Callable[[Theta], dict[str, Any]]]) -> dict[str, Any]:
    """What the run's folder tells; its weights are validated with as many parents for each child as they grew with."""
    config, metrics = saved_config(directory), read_metrics(directory)
    validate = validator_for(config.elite_ratio)
    validated = [entry for entry in metrics if "validation" in entry]
    best = min(validated, key=lambda entry: entry["validation"]["score"])
    found = {name: directory / name for name in (BEST, FINAL) if (directory / name).exists()}
    again = {}
    for name, path in found.items():
        validation = validate(load_theta(path)[0])
        again[Path(name).stem] = {"score": validation["score"], "per_scale": validation["per_scale"]}
    return {
        "run": directory.name,
        "settings": json_form(asdict(config)),
        "meta_generations": metrics[-1]["meta_generation"],
        "million_inner_generations": sum(e["seconds"] * e["inner_generations_per_second"] for e in metrics) / 1e6,
        "minutes": sum(entry["seconds"] for entry in metrics) / 60,
        "best_meta_generation": best["meta_generation"],
        "score": best["validation"]["score"],
        "larger_validation": again,
    }


def run(settings: TrainingRunsSettings, out: Path, console: Console) -> Outcome:
    """Rows of the given runs, beside those that the report has already; the best first."""
    known = json.loads((out / REPORT).read_text()) if (out / REPORT).exists() else []
    rows = {row["run"]: row for row in known}
    # One for each elite ratio: to compile takes longer than to validate.
    validator_for = cache(lambda elite_ratio: validator(settings.validation, elite_ratio))
    folders = [path.parent for path in sorted(settings.runs.glob(f"*/{BEST}"))]
    for folder in track(folders, description="runs", console=console):
        rows[folder.name] = summary_of(folder, validator_for)
    report = sorted(rows.values(), key=lambda row: min(one["score"] for one in row["larger_validation"].values()))
    table = Table("run", "larger validation of the best weights, of the last weights")
    for row in report:
        table.add_row(row["run"], ", ".join(f"{one['score']:.3f}" for one in row["larger_validation"].values()))
    return Outcome(report, table)


EXPERIMENT = Experiment(
    "all training runs, compared by a larger validation than that of the runs",
    {
        "smoke": TrainingRunsSettings(validation=replace(LARGER, instances=(101,), num_seeds=1)),
        "paper": TrainingRunsSettings(),
    },
    run,
    report_name=REPORT,
)
