"""BBOB at other numbers of children, dimensions and generations: what the studies of figures 4, 5, 17 and 18 share."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import tyro
from rich.console import Console
from rich.progress import track

from lga.bench.generalization import Budget, Grid, best_curves
from lga.bench.methods import HAND_DESIGNED, Method, as_shipped
from lga.tasks import bbob
from lga.weights import resolve

GAS = ("gaussian_ga", "mr15_ga", "samr_ga", "gesmr_ga")


@dataclass(frozen=True)
class BudgetSettings:
    weights: str = "lga-paper"
    """The learned GA, which is not tuned; the hand-designed ones are, for each budget."""
    dims: tuple[int, ...] = (2, 5, 10, 20, 30, 50)
    """At `num_children`."""
    populations: tuple[int, ...] = (8, 16, 32, 64, 128, 256)
    """At `num_dims`."""
    num_dims: int = 20
    num_children: int = 32
    num_generations: int = 50
    long_horizon: int = 200
    grid: tyro.conf.Suppress[Grid] = field(
        default_factory=lambda: Grid(
            elite_ratios=(0.0, 0.15, 0.25, 0.35, 0.5, 1.0),
            sigmas=(0.1, 0.25, 0.5, 0.75, 1.0),
            report_instances=tuple(range(6, 16)),
        )
    )
    """Functions, settings of the tuned methods and instances."""
    cells: Path = Path("runs/studies/cells")
    """Where searches are kept, for all studies."""

    @property
    def usual(self) -> Budget:
        return Budget(self.num_children, self.num_dims, self.num_generations)

    @property
    def by_dims(self) -> list[Budget]:
        return [Budget(self.num_children, d, self.num_generations) for d in self.dims]

    @property
    def by_population(self) -> list[Budget]:
        return [Budget(n, self.num_dims, self.num_generations) for n in self.populations]

    @property
    def long(self) -> Budget:
        return Budget(self.num_children, self.num_dims, self.long_horizon)


SMALL_GRID = Grid(elite_ratios=(0.0, 0.5), sigmas=(0.1, 0.5, 1.0), report_instances=(6, 7), report_seeds=3)
SMALL = BudgetSettings(dims=(5, 10, 20), populations=(8, 32, 128), grid=SMALL_GRID)
SMOKE_GRID = Grid(("sphere", "rastrigin"), elite_ratios=(0.0,), sigmas=(0.5,), report_instances=(6,), report_seeds=1)
SMOKE = BudgetSettings(
    dims=(2,), populations=(4,), num_dims=2, num_children=4, num_generations=3, long_horizon=4, grid=SMOKE_GRID
)
PRESETS = {"smoke": SMOKE, "small": SMALL, "paper": BudgetSettings()}


def roster(settings: BudgetSettings) -> list[Method]:
    grid = settings.grid
    tuned = [HAND_DESIGNED[name].over(grid.elite_ratios, grid.sigmas) for name in GAS]
    return [as_shipped(resolve(settings.weights)), *tuned]


def log_gaps(settings: BudgetSettings, budgets: list[Budget], console: Console) -> dict[Budget, dict[str, np.ndarray]]:
    """log10 of the best gap so far of every method [functions, runs, generations], for every budget."""
    jobs = [(budget, method) for budget in dict.fromkeys(budgets) for method in roster(settings)]
    found: dict[Budget, dict[str, np.ndarray]] = {}
    for budget, method in track(jobs, description="methods", console=console):
        curves = best_curves(settings.grid, budget, method, settings.cells)
        found.setdefault(budget, {})[method.name] = bbob.log10_gap(curves)
    return found
