"""The paper's BBOB evaluation: bar chart, table, ranks, runtime profiles and curves, from one tidy results file."""

import csv
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from lga.analysis import figures
from lga.bench.bbob import Entry, Protocol, hand_designed, learned_entries, tune_and_measure
from lga.bench.protocol import Tuned
from lga.bench.statistics import log10_gaps, mean_interval, ranking, runtime_profile
from lga.core.tree_io import json_form
from lga.operators.theta import Theta
from lga.tasks import registry

TARGETS = 10.0 ** np.arange(2.0, -8.2, -0.2)
SHIPPED_SIGMA = 0.25


def bbob_study(protocol: Protocol, weights: dict[str, Theta], out: Path, console: Console) -> dict[str, Any]:
    """Runs whatever is missing, then writes runs.csv, summary.json and the figures into `out`."""
    entries = [*learned_entries(protocol, weights, SHIPPED_SIGMA), *hand_designed(protocol)]
    outcomes: dict[str, tuple[Entry, Tuned, np.ndarray]] = {}
    for entry in track(entries, description="methods", console=console):
        outcomes[entry.method.name] = (entry, *tune_and_measure(protocol, entry, out / "cells"))
    write_runs(protocol, outcomes, out / "runs.csv")
    report = summary(protocol, outcomes)
    (out / "summary.json").write_text(json.dumps(report, indent=1))
    draw(protocol, outcomes, report, out)
    console.print(summary_table(report))
    return report


def final_log_gaps(best_so_far: np.ndarray) -> np.ndarray:
    """[functions, instances, seeds]"""
    return log10_gaps(best_so_far[..., -1])


def write_runs(protocol: Protocol, outcomes: dict[str, tuple[Entry, Tuned, np.ndarray]], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["method", "elite_ratio", "sigma0", "function", "instance", "seed", "gap"])
        for name, (_, chosen, best) in outcomes.items():
            for index in np.ndindex(best.shape[:-1]):
                function, instance, seed = index
                row = [
                    protocol.functions[function],
                    protocol.report_instances[instance],
                    seed,
                    f"{best[index][-1]:.6g}",
                ]
                writer.writerow([name, chosen.elite_ratio, chosen.sigma, *row])


def summary(protocol: Protocol, outcomes: dict[str, tuple[Entry, Tuned, np.ndarray]]) -> dict[str, Any]:
    gaps = {name: final_log_gaps(best) for name, (_, _, best) in outcomes.items()}
    per_function = {name: values.mean(axis=(1, 2)) for name, values in gaps.items()}
    held_out = np.array([registry.row(name).split == "hold-out" for name in protocol.functions])
    reference = next(iter(gaps))
    ranks = ranking(per_function)
    rows = [
        {
            "method": name,
            "elite_ratio": chosen.elite_ratio,
            "sigma0": chosen.sigma,
            "tuning_score": chosen.score,
            "num_children": entry.num_children,
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
        for name, (entry, chosen, _) in outcomes.items()
    ]
    return {
        "protocol": json_form(asdict(protocol)),
        "rows": rows,
        "num_hold_out": int(held_out.sum()),
        "friedman_p": ranks.p_value,
        "critical_difference": ranks.critical_difference,
    }


def draw(
    protocol: Protocol, outcomes: dict[str, tuple[Entry, Tuned, np.ndarray]], report: dict[str, Any], out: Path
) -> None:
    rows = {row["method"]: row["per_function"] for row in report["rows"]}
    splits = {split: split_functions(protocol.functions, split) for split in ("train", "hold-out")}
    figures.ratio_bars(rows, "Gaussian GA", splits, out / "ratio_to_gaussian.png")
    curves, profiles = {}, {}
    for name, (entry, _, best) in outcomes.items():
        evaluations = entry.num_children * np.arange(2, best.shape[-1] + 2)
        curves[name] = (evaluations, log10_gaps(best).mean(axis=(0, 1, 2)))
        profiles[name] = (evaluations, runtime_profile(best, TARGETS))
    figures.curves_over_evaluations(curves, "mean log10 gap of the best so far", out / "curves.png")
    figures.curves_over_evaluations(profiles, "share of runs and targets reached", out / "profiles.png")
    ranks = {row["method"]: row["mean_rank"] for row in report["rows"]}
    figures.critical_difference(ranks, report["critical_difference"], out / "ranks.png")


def split_functions(functions: Sequence[str], split: str) -> list[str]:
    return [name for name in functions if registry.row(name).split == split]


def summary_table(report: dict[str, Any]) -> Table:
    table = Table("method", "rho", "sigma0", "mean log10 gap (95 %)", "train", "hold-out", "mean rank")
    for row in sorted(report["rows"], key=lambda row: row["mean_log10_gap"]["mean"]):
        gap = row["mean_log10_gap"]
        table.add_row(
            row["method"],
            f"{row['elite_ratio']:g}",
            f"{row['sigma0']:g}",
            f"{gap['mean']:.3f} [{gap['low']:.3f}, {gap['high']:.3f}]",
            *(
                f"{row[split]:.3f}" if row[split] is not None else ""
                for split in ("train_functions", "hold_out_functions")
            ),
            f"{row['mean_rank']:.2f}",
        )
    return table
