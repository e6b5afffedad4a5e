"""What a comparison on HPO-B says: means over tasks, ranks, paired differences, each with Student's interval."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from lga.analysis import figures
from lga.bench.statistics import interval_text, mean_interval, ranking
from lga.core.checks import require
from lga.core.tree_io import json_form
from lga.tasks.hpob import NUM_INITIAL, Pool

MARKS = (0, 1, 2, 5, 10, 15, 20, 30, 50, 75, 100)
"""Trials after which published results are known."""


def summary(
    protocol: Any,
    name: str,
    pools: Sequence[Pool],
    entries: Mapping[Any, float | None],
    measured: Mapping[str, Mapping[str, np.ndarray]],
    published: Mapping[str, Mapping[str, Sequence[float]]] | None,
    seconds: Mapping[str, float],
    earlier: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Values are means over seeds by task; an interval is over tasks."""
    tasks = [pool.name for pool in pools]
    finals = {
        who: np.array([curves[task][:, -1].mean() for task in tasks], np.float64) for who, curves in measured.items()
    }
    references = {
        who: np.array([values[task][-1] for task in tasks])
        for who, values in (published or {}).items()
        if all(task in values for task in tasks)
    }
    first, before = next(iter(finals)), {} if earlier is None else earlier["tasks"]
    for who, values in before.items():
        require(set(values) == set(tasks), f"{who} was measured on other tasks earlier: nothing can be compared.")
    finals |= {who: np.array([values[task] for task in tasks]) for who, values in before.items() if who not in finals}
    ranks = ranking({who: 1.0 - np.round(values, 6) for who, values in finals.items()})
    rows = []
    for entry, loss in entries.items():
        curve = np.mean([measured[entry.name][task].mean(axis=0) for task in tasks], axis=0)
        rows.append(
            {
                "method": entry.name,
                **({} if entry.method is None else setting(entry)),
                "choosing_loss": loss,
                **figures_of(pools, finals[entry.name]),
                "first_minus_this": mean_interval(finals[first] - finals[entry.name])._asdict(),
                "mean_rank": ranks.mean_ranks[entry.name],
                "seconds": round(seconds[entry.name], 1),
                "curve": np.round(curve, 5).tolist(),
            }
        )
    known = [] if earlier is None else [row for row in earlier["rows"] if row["method"] in before]
    for row in known:
        who = row["method"]
        if who not in measured:
            against = mean_interval(finals[first] - finals[who])._asdict()
            rows.append(row | {"first_minus_this": against, "mean_rank": ranks.mean_ranks[who]})
    for who, values in references.items():
        by_task = (published or {})[who]
        curve = np.mean([by_task[task] for task in tasks], axis=0)
        row = {"method": who, "published": True, **figures_of(pools, values)}
        # Surrogates that were fitted anew are close to the published ones, not equal: nothing is tested there.
        if protocol.budget == "discrete":
            row["first_minus_this"] = mean_interval(finals[first] - values)._asdict()
        rows.append(row | {"marks": list(MARKS), "curve": np.round(curve, 5).tolist()})
    return {
        "version": name,
        "protocol": json_form(asdict(protocol)),
        "num_tasks": len(tasks),
        "num_narrow": sum(pool.is_narrow for pool in pools),
        "first": first,
        "rows": rows,
        "friedman_p": ranks.p_value,
        "critical_difference": ranks.critical_difference,
        "tasks": {who: dict(zip(tasks, np.round(values, 5).tolist(), strict=True)) for who, values in finals.items()},
    }


def setting(entry: Any) -> dict[str, Any]:
    return {
        "num_children": entry.num_children,
        "elite_ratio": entry.method.elite_ratio,
        "sigma0": entry.method.sigma,
        "start": entry.start,
    }


def figures_of(pools: Sequence[Pool], values: np.ndarray) -> dict[str, Any]:
    """The mean normalized incumbent after the last trial, of all tasks and of some."""
    spaces = sorted({pool.space for pool in pools})
    wide = np.array([not pool.is_narrow for pool in pools])
    of_space = {space: values[[pool.space == space for pool in pools]] for space in spaces}
    return {
        "incumbent": mean_interval(values)._asdict(),
        "regret": float(1.0 - values.mean()),
        "without_narrow": mean_interval(values[wide])._asdict() if wide.any() else None,
        "per_space": {space: round(float(own.mean()), 5) for space, own in of_space.items()},
    }


def table_header(report: dict[str, Any]) -> list[str]:
    return [
        "method",
        "N, rho, sigma0",
        f"incumbent (95 %, over {report['num_tasks']} tasks)",
        f"without {report['num_narrow']} narrow tasks",
        "mean regret",
        f"{report['first']} minus it (95 %)",
        "mean rank",
    ]


def table_rows(report: dict[str, Any]) -> list[list[str]]:
    """The best first."""

    def row(found: dict[str, Any]) -> list[str]:
        own = [f"{found[name]:g}" for name in ("num_children", "elite_ratio", "sigma0") if name in found]
        is_first = found["method"] == report["first"]
        return [
            found["method"] + (" (published)" if "published" in found else ""),
            ", ".join(own),
            interval_text(found["incumbent"], 4),
            f"{found['without_narrow']['mean']:.4f}" if found["without_narrow"] else "",
            f"{found['regret']:.4f}",
            interval_text(found["first_minus_this"], 4, signed=True)
            if "first_minus_this" in found and not is_first
            else "",
            f"{found['mean_rank']:.1f}" if "mean_rank" in found else "",
        ]

    return [row(found) for found in sorted(report["rows"], key=lambda found: -found["incumbent"]["mean"])]


def summary_table(report: dict[str, Any]) -> Table:
    table = Table(*table_header(report))
    for row in table_rows(report):
        table.add_row(*row)
    return table


def space_header(report: dict[str, Any]) -> list[str]:
    return ["method", *report["rows"][0]["per_space"]]


def space_rows(report: dict[str, Any]) -> list[list[str]]:
    """The mean incumbent of each search space."""
    ordered = sorted(report["rows"], key=lambda found: -found["incumbent"]["mean"])
    return [[found["method"], *(f"{value:.3f}" for value in found["per_space"].values())] for found in ordered]


def draw(report: dict[str, Any], path: Path) -> None:
    """Regret over evaluations, the initial ones included; published curves are dashed."""
    curves, dashed = {}, {}
    for row in report["rows"]:
        trials = np.asarray(row.get("marks", range(len(row["curve"]))))
        target = dashed if "published" in row else curves
        target[row["method"]] = (NUM_INITIAL + trials, 1.0 - np.asarray(row["curve"]))
    figures.regret_curves(curves, {f"{who} (published)": curve for who, curve in dashed.items()}, path)
