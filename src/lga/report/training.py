"""The page of a training run: how candidates and validation went, by function, and the numbers that were found."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from lga.report.axes import axis_over
from lga.report.charts import Chart, Series, line_chart, svg
from lga.report.markup import Markup, element, number, table
from lga.report.page import cards, facts, page, section

CELL = 62


@dataclass(frozen=True)
class Matrix:
    """Numbers of one operator, with what the rows and columns stand for."""

    title: str
    values: Float[np.ndarray, "r c"]
    rows: tuple[str, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True)
class HeldOut:
    """What a run came to on tasks that nothing was chosen by."""

    verdict: str
    caption: str
    headings: list[str]
    rows: list[list[Any]]


@dataclass(frozen=True)
class TrainingRecord:
    title: str
    facts: dict[str, str]
    metrics: list[dict[str, Any]]
    """Lines of the run's metrics."""
    scores: dict[str, dict[str, float]]
    """By method, ours first, and by function: the less the better."""
    score_name: str
    matrices: list[Matrix]
    settings: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    held_out: HeldOut | None = None


def training_page(record: TrainingRecord) -> str:
    charts = training_charts(record)
    heat_maps = [heat_map(matrix) for matrix in record.matrices]
    sections = [
        element("header", element("h1", record.title), cards(record.facts)),
        *([section("The test", *held_out_table(record.held_out))] if record.held_out else []),
        section("Course", element("div", *(chart.markup for chart in charts), class_="charts")),
        *([section("By function", *score_table(record))] if record.scores else []),
        section(
            "What was found",
            element("p", "The numbers that the weights fold into. Warm is positive, cold is negative."),
            element("div", *heat_maps, class_="heats"),
        ),
        section("Settings", facts(record.settings | record.versions)),
    ]
    return page(record.title, sections, {"charts": {chart.name: chart.data for chart in charts}})


def training_charts(record: TrainingRecord) -> list[Chart]:
    when = np.array([entry["meta_generation"] for entry in record.metrics], float)
    outcome = np.array([entry["median_log10_outcome"] for entry in record.metrics], float)
    x_axis = axis_over("meta-generation", when, log=False, low=0.0)
    series = [Series("median of all candidates", when, outcome, "line", 1)]
    note = "log10 of what searches ended with, on tasks that are drawn anew each time."
    # Of tasks whose values may be negative there are no orders of magnitude, but one number for all.
    told = np.ptp(outcome) > 0.0
    charts = (
        [line_chart("outcome", "Training", note, x_axis, axis_over("", outcome, log=False), series)] if told else []
    )
    validated = [entry for entry in record.metrics if "validation" in entry]
    if not validated:
        return charts
    when = np.array([entry["meta_generation"] for entry in validated], float)
    lines = {"all": np.array([entry["validation"]["score"] for entry in validated])} | {
        scale: np.array([entry["validation"]["per_scale"][scale] for entry in validated])
        for scale in validated[0]["validation"]["per_scale"]
    }
    series = [Series(name, when, values, "line", place % 6) for place, (name, values) in enumerate(lines.items())]
    y_axis = axis_over("", np.concatenate(list(lines.values())), log=False)
    note = f"{record.score_name}, less is better, on tasks that no training uses: all sizes, and each of them."
    return [*charts, line_chart("validation", "Validation", note, x_axis, y_axis, series[:7])]


def held_out_table(held_out: HeldOut) -> list[Markup]:
    verdict = element("p", element("strong", held_out.verdict[:1].upper() + held_out.verdict[1:] + "."))
    return [verdict, table(held_out.headings, held_out.rows, held_out.caption)]


def score_table(record: TrainingRecord) -> list[Markup]:
    methods = list(record.scores)
    functions = list(record.scores[methods[0]])
    columns = {method: [scores[name] for name in functions] for method, scores in record.scores.items()}
    rows: list[list[Any]] = [
        [name, *(round(columns[method][place], 3) for method in methods)] for place, name in enumerate(functions)
    ]
    rows.append(["mean", *(round(float(np.mean(columns[method])), 3) for method in methods)])
    find = element("label", "Filter ", element("input", type="search", class_="filter", placeholder="name"))
    caption = f"{record.score_name}, less is better"
    return [element("p", find, class_="controls"), table(["function", *methods], rows, caption, sortable=True)]


def heat_map(matrix: Matrix) -> Markup:
    count_rows, count_columns = matrix.values.shape
    left, top = 96, 28
    strongest = float(np.max(np.abs(matrix.values), initial=1e-12))
    drawn = []
    for row in range(count_rows):
        drawn.append(element("text", matrix.rows[row], x=left - 8, y=top + CELL * (row + 0.5), class_="tick left"))
        for column in range(count_columns):
            value = float(matrix.values[row, column])
            x, y = left + CELL * column, top + CELL * row
            share = round(0.6 * abs(value) / strongest, 3)
            colour = "warm" if value > 0 else "cold"
            drawn.append(element("rect", x=x, y=y, width=CELL, height=CELL, class_=colour, fill_opacity=share))
            drawn.append(element("text", short(value), x=x + CELL / 2, y=y + CELL / 2, class_="inside"))
    for column in range(count_columns):
        drawn.append(element("text", matrix.columns[column], x=left + CELL * (column + 0.5), y=top - 10, class_="axis"))
    size = (left + CELL * count_columns + 4, top + CELL * count_rows + 4)
    picture = svg(matrix.title, *drawn, box=size, class_="heat", width=size[0])
    return element("figure", element("h3", matrix.title), picture)


def short(value: float) -> str:
    """As much as a cell has room for."""
    return number(value, 2) if abs(value) >= 0.01 else "0"
