"""Tables of what users meet: optimisers trained for their own tasks, and the sampler of Optuna."""

from collections.abc import Callable
from typing import Any

from experiments import samplers as samplers_report
from experiments.markdown import markdown_table
from lga.bench.own_tasks import in_words


def own_tasks(report: dict[str, Any]) -> str:
    """What was trained for a family, against others, each through the interface that people use."""
    return markdown_table(
        [
            "case",
            "D",
            "evaluations",
            "trained, against",
            "times fewer evaluations (95 %, over tasks)",
            "median",
            "lower at the end (95 %)",
        ],
        (
            [
                name,
                str(case["num_dims"]),
                str(case["budget"]),
                row["method"],
                fewer,
                f"{row['median_times_fewer_evaluations']:.1f}",
                wins,
            ]
            for name, case in report["cases"].items()
            for row in case["rows"]
            for fewer, wins in [in_words(row)]
        ),
    )


def own_tasks_held_out(report: dict[str, Any]) -> str:
    """What training itself reports: the learned operators against methods that are given the learned start, too."""
    return markdown_table(
        ["case", "trained, against", "times fewer evaluations (95 %, over tasks)", "median", "lower at the end (95 %)"],
        (
            [name, row["method"], fewer, f"{row['median_times_fewer_evaluations']:.1f}", wins]
            for name, case in report["cases"].items()
            for row in case["held_out"]["rows"]
            for fewer, wins in [in_words(row)]
        ),
    )


def samplers(report: dict[str, Any]) -> str:
    return markdown_table(samplers_report.HEADINGS, samplers_report.cells_of(report))


USERS: dict[str, Callable[[Any], str]] = {
    "own_tasks": own_tasks,
    "own_tasks_held_out": own_tasks_held_out,
    "samplers": samplers,
}
