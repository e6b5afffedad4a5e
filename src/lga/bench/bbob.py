"""The paper's BBOB comparison: every method tuned on some instances and reported on others.

One tidy results file, a summary, and the paper's pictures: bar chart, ranks, runtime profiles and curves.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from lga.analysis import figures
from lga.bench.cells import fetch, outcome
from lga.bench.methods import (
    DISTILLED_AS_IT_IS,
    DISTILLED_GA,
    EVOSAX_AS_IT_COMES,
    EVOSAX_LEARNED_GA,
    HAND_DESIGNED,
    Method,
    Size,
    SuitedPopulation,
    as_shipped,
    learned,
    require_own_names,
)
from lga.bench.searches import Suite, evaluations_after, gap_cell
from lga.bench.statistics import interval_text, mean_interval, ranking, runtime_profile
from lga.bench.tuning import Tuned, tune
from lga.core.files import sweep, write_atomically, write_report
from lga.core.tree_io import json_form
from lga.tasks import bbob, registry
from lga.weights import Weights

ELITE_RATIOS = (0.0, 0.15, 0.25, 0.35, 0.5, 1.0)
SIGMAS = (0.1, 0.25, 0.5, 0.75, 1.0)
# Step sizes of evolution strategies are those of the whole distribution: up to the width of the domain.
STRATEGY_SIGMAS = (*SIGMAS, 2.0)
TUNING_SEED, REPORT_SEED = 1, 2
TARGETS = 10.0 ** np.arange(2.0, -8.2, -0.2)


@dataclass(frozen=True)
class BbobProtocol:
    """The paper's settings."""

    functions: tuple[str, ...] = tuple(bbob.FUNCTIONS)
    num_dims: int = 20
    num_children: int = 32
    num_generations: int = 50
    tuning_instances: tuple[int, ...] = (1, 2, 3, 4, 5)
    tuning_seeds: int = 3
    report_instances: tuple[int, ...] = (6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
    report_seeds: int = 5
    evaluate_start: bool = True
    """Whether all methods know the fitness of their initial solutions; in the paper's code none does."""

    @property
    def tuning(self) -> Suite:
        return self.suite(self.tuning_instances, self.tuning_seeds, TUNING_SEED)

    @property
    def report(self) -> Suite:
        return self.suite(self.report_instances, self.report_seeds, REPORT_SEED)

    def suite(self, instances: tuple[int, ...], num_seeds: int, seed: int) -> Suite:
        return Suite(self.functions, instances, self.num_dims, num_seeds, seed, self.evaluate_start)

    def size_of(self, method: Method) -> Size:
        return method.size(self.num_children, self.num_generations, self.num_dims, self.evaluate_start)


class Measured(NamedTuple):
    tuned: Tuned
    size: Size
    best: np.ndarray
    """The best gap so far on the report instances [functions, instances, seeds, generations]."""


def roster(protocol: BbobProtocol, weights: Sequence[Weights]) -> list[Method]:
    """Each set of weights tuned over the grid like all others, and as it ships; evosax's own; the hand-designed ones.

    The first weights enter a third time, with the population that suits them, which `lga.minimize` starts with.
    """
    methods: list[Method] = []
    for own in weights:
        untuned = replace(as_shipped(own), name=f"{own.name}, untuned")
        methods += [learned(own), untuned]
        if own is weights[0]:
            name = f"{untuned.name}, population {own.population(protocol.num_dims)}"
            methods.append(replace(untuned, name=name, population=SuitedPopulation(own)))
    methods += [DISTILLED_GA, DISTILLED_AS_IT_IS, EVOSAX_LEARNED_GA, EVOSAX_AS_IT_COMES, *HAND_DESIGNED.values()]
    return [method.over(ELITE_RATIOS, STRATEGY_SIGMAS if method.family == "strategy" else SIGMAS) for method in methods]


def compare_on_bbob(
    protocol: BbobProtocol, weights: Sequence[Weights], out: Path, console: Console, scheduler: str | None = None
) -> dict[str, Any]:
    """Runs whatever is missing, here or by the workers of a Dask scheduler, then writes runs.csv, summary.json and the
    figures into `out`."""
    methods = roster(protocol, weights)
    require_own_names(methods)
    if scheduler is not None:
        fetch_all(protocol, methods, out / "cells", scheduler)
    measured = {
        method.name: tune_and_measure(protocol, method, out / "cells")
        for method in track(methods, description="methods", console=console)
    }
    write_runs(protocol, measured, out / "runs.csv")
    report = summary(protocol, measured)
    write_report(out / "summary.json", report)
    draw(protocol, measured, report, out)
    console.print(summary_table(report))
    return report


def fetch_all(protocol: BbobProtocol, methods: Sequence[Method], cells: Path, scheduler: str) -> None:
    """First what methods are tuned by, then what is reported of them: the same cells that are looked for later."""
    to_tune = [
        gap_cell(candidate, protocol.size_of(method), protocol.tuning)
        for method in methods
        if len(method.candidates) > 1
        for candidate in method.candidates
    ]
    fetch(to_tune, cells, scheduler)
    tuned = [tuned_method(protocol, method, cells).method for method in methods]
    fetch([gap_cell(method, protocol.size_of(method), protocol.report) for method in tuned], cells, scheduler)


def tune_and_measure(protocol: BbobProtocol, method: Method, cells: Path) -> Measured:
    tuned = tuned_method(protocol, method, cells)
    size = protocol.size_of(method)
    return Measured(tuned, size, outcome(gap_cell(tuned.method, size, protocol.report), cells)["best_so_far"])


def tuned_method(protocol: BbobProtocol, method: Method, cells: Path) -> Tuned:
    def loss(candidate: Method) -> float:
        cell = gap_cell(candidate, protocol.size_of(method), protocol.tuning)
        return float(final_log_gaps(outcome(cell, cells)["best_so_far"]).mean())

    return tune(method, loss)


def final_log_gaps(best_so_far: np.ndarray) -> np.ndarray:
    """[functions, instances, seeds]"""
    return bbob.log10_gap(best_so_far[..., -1])


def write_runs(protocol: BbobProtocol, measured: dict[str, Measured], path: Path) -> None:
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["method", "elite_ratio", "sigma0", "function", "instance", "seed", "gap"])
    for name, (tuned, _, best) in measured.items():
        for index in np.ndindex(best.shape[:-1]):
            function, instance, seed = index
            run = [protocol.functions[function], protocol.report_instances[instance], seed]
            writer.writerow([name, *tuned.method.setting, *run, f"{best[index][-1]:.6g}"])
    sweep(path.parent, path.name)
    write_atomically(path, table.getvalue().encode())


