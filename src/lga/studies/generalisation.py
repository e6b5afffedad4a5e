"""Beyond the budgets of training: other population sizes, dimensions and horizons, beside the best tuned baseline."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np
from rich.console import Console
from rich.progress import track

from lga.analysis import figures
from lga.bench.bbob import cached, slug
from lga.bench.protocol import Method, baselines, learned
from lga.bench.searches import searches
from lga.bench.statistics import log10_gaps
from lga.core.tree_io import digest, json_form
from lga.operators.theta import Theta
from lga.tasks import bbob

TUNING_SEED, REPORT_SEED = 1000, 2000


@dataclass(frozen=True)
class Grid:
    """Fewer settings and runs than in the main comparison, because there are many cells."""

    functions: tuple[str, ...] = tuple(bbob.FUNCTIONS)
    populations: tuple[int, ...] = (8, 16, 32, 64, 128, 256)
    dims: tuple[int, ...] = (2, 5, 10, 20, 50, 100)
    num_generations: int = 50
    long_population: int = 32
    long_dims: int = 20
    long_horizon: int = 500
    elite_ratios: tuple[float, ...] = (0.15, 0.5)
    sigmas: tuple[float, ...] = (0.1, 0.25, 0.5, 1.0)
    tuning_instances: tuple[int, ...] = (1,)
    report_instances: tuple[int, ...] = (6, 7, 8)


@dataclass(frozen=True)
class Cell:
    num_children: int
    num_dims: int
    num_generations: int

    @property
    def name(self) -> str:
        return f"n{self.num_children}-d{self.num_dims}-t{self.num_generations}"


def generalisation_study(grid: Grid, name: str, theta: Theta, out: Path, console: Console) -> dict[str, Any]:
    """Runs whatever is missing, then writes generalisation.json and the pictures into `out`."""
    methods = [learned(name, theta), *baselines(grid.elite_ratios, grid.sigmas)]
    weights = {name: digest(theta)}
    cells = [Cell(n, d, grid.num_generations) for n in grid.populations for d in grid.dims]
    long = Cell(grid.long_population, grid.long_dims, grid.long_horizon)
    curves = {}
    for cell in track([*cells, long], description="cells", console=console):
        curves[cell] = {
            method.name: best_curve(grid, cell, method, weights.get(method.name), out / "cells") for method in methods
        }
    report = {
        "grid": asdict(grid),
        "weights": name,
        "cells": [asdict(cell) | compare(curves[cell], name) for cell in cells],
        "horizons": [
            {"num_generations": t} | compare({m: curve[..., :t] for m, curve in curves[long].items()}, name)
            for t in horizons(grid.long_horizon)
        ],
    }
    (out / "generalisation.json").write_text(json.dumps(report, indent=1))
    differences = np.reshape([cell["minus_best_baseline"] for cell in report["cells"]], (len(grid.populations), -1))
    figures.heat_map(differences, grid.populations, grid.dims, f"{name} minus best baseline", out / "heat_map.png")
    mean_curves = {
        m: (grid.long_population * np.arange(2, curve.shape[-1] + 2), log10_gaps(curve).mean(axis=0))
        for m, curve in curves[long].items()
    }
    figures.curves_over_evaluations(mean_curves, "mean log10 gap of the best so far", out / "long_horizon.png")
    return report


def best_curve(grid: Grid, cell: Cell, method: Method, weights: str | None, cells: Path) -> np.ndarray:
    """The best gap so far [runs, generations] on the report instances, with the setting that did best on the others.

    A finished cell is found again whatever other cells the grid has, and a baseline's with any weights.
    """

    def compute() -> np.ndarray:
        # One instance at a time: equal shapes, so nothing is compiled twice.
        search = {
            rho: searches(method.build(cell.num_children, rho), num_seeds=1, num_generations=cell.num_generations)
            for rho in method.elite_ratios
        }

        def curves(rho: float, sigma: float, instances: Sequence[int], seed: int) -> np.ndarray:
            traces = [
                search[rho](
                    jax.random.key(seed + instance), bbob.instances(grid.functions, (instance,), cell.num_dims), sigma
                )
                for instance in instances
            ]
            return np.concatenate([np.asarray(trace.best_so_far)[:, 0] for trace in traces])

        def tuning_score(setting: tuple[float, float]) -> float:
            return float(log10_gaps(curves(*setting, grid.tuning_instances, TUNING_SEED))[:, -1].mean())

        choices = [(rho, sigma) for rho in method.elite_ratios for sigma in method.sigmas]
        chosen = min(choices, key=tuning_score) if len(choices) > 1 else choices[0]
        return curves(*chosen, grid.report_instances, REPORT_SEED)

    settings = {
        "functions": grid.functions,
        "tuning_instances": grid.tuning_instances,
        "report_instances": grid.report_instances,
        "elite_ratios": method.elite_ratios,
        "sigmas": method.sigmas,
    }
    key = json_form({**settings, "cell": asdict(cell), "weights": weights})
    return cached(cells / f"{slug(method.name)}-{cell.name}.safetensors", key, compute)


def compare(curves: dict[str, np.ndarray], name: str) -> dict[str, Any]:
    scores = {method: float(log10_gaps(curve)[:, -1].mean()) for method, curve in curves.items()}
    best = min((method for method in scores if method != name), key=scores.__getitem__)
    return {"mean_log10_gap": scores, "best_baseline": best, "minus_best_baseline": scores[name] - scores[best]}


def horizons(longest: int) -> list[int]:
    return [t for t in (10, 25, 50, 100, 200, 500, 1000) if t <= longest]
