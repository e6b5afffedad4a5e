"""Tables of the pages on the paper's studies, from the reports under `results/studies`."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from experiments.bbob_detail import REFERENCE, functions_won
from experiments.gaps import cells as gap_cells
from experiments.gaps import header as gap_header
from experiments.markdown import markdown_table
from experiments.selection import COLUMNS
from experiments.variants import panel_title
from lga.bench.own_tasks import in_words
from lga.bench.statistics import interval_text


def ties(report: dict[str, Any]) -> str:
    rows = ([row["engine"], interval_text(row["mean_log10_value"], 2)] for row in report["rows"])
    return markdown_table(["engine", "mean log10 of the best value (95 %, over seeds)"], rows)


def mean_gaps(report: dict[str, Any]) -> str:
    """As `gap_outcome` has them."""
    return markdown_table(gap_header(report["rows"]), map(gap_cells, report["rows"]))


def gesmr(report: dict[str, Any]) -> str:
    """log10 of the best value on each function."""
    functions = list(report["rows"][0]["mean_log10_value"])
    header = [
        f"{name}, mean log10 of the best value (95 %, over {report['config']['num_seeds']:,} seeds)"
        for name in functions
    ]
    cells = ([interval_text(row["mean_log10_value"][name], 2) for name in functions] for row in report["rows"])
    return markdown_table(
        ["rule", *header], ([row["rule"], *own] for row, own in zip(report["rows"], cells, strict=True))
    )


def training_study(report: dict[str, Any]) -> str:
    """What every variant ends at, panel by panel: mean and Student's interval over runs."""
    panels = list(report["rows"][0]["panels"])
    digits = {panel: 1 if is_return(panel) else 2 for panel in panels}
    return markdown_table(
        ["variant", *map(panel_title, panels), "runs"],
        (
            [
                row["variant"],
                *(interval_text(row["final"][panel], digits[panel]) for panel in panels),
                str(len(row["scores"])),
            ]
            for row in report["rows"]
        ),
    )


def is_return(panel: str) -> bool:
    return panel == "pendulum"


def selection(report: dict[str, Any]) -> str:
    return markdown_table(
        list(COLUMNS.values()),
        ([f"{row[name]:.3g}" for name in COLUMNS] for row in report["rows"]),
    )


def reverse_engineering(report: dict[str, Any]) -> str:
    return markdown_table(
        ["weights", "output", "feature", "slope of the line", "share of the variance that it tells"],
        (
            [row["weights"], row["output"], row["feature"], f"{row['slope']:+.2f}", f"{row['r_squared']:.2f}"]
            for row in report["rows"]
        ),
    )


def budgets(report: dict[str, Any]) -> str:
    methods = list(report["rows"][0]["gaps"])
    return markdown_table(
        ["N", "D", "T", *(f"{method} (95 %, over runs)" for method in methods)],
        (
            [
                *(str(row[name]) for name in ("num_children", "num_dims", "num_generations")),
                *(interval_text(row["gaps"][method], 2) for method in methods),
            ]
            for row in report["rows"]
        ),
    )


def bbob_wins(report: dict[str, Any]) -> str:
    """On how many functions each method is the best, and its gaps in units of the Gaussian GA's."""
    methods = list(report["rows"][0]["per_function"])
    lines: Iterable[list[str]] = (
        [str(row["num_children"]), str(row["num_dims"]), split, *counts(row["per_function"], functions, methods)]
        for row in report["rows"]
        for split, functions in report["splits"].items()
        if functions
    )
    return markdown_table(["N", "D", "functions", *(f"{method}: best on (ratio)" for method in methods)], lines)


def counts(per_function: dict[str, dict[str, float]], functions: list[str], methods: list[str]) -> list[str]:
    won = functions_won(per_function, functions)
    ratios = {method: mean_ratio(per_function[method], per_function[REFERENCE], functions) for method in methods}
    return [f"{won[method]} of {len(functions)} ({ratios[method]:.2g})" for method in methods]


