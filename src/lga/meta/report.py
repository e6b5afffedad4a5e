"""The page of a training run, from its folder."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import jax
import numpy as np

from lga.core.files import write_atomically
from lga.core.tree_io import leaf_name
from lga.core.versions import versions
from lga.meta.run_directory import BEST, read_metrics, saved_config
from lga.operators.fold import fold
from lga.operators.theta import Theta
from lga.report.training import HeldOut, Matrix, TrainingRecord, training_page
from lga.weights import load_theta

PAGE = "report.html"
SCORE_NAMES = {"bbob": "mean log10 gap", "tuning": "mean of the best so far"}

FITNESS = ("better", "rank", "z-score")
FEATURES: dict[str, tuple[str, ...]] = {
    "select": (*FITNESS, "one"),
    "rate": (*FITNESS, "rate z", "rate", "one"),
    "sample": (*FITNESS, "age", "one"),
    "blend": (*FITNESS, "age", "one"),
    "cross": (*FITNESS, "place z", "to best", "one"),
}
"""What the folded forms of an operator are forms over."""


def write_training_page(
    directory: Path, scores: dict[str, dict[str, float]], to: Path | None = None, held_out: HeldOut | None = None
) -> Path:
    """Beside the run, unless told otherwise. `scores` are by method, the run's own first, and by function."""
    page = to or directory / PAGE
    write_atomically(page, training_page(training_record(directory, scores, held_out)).encode())
    return page


def training_record(
    directory: Path, scores: dict[str, dict[str, float]], held_out: HeldOut | None = None
) -> TrainingRecord:
    config, metrics = saved_config(directory), read_metrics(directory)
    theta, provenance = load_theta(directory / BEST)
    return TrainingRecord(
        title=f"Training run {directory.name}",
        facts={
            "validation score": f"{provenance['validation']['score']:.3f}",
            "found at meta-generation": f"{provenance['meta_generation']:,}",
            "meta-generations": f"{len(metrics):,}",
            "seconds": f"{sum(entry['seconds'] for entry in metrics):,.0f}",
        },
        metrics=metrics,
        scores=scores,
        score_name=SCORE_NAMES.get(config.tasks, "log2 of the evaluations over those that lga-2 needs"),
        matrices=matrices(theta),
        settings={name: text_of(value) for name, value in asdict(config).items()},
        versions=versions(),
        held_out=held_out,
    )


def matrices(theta: Theta) -> list[Matrix]:
    """The forms of each operator and head, and the other numbers of an operator one below the other."""
    found: list[Matrix] = []
    numbers: dict[str, list[tuple[str, np.ndarray]]] = {}
    for path, leaf in jax.tree_util.tree_flatten_with_path(fold(theta))[0]:
        operator, _, name = leaf_name(path).partition(".")
        values = np.asarray(leaf)
        if name in ("attend", "score"):
            features = FEATURES[operator]
            for head, form in enumerate(values, start=1):
                # A head that training does not use says nothing.
                if np.any(form):
                    found.append(Matrix(f"{operator}: {name}, head {head}", form, features, features))
        elif name == "value":
            heads = tuple(f"head {head + 1}" for head in range(len(values)))
            found.append(Matrix(f"{operator}: value", values.T, FEATURES[operator], heads))
        else:
            numbers.setdefault(operator, []).extend((name, row) for row in np.atleast_2d(values))
    return found + [in_rows(operator, rows) for operator, rows in numbers.items()]


def in_rows(operator: str, rows: list[tuple[str, np.ndarray]]) -> Matrix:
    width = max(row.size for _, row in rows)
    values = np.zeros((len(rows), width))
    for place, (_, row) in enumerate(rows):
        values[place, : row.size] = row
    return Matrix(operator, values, tuple(name for name, _ in rows), tuple(str(place + 1) for place in range(width)))


def text_of(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
    return text or "none"
