"""Many variables: the learned GA on both sides of the switch from a matrix to one scale per variable."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from experiments.form import Experiment, Outcome
from lga.bench.cells import outcome
from lga.bench.methods import HAND_DESIGNED, Method, Size, SuitedPopulation, as_shipped
from lga.bench.searches import Suite, gap_cell
from lga.bench.statistics import interval_text, mean_interval
from lga.core.compile_cache import use_compilation_cache
from lga.operators.shape import LARGEST_MATRIX
from lga.tasks import bbob
from lga.weights import resolve

OURS, ONE_SCALE_EACH = "lga-2", "lga-2, one scale per variable"
BASELINES = ("sep_cma_es", "gesmr_ga", "samr_ga")


@dataclass(frozen=True)
class ManyVariablesSettings:
    dims: tuple[int, ...] = (50, 100, 200, 400, 1000)
    functions: tuple[str, ...] = (
        "sphere",
        "ellipsoid_separable",
        "rastrigin_separable",
        "rosenbrock",
        "ellipsoid",
        "different_powers",
        "sharp_ridge",
        "schaffers_f7",
    )
    instances: tuple[int, ...] = (31, 32, 33)
    """COCO instances that nothing else uses."""
    evaluations_per_variable: int = 30
    baseline_sigma: float = 0.5


def roster(settings: ManyVariablesSettings, num_dims: int) -> Iterator[Method]:
    """Ours as shipped; where that has a matrix, also with one scale per variable; the others have its population."""
    weights = resolve()
    ours = replace(as_shipped(weights), name=OURS, population=SuitedPopulation(weights))
    yield ours
    if num_dims <= LARGEST_MATRIX:
        flat = resolve(replace(weights.theta, shape=None))
        yield replace(ours, name=ONE_SCALE_EACH, weights=replace(flat, provenance=weights.provenance))
    for name in BASELINES:
        method = HAND_DESIGNED[name]
        ratio = 0.0 if method.family == "genetic" else method.elite_ratio
        yield replace(method.at(ratio, settings.baseline_sigma), population=SuitedPopulation(weights))


def run(settings: ManyVariablesSettings, out: Path, console: Console) -> Outcome:
    use_compilation_cache()
    plan = [(num_dims, method) for num_dims in settings.dims for method in roster(settings, num_dims)]
    rows: list[dict[str, Any]] = []
    ours: np.ndarray | None = None
    for num_dims, method in track(plan, description="methods", console=console):
        suite = Suite(settings.functions, settings.instances, num_dims, num_seeds=1, seed=5)
        population = method.population(0, num_dims)
        size = Size(population, settings.evaluations_per_variable * num_dims // population - 1)
        best = outcome(gap_cell(method, size, suite), out / "cells")["best_so_far"]
        gaps = bbob.log10_gap(best[:, :, 0, -1])
        ours = gaps if method.name == OURS else ours
        assert ours is not None
        rows.append(
            {
                "num_dims": num_dims,
                "method": method.name,
                "num_children": population,
                "mean_log10_gap": float(gaps.mean()),
                "ours_minus_this": mean_interval((ours - gaps).mean(axis=1))._asdict(),
                "per_function": dict(zip(settings.functions, gaps.mean(axis=1).tolist(), strict=True)),
            }
        )
    return Outcome({"config": asdict(settings), "largest_matrix": LARGEST_MATRIX, "rows": rows}, summary(rows))


def summary(rows: list[dict[str, Any]]) -> Table:
    table = Table("D", "method", "mean log10 gap", "lga-2 minus method (95 %, over functions)")
    for row in rows:
        difference = "" if row["method"] == OURS else interval_text(row["ours_minus_this"], 2, signed=True)
        table.add_row(str(row["num_dims"]), row["method"], f"{row['mean_log10_gap']:.2f}", difference)
    return table


EXPERIMENT = Experiment(
    "many variables: lga on both sides of the switch from a matrix to one scale per variable",
    {
        "smoke": ManyVariablesSettings((4,), ("sphere", "rosenbrock"), (31,), evaluations_per_variable=12),
        "small": ManyVariablesSettings((50, 100), instances=(31,)),
        "paper": ManyVariablesSettings(),
    },
    run,
)
