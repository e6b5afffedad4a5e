"""Tables of what was measured on networks."""

from collections.abc import Callable
from typing import Any

from experiments import drift, many_weights, network_hours, network_speed, network_standings
from experiments.markdown import markdown_table
from lga.bench.statistics import interval_text


def judging(report: dict[str, Any]) -> str:
    """Seeds share all their luck, so that differences are paired."""
    ways = report["config"]["ways"]

    def row(entry: dict[str, Any]) -> list[str]:
        digits = 1 if abs(entry["final"][ways[0]]["mean"]) > 10 else 3
        leads = (interval_text(entry["lead"][way], digits, signed=True) for way in ways[1:])
        return [entry["task"], entry["algorithm"], f"{entry['final'][ways[0]]['mean']:.{digits}f}", *leads]

    return markdown_table(["task", "algorithm", *ways], map(row, report["rows"]))


def drifts(report: dict[str, Any]) -> str:
    return markdown_table(drift.header(report["config"]["num_seeds"]), map(drift.cells, report["rows"]))


def speed(report: dict[str, Any]) -> str:
    def row(entry: dict[str, Any]) -> list[str]:
        speeds = entry["networks_per_second"]
        return [
            entry["task"],
            f"{entry['num_members']} x {entry['num_evaluations']}",
            *network_speed.speeds_text(speeds),
            *(network_speed.ratio_text(speeds, other) for other in ("lga, JAX code alone", "evosax")),
            network_speed.share_text(entry),
        ]

    header = ["task", "members x images or episodes", *(f"{name}, networks / s" for name in network_speed.EVALUATIONS)]
    return markdown_table([*header, "lga / JAX code alone", "lga / evosax", "search"], map(row, report["rows"]))


def standings(report: dict[str, Any]) -> str:
    return markdown_table(list(network_standings.HEADER), map(network_standings.cells, report["rows"]))


def counts(report: dict[str, Any]) -> str:
    return markdown_table(list(network_standings.COUNTS), network_standings.counts(report["rows"]))


def hours(report: dict[str, Any]) -> str:
    total = sum(row["hours"] for row in report["rows"])
    rows = [*map(network_hours.cells, report["rows"]), ["all", *[""] * 4, f"{total:.1f}"]]
    return markdown_table(list(network_hours.HEADER), rows)


def weights(report: dict[str, Any]) -> str:
    return markdown_table(list(many_weights.HEADER), map(many_weights.cells, report["rows"]))


NETWORKS: dict[str, Callable[[Any], str]] = {
    "drift": drifts,
    "judging": judging,
    "many_weights": weights,
    "network_counts": counts,
    "network_hours": hours,
    "network_speed": speed,
    "network_standings": standings,
}
