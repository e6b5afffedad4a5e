"""Tables of the comparisons with other optimisers, with and without noise."""

from collections.abc import Callable
from typing import Any

from experiments.markdown import markdown_table
from lga.bench.statistics import interval_text


def optimizers(report: dict[str, Any]) -> str:
    """Mean log10 gaps; a line for each set of functions, number of variables and budget."""
    return comparison(report["rows"], lambda row: f"{row['mean_log10_gap']:.2f}")


def optimizer_differences(report: dict[str, Any]) -> str:
    """Ours minus theirs with its 95 % interval over functions, and functions won."""

    header = "lga minus {} (95 %, over functions)"
    return comparison(others(report["rows"]), lambda row: f"{difference_text(row)}, {won_text(row)}", header)


def comparison(rows: list[dict[str, Any]], cell: Callable[[dict[str, Any]], str], header: str = "{}") -> str:
    methods = list(dict.fromkeys(row["method"] for row in rows))
    lines: dict[tuple, dict[str, str]] = {}
    for row in rows:
        line = (split_text(row), f"{row['num_dims']}", evaluations_text(row))
        lines.setdefault(line, {})[row["method"]] = cell(row)
    return markdown_table(
        ["functions", "D", "evaluations", *map(header.format, methods)],
        ([*line, *(cells.get(method, "") for method in methods)] for line, cells in lines.items()),
    )


def noise(report: dict[str, Any]) -> str:
    """Mean log10 gaps of the best points; a line for each set of functions, budget and model of noise."""
    return noise_table(report["rows"], lambda row: f"{row['best']['mean_log10_gap']:.2f}")


def noise_recommended(report: dict[str, Any]) -> str:
    """Mean log10 gaps of the recommended points, over all models of noise."""
    rows = [row for row in report["rows"] if row["noise"] == report["rows"][0]["noise"]]
    return noise_table(rows, lambda row: f"{row['recommended']['mean_log10_gap']:.2f}")


def noise_differences(report: dict[str, Any]) -> str:
    """Ours minus theirs over all models of noise, by both measures."""
    rows = [row for row in others(report["rows"]) if row["noise"] == report["rows"][0]["noise"]]
    measured = "lga minus method (95 %, over functions), functions won by lga"
    return markdown_table(
        ["functions", "evaluations", "method", f"best point: {measured}", "recommended point: the same"],
        (
            [split_text(row), evaluations_text(row), row["method"]]
            + [f"{difference_text(row[name])}, {won_text(row[name])}" for name in ("best", "recommended")]
            for row in rows
        ),
    )


def noise_models(report: dict[str, Any]) -> str:
    """Ours minus theirs by the best point on the held-out functions, for each model of noise."""
    rows = [row for row in others(report["rows"]) if row["split"] == "hold-out"]
    single = [row for row in rows if row["noise"] != report["rows"][0]["noise"]]
    return noise_table(single, lambda row: difference_text(row["best"]), "lga minus ")


def noise_table(rows: list[dict[str, Any]], cell: Callable[[dict[str, Any]], str], before: str = "") -> str:
    methods = list(dict.fromkeys(row["method"] for row in rows))
    lines: dict[tuple, dict[str, str]] = {}
    for row in sorted(rows, key=lambda row: (row["split"], row["budget"])):
        lines.setdefault((split_text(row), evaluations_text(row), row["noise"]), {})[row["method"]] = cell(row)
    return markdown_table(
        ["functions", "evaluations", "noise", *(f"{before}{method}" for method in methods)],
        ([*line, *(cells[method] for method in methods)] for line, cells in lines.items()),
    )


def others(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["method"] != "lga"]


def split_text(row: dict[str, Any]) -> str:
    return "held out" if row["split"] == "hold-out" else "trained on"


def evaluations_text(row: dict[str, Any]) -> str:
    return f"{row['budget'] * row['num_dims']:,}"


def difference_text(compared: dict[str, Any]) -> str:
    return interval_text(compared["ours_minus_theirs"], 2, signed=True)


def won_text(compared: dict[str, Any]) -> str:
    return f"{compared['functions_won_by_ours']} of {compared['num_functions']}"


def real_methods(report: dict[str, Any]) -> str:
    """Mean ranks, solved shares and times on the real problems; a line for each method."""
    return markdown_table(
        [
            "method",
            "problems",
            "searches",
            "mean rank (95 %, over problems)",
            "on those nothing was chosen by",
            "solved",
            "on those nothing was chosen by",
            "alone the worst on",
            "median seconds",
        ],
        (
            [
                row["method"],
                f"{row['num_problems']}",
                f"{row['num_searches']}",
                "" if row["mean_rank"] is None else interval_text(row["mean_rank"], 2),
                number_text(row["mean_rank_held_out"], "{:.2f}"),
                f"{100 * row['solved']:.0f} %",
                number_text(row["solved_held_out"], "{:.0%}").replace("%", " %"),
                f"{len(row['worst_on'])}",
                f"{row['median_seconds']:.1f}",
            ]
            for row in report["methods"]
        ),
    )


def number_text(number: float | None, form: str) -> str:
    return "" if number is None else form.format(number)


def real_problems(report: dict[str, Any]) -> str:
    """Median gaps on each problem, with the share of solved searches where that is not all or none."""
    methods = [row["method"] for row in report["methods"]]

    def cell(row: dict[str, Any], method: str) -> str:
        if method not in row["median_gap"]:
            return ""
        if row["solved"][method] == 1.0:
            return "solved"
        gap = f"{row['median_gap'][method]:.2g}"
        return f"{gap} ({100 * row['solved'][method]:.0f} %)" if row["solved"][method] > 0.0 else gap

    return markdown_table(
        ["problem", "what", "D", "evaluations", "tolerance", *methods],
        (
            [
                f"{row['problem']}{'' if row['chosen_on'] else ' *'}",
                row["about"],
                f"{row['num_dims']}",
                f"{row['evaluations']:,}",
                f"{row['tolerance']:g}",
                *(cell(row, method) for method in methods),
            ]
            for row in report["problems"]
        ),
    )


def near_bounds(report: dict[str, Any]) -> str:
    """The worst of all seeds, for every place of the optimum."""
    methods = [name for name in report["rows"][0] if name not in ("num_dims", "evaluations", "fraction")]
    return markdown_table(
        ["D", "evaluations", "fraction of the box", *methods],
        (
            [
                f"{row['num_dims']}",
                f"{row['evaluations']:,}",
                f"{row['fraction']}",
                *(f"{row[method]['worst']:.0e}" for method in methods),
            ]
            for row in report["rows"]
        ),
    )


COMPARISONS: dict[str, Callable[[Any], str]] = {
    "optimizers": optimizers,
    "optimizer_differences": optimizer_differences,
    "noise": noise,
    "noise_recommended": noise_recommended,
    "noise_differences": noise_differences,
    "noise_models": noise_models,
    "real_methods": real_methods,
    "real_problems": real_problems,
    "near_bounds": near_bounds,
}