def mean_ratio(gaps: dict[str, float], reference: dict[str, float], functions: Iterable[str]) -> float:
    """The paper's measure: gaps divided by the reference's (geometric means over runs), averaged over functions."""
    return float(np.mean([10 ** (gaps[function] - reference[function]) for function in functions]))


# The paper's methods, with all that have its two learned operators or were read off them.
RATIO_METHODS = ("lga-paper", "lga-paper-2", "evosax-lga", "distilled GA")
RATIO_BASELINES = (REFERENCE, "MR-1/5 GA", "SAMR-GA", "GESMR-GA")


def bbob_ratios(report: dict[str, Any]) -> str:
    """The main comparison by the paper's measure."""
    gaps = {row["method"]: row["per_function"] for row in report["rows"]}
    functions = list(gaps[REFERENCE])

    def ahead_of_all(method: str) -> str:
        others = [gaps[name] for name in RATIO_BASELINES if name != method]
        won = sum(all(gaps[method][f] < other[f] for other in others) for f in functions)
        return f"{won} of {len(functions)}"

    return markdown_table(
        [
            "method",
            "gap relative to the Gaussian GA, mean over functions",
            "functions on which ahead of every other hand-designed GA",
        ],
        (
            [method, f"{mean_ratio(gaps[method], gaps[REFERENCE], functions):.2f}", ahead_of_all(method)]
            for method in (*RATIO_METHODS, *RATIO_BASELINES)
        ),
    )


def transfer(report: dict[str, Any]) -> str:
    methods = list(report["rows"][0]["final"])
    return markdown_table(
        ["task", *(f"{method} (95 %, over seeds)" for method in methods)],
        ([row["task"], *(interval_text(row["final"][method], 2) for method in methods)] for row in report["rows"]),
    )


def robustness(report: dict[str, Any]) -> str:
    rows = report["rows"]
    return markdown_table(
        ["task", "method", "best setting", "mean of all settings", "worst setting", "best of all methods in"],
        (
            [row["task"], row["method"], *(f"{row[name]:.4g}" for name in ("best", "mean", "worst")), ahead(row, rows)]
            for row in rows
        ),
    )


def ahead(row: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    """In how many settings a method has the best score on its task."""
    scores = np.asarray(row["scores"])
    best = np.max([other["scores"] for other in rows if other["task"] == row["task"]], axis=0)
    return f"{np.sum(scores == best)} of {scores.size} settings"


def distillation(report: dict[str, Any]) -> str:
    """Gaps on functions that neither training nor distilling has seen, and the share of the learned GA's gain."""
    return markdown_table(
        [
            "method",
            "mean log10 gap, held-out functions (95 %, over instances)",
            "trained functions",
            "share of the gain",
        ],
        (
            [
                row["method"],
                interval_text(row["hold_out"], 3),
                f"{row['train']:.3f}",
                "" if row["share_of_gain"] is None else f"{100 * row['share_of_gain']:.0f} %",
            ]
            for row in report["rows"]
        ),
    )


def own_tasks(report: dict[str, Any]) -> str:
    """How many times more evaluations than the trained GA each method needs, by case."""
    header = ["case", "method", "times more evaluations (95 %, over tasks)", "trained GA lower at the end"]
    rows = ([name, row["method"], *in_words(row)] for name, case in report["cases"].items() for row in case["rows"])
    return markdown_table(header, rows)


STUDIES: dict[str, Callable[[Any], str]] = {
    "ties": ties,
    "mean_gaps": mean_gaps,
    "gesmr": gesmr,
    "training_study": training_study,
    "selection": selection,
    "reverse_engineering": reverse_engineering,
    "budgets": budgets,
    "bbob_wins": bbob_wins,
    "bbob_ratios": bbob_ratios,
    "transfer": transfer,
    "robustness": robustness,
    "distillation": distillation,
    "own_tasks": own_tasks,
}
