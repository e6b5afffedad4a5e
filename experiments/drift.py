"""When to drift along the path: networks evolved with children that always do, never do, or do by evidence.

And whether to start from blends of the parents at all.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from experiments.form import Experiment, Outcome, described
from experiments.networks import CELLS, scale_for
from lga.algorithms.presets import learned_ga
from lga.bench.cells import outcome
from lga.bench.methods import Method, methods_named
from lga.bench.network_runs import Run, compiled_task, run_cell, usual_judging
from lga.bench.statistics import mean_interval
from lga.core.interfaces import Algorithm
from lga.core.tree_io import digest


@dataclass(frozen=True)
class DriftingAlways(Method):
    """The learned drift, whatever the path is."""

    def algorithm(self, num_children: int) -> Algorithm:
        assert self.weights is not None
        return learned_ga(self.weights.theta, num_children, self.elite_ratio, drifts_by_evidence=False)


def always(method: Method) -> Method:
    own: dict[str, Any] = {field.name: getattr(method, field.name) for field in fields(method)}
    own["preset"] = "learned_ga_drifting_always"
    return DriftingAlways(**own)


def never(method: Method) -> Method:
    weights = method.weights
    assert weights is not None
    assert weights.theta.separable is not None
    theta = replace(weights.theta, separable=replace(weights.theta.separable, drift=jnp.zeros(2)))
    return replace(method, weights=replace(weights, theta=theta, digest=digest(theta)))


WAYS: dict[str, Callable[[Method], Method]] = {
    "always": always,
    "never": never,
    "by evidence": lambda method: method,
    "by evidence, not blended": lambda method: replace(method, best_shares=(0.25,)),
}


@dataclass(frozen=True)
class DriftSettings:
    tasks: tuple[str, ...] = ("ant", "grasp", "digits", "mnist-14")
    """None of the paper's comparison: by these the rule was chosen."""
    weights: str = "lga-net"
    others: tuple[str, ...] = ("sep_cma_es",)
    size: str = "medium"
    num_generations: int | None = 120
    num_rates: int = 1
    """Of the comparison's initial rates, from the lowest."""
    num_seeds: int = 3
    cells: Path = CELLS


def run(settings: DriftSettings, out: Path, console: Console) -> Outcome:
    rows: list[dict[str, Any]] = []
    for task in settings.tasks:
        scale = scale_for(task, settings.size, None, settings.num_generations)
        num_weights = compiled_task(task, scale.task).num_weights
        own, *others = methods_named((settings.weights, *settings.others), num_weights)
        methods = {way: change(own) for way, change in WAYS.items()} | {other.name: other for other in others}
        rates = scale.sigmas[: settings.num_rates]
        jobs = [(name, method, rate) for rate in rates for name, method in methods.items()]
        for name, method, rate in track(jobs, description=task, console=console):
            tuned = method.at(method.elite_ratios[0], rate)
            size = tuned.size(scale.num_children, scale.num_generations, num_weights)
            judging = usual_judging(task, tuned)
            curves = [
                outcome(run_cell(Run(task, scale.task, tuned, size, scale.test_every, seed, judging)), settings.cells)
                for seed in range(settings.num_seeds)
            ]
            finals = {score: [float(curve[score][-1]) for curve in curves] for score in ("elite", "mean_parent")}
            rows.append(
                {"task": task, "num_weights": num_weights, "way": name, "initial_rate": rate, "per_seed": finals}
                | {score: mean_interval(np.asarray(values))._asdict() for score, values in finals.items()}
            )
    table = Table(*header(settings.num_seeds))
    for row in rows:
        table.add_row(*cells(row))
    return Outcome({"config": described(settings), "rows": rows}, table)


def header(num_seeds: int) -> list[str]:
    return ["task", "weights", "initial rate", "drift", f"elite, mean of {num_seeds}", "mean parent"]


def cells(row: dict[str, Any]) -> list[str]:
    digits = 0 if abs(row["elite"]["mean"]) > 10 else 3
    scores = (f"{row[score]['mean']:.{digits}f}" for score in ("elite", "mean_parent"))
    return [row["task"], f"{row['num_weights']:,}", f"{row['initial_rate']:g}", row["way"], *scores]


EXPERIMENT = Experiment(
    "when to drift along the path of a search: always, never or by evidence, and not blended, on networks",
    {
        "smoke": DriftSettings(("digits",), others=(), size="smoke", num_generations=3, num_rates=1, num_seeds=2),
        "small": DriftSettings(),
        "paper": DriftSettings(size="paper", num_generations=None, num_rates=3, num_seeds=5),
    },
    run,
)
