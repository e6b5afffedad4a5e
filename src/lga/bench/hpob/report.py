"""What a comparison on HPO-B says: means over tasks, ranks, paired differences, each with Student's interval."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from lga.analysis import figures
from lga.bench.statistics import interval_text, mean_interval, ranking
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
) -> dict[str, Any]:
    """Values are means over seeds by task; an interval is over tasks."""
    tasks = [pool.name for pool in pools]
    finals = {who: np.array([curves[task][:, -1].mean() for task in tasks]) for who, curves in measured.items()}
    references = {
        who: np.array([values[task][-1] for task in tasks])
        for who, values in (published or {}).items()
        if all(task in values for task in tasks)
    }
    first, ranks = next(iter(finals)), ranking({who: 1.0 - np.round(values, 6) for who, values in finals.items()})
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


def summary_table(report: dict[str, Any]) -> Table:
    tasks = f"incumbent (95 %, over {report['num_tasks']} tasks)"
    table = Table(
        "method", "N", "rho", "sigma0", tasks, "without narrow tasks", f"{report['first']} minus it", "mean rank"
    )
    for row in sorted(report["rows"], key=lambda row: -row["incumbent"]["mean"]):
        own = [f"{row[name]:g}" if name in row else "" for name in ("num_children", "elite_ratio", "sigma0")]
        table.add_row(
            row["method"] + (" (published)" if "published" in row else ""),
            *own,
            interval_text(row["incumbent"], 4),
            interval_text(row["without_narrow"], 4) if row["without_narrow"] else "",
            interval_text(row["first_minus_this"], 4, signed=True) if "first_minus_this" in row else "",
            f"{row['mean_rank']:.2f}" if "mean_rank" in row else "",
        )
    return table


def draw(report: dict[str, Any], path: Path) -> None:
    """Regret over evaluations, the initial ones included; published curves are dashed."""
    curves, dashed = {}, {}
    for row in report["rows"]:
        trials = np.asarray(row.get("marks", range(len(row["curve"]))))
        target = dashed if "published" in row else curves
        target[row["method"]] = (NUM_INITIAL + trials, 1.0 - np.asarray(row["curve"]))
    figures.regret_curves(curves, {f"{who} (published)": curve for who, curve in dashed.items()}, path)
