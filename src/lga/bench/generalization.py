"""Beyond the budgets of training: other population sizes, dimensions and horizons, beside the best tuned baseline."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

from lga.analysis import figures
from lga.bench.cells import outcomes
from lga.bench.methods import HAND_DESIGNED, QUICK_BASELINES, Method, Size, as_shipped, require_own_names
from lga.bench.searches import Suite, evaluations_after, gap_cell
from lga.bench.statistics import mean_interval
from lga.bench.tuning import tune
from lga.core.files import write_report
from lga.tasks import bbob
from lga.weights import resolve

TUNING_SEED, REPORT_SEED, SEED_STEP = 1000, 2000, 100


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
    # The main comparison chooses 0 for all hand-designed GAs.
    elite_ratios: tuple[float, ...] = (0.0, 0.25)
    sigmas: tuple[float, ...] = (0.1, 0.25, 0.5, 1.0)
    tuning_instances: tuple[int, ...] = (1,)
    report_instances: tuple[int, ...] = (6, 7, 8)
    report_seeds: int = 5
    evaluate_start: bool = True
    """Whether all methods know the fitness of their initial solutions; in the paper's code none does."""
    matrix_dims: int = 40
    """CMA-ES with a full matrix is a baseline up to as many dimensions: its matrix is too large to be learned in the
    generations of the grid beyond."""


@dataclass(frozen=True)
class Budget:
    num_children: int
    num_dims: int
    num_generations: int


def compare_budgets(
    grid: Grid, weights: str | Path, out: Path, console: Console, scheduler: str | None = None
) -> dict[str, Any]:
    """Runs whatever is missing, then writes generalization.json and the pictures into `out`."""
    budgets = [Budget(n, d, grid.num_generations) for n in grid.populations for d in grid.dims]
    long = Budget(grid.long_population, grid.long_dims, grid.long_horizon)
    curves = {}
    for budget in track([*budgets, long], description="budgets", console=console):
        # evosax's weights are others for long solutions.
        ours = as_shipped(resolve(weights, budget.num_dims))
        methods = [ours, *baselines(grid, budget)]
        require_own_names(methods)
        curves[budget] = {
            method.name: best_curves(grid, budget, method, out / "cells", scheduler) for method in methods
        }
    name = next(iter(curves[long]))
    report = {
        "grid": asdict(grid),
        "weights": name,
        "cells": [asdict(budget) | compare(curves[budget], name) for budget in budgets],
        "horizons": [
            {"num_generations": t} | compare({m: curve[..., :t] for m, curve in curves[long].items()}, name)
            for t in horizons(grid.long_horizon)
        ],
    }
    write_report(out / "generalization.json", report)
    means = [cell["minus_best_baseline"]["mean"] for cell in report["cells"]]
    differences = np.reshape(means, (len(grid.populations), -1))
    figures.heat_map(differences, grid.populations, grid.dims, f"{name} minus best baseline", out / "heat_map.png")
    evaluations = evaluations_after(Size(long.num_children, long.num_generations), grid.evaluate_start)
    mean_curves = {m: (evaluations, bbob.log10_gap(curve).mean(axis=(0, 1))) for m, curve in curves[long].items()}
    figures.curves_over_evaluations(mean_curves, "mean log10 gap of the best so far", out / "long_horizon.png")
    return report


def baselines(grid: Grid, budget: Budget) -> list[Method]:
    """To be tuned over the settings of the grid."""
    with_matrix = (HAND_DESIGNED["cma_es"],) if budget.num_dims <= grid.matrix_dims else ()
    return [method.over(grid.elite_ratios, grid.sigmas) for method in (*QUICK_BASELINES, *with_matrix)]


def best_curves(grid: Grid, budget: Budget, method: Method, folder: Path, scheduler: str | None = None) -> np.ndarray:
    """The best gap so far on the report instances, with the setting that did best on the others.

    [functions, runs, generations]
    """
    # The budget's population is what is compared, so methods have no population of their own here.
    size = Size(budget.num_children, budget.num_generations)

    def curves(method: Method, instances: Sequence[int], num_seeds: int, first_seed: int) -> np.ndarray:
        def seed_of(number: int, seed: int) -> int:
            return first_seed + SEED_STEP * seed + number

        # One instance and one seed at a time: equal shapes, so nothing is compiled twice. To compile takes longer.
        suites = [
            Suite(grid.functions, (number,), budget.num_dims, 1, seed_of(number, seed), grid.evaluate_start)
            for number in instances
            for seed in range(num_seeds)
        ]
        cells = [gap_cell(method, size, suite) for suite in suites]
        found = outcomes(cells, folder, scheduler=scheduler)
        return np.stack([leaves["best_so_far"][:, 0, 0] for leaves in found], axis=1)

    def loss(candidate: Method) -> float:
        return float(bbob.log10_gap(curves(candidate, grid.tuning_instances, 1, TUNING_SEED))[..., -1].mean())

    return curves(tune(method, loss).method, grid.report_instances, grid.report_seeds, REPORT_SEED)


def compare(curves: dict[str, np.ndarray], name: str) -> dict[str, Any]:
    """Mean log gaps at the end, and ours minus each other's with Student's interval over functions.

    The best baseline is chosen by the very runs that it is compared in, which is in its favour.
    """
    scores = {method: bbob.log10_gap(curve[..., -1]).mean(axis=1) for method, curve in curves.items()}
    means = {method: float(score.mean()) for method, score in scores.items()}
    differences = {
        method: mean_interval(scores[name] - score)._asdict() for method, score in scores.items() if method != name
    }
    best = min(differences, key=means.__getitem__)
    return {
        "mean_log10_gap": means,
        "minus_baselines": differences,
        "best_baseline": best,
        "minus_best_baseline": differences[best],
    }


def horizons(longest: int) -> list[int]:
    return [t for t in (10, 25, 50, 100, 200, 500, 1000) if t <= longest]