def summary(protocol: BbobProtocol, measured: dict[str, Measured]) -> dict[str, Any]:
    gaps = {name: final_log_gaps(one.best) for name, one in measured.items()}
    per_function = {name: values.mean(axis=(1, 2)) for name, values in gaps.items()}
    held_out = np.array([registry.row(name).split == "hold-out" for name in protocol.functions])
    reference = next(iter(gaps))
    ranks = ranking(per_function)
    rows = [
        {
            "method": name,
            "elite_ratio": tuned.method.elite_ratio,
            "sigma0": tuned.method.sigma,
            "tuning_score": tuned.loss,
            "num_children": size.num_children,
            # Runs on one instance are alike: intervals are over instances, averaged over functions and seeds.
            "mean_log10_gap": mean_interval(gaps[name].mean(axis=(0, 2)))._asdict(),
            "train_functions": float(per_function[name][~held_out].mean()) if (~held_out).any() else None,
            "hold_out_functions": float(per_function[name][held_out].mean()) if held_out.any() else None,
            "first_minus_this": mean_interval((gaps[reference] - gaps[name]).mean(axis=(0, 2)))._asdict(),
            "functions_won_by_first": int(np.sum(per_function[reference] < per_function[name])),
            "hold_out_won_by_first": int(np.sum((per_function[reference] < per_function[name])[held_out])),
            "mean_rank": ranks.mean_ranks[name],
            "per_function": dict(zip(protocol.functions, per_function[name].tolist(), strict=True)),
        }
        for name, (tuned, size, _) in measured.items()
    ]
    return {
        "protocol": json_form(asdict(protocol)),
        "rows": rows,
        "num_hold_out": int(held_out.sum()),
        "friedman_p": ranks.p_value,
        "critical_difference": ranks.critical_difference,
    }


def draw(protocol: BbobProtocol, measured: dict[str, Measured], report: dict[str, Any], out: Path) -> None:
    rows = {row["method"]: row["per_function"] for row in report["rows"]}
    splits = {
        split: [name for name in protocol.functions if registry.row(name).split == split]
        for split in ("train", "hold-out")
    }
    figures.ratio_bars(rows, "Gaussian GA", splits, out / "ratio_to_gaussian.png")
    curves, profiles = {}, {}
    for name, (_, size, best) in measured.items():
        evaluations = evaluations_after(size, protocol.evaluate_start)
        curves[name] = (evaluations, bbob.log10_gap(best).mean(axis=(0, 1, 2)))
        profiles[name] = (evaluations, runtime_profile(best, TARGETS))
    figures.curves_over_evaluations(curves, "mean log10 gap of the best so far", out / "curves.png")
    figures.curves_over_evaluations(profiles, "share of runs and targets reached", out / "profiles.png")
    ranks = {row["method"]: row["mean_rank"] for row in report["rows"]}
    figures.critical_difference(ranks, report["critical_difference"], out / "ranks.png")


def summary_table(report: dict[str, Any]) -> Table:
    gap = "mean log10 gap (95 %, over instances)"
    table = Table("method", "rho", "sigma0", gap, "train", "hold-out", "mean rank")
    for row in sorted(report["rows"], key=lambda row: row["mean_log10_gap"]["mean"]):
        splits = (row[split] for split in ("train_functions", "hold_out_functions"))
        table.add_row(
            row["method"],
            f"{row['elite_ratio']:g}",
            f"{row['sigma0']:g}",
            interval_text(row["mean_log10_gap"], 3),
            *(f"{mean:.3f}" if mean is not None else "" for mean in splits),
            f"{row['mean_rank']:.2f}",
        )
    return table
