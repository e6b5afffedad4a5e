"""The page of a search: what it found, how it went, what it tried, what failed and what it took."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from lga.report.axes import Axis, Values, axis_of, axis_over, robust_axis
from lga.report.charts import (
    ACROSS,
    DOWN,
    LEFT,
    TOP,
    Chart,
    Series,
    compact,
    drawn_series,
    frame,
    graded_dots,
    graded_lines,
    line_chart,
    plain,
    svg,
)
from lga.report.markup import Markup, element, number, table
from lga.report.page import cards, facts, page, section

MOST_EVALUATIONS = 5000
MOST_VARIABLES = 10
MOST_ROWS = 100
NUM_GRADES = 10


@dataclass(frozen=True)
class SearchRecord:
    """All that the page shows. Values are as the user knows them; failed evaluations have NaN."""

    objective: str
    names: tuple[str, ...]
    log_scale: tuple[bool, ...]
    maximize: bool
    best: dict[str, Any] | None
    """The best point by name: numbers, or whatever a variable may be."""
    best_value: float
    message: str
    x: Float[np.ndarray, "n d"]
    value: Float[np.ndarray, " n"]
    generation: Int[np.ndarray, " n"]
    course: dict[str, np.ndarray]
    """One entry per generation: evaluations, rate, axis_ratio, restarts."""
    failures: dict[str, int]
    failure_examples: list[str]
    seconds: float
    seconds_evaluating: float
    num_evaluations: int
    num_restarts: int
    settings: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    things: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Of variables that are one of several things, what these are called; `x` has their numbers."""


def search_page(record: SearchRecord) -> str:
    shown = shown_evaluations(record)
    course = [convergence(record, shown), *course_charts(record)]
    sections = [
        header(record),
        section("Course", element("div", *(chart.markup for chart in course), class_="charts")),
        *evaluations(record, shown),
        section("Failures", *failure_list(record)),
        section("Time", *timing(record)),
        section("Settings", facts(record.settings | record.versions)),
    ]
    data = {"charts": {chart.name: chart.data for chart in course}, "evaluations": evaluation_data(record, shown)}
    return page(f"Search of {record.objective}", sections, data)


def header(record: SearchRecord) -> Markup:
    num_failed = sum(record.failures.values())
    shown = {
        "largest value" if record.maximize else "least value": number(record.best_value, 8),
        "evaluations": number(record.num_evaluations),
        "failed": number(num_failed),
        "restarts": number(record.num_restarts),
        "seconds": number(record.seconds, 3),
    }
    if record.best is None:
        best = element("p", "No evaluation succeeded.")
    else:
        best = table(["variable", "value"], [list(row) for row in record.best.items()], "The best point")
    return element(
        "header",
        element("h1", "Search of ", element("code", record.objective)),
        element("p", f"It ended because {record.message}."),
        cards(shown),
        best,
    )


def shown_evaluations(record: SearchRecord) -> Int[np.ndarray, " k"]:
    """All of them; of very many the best tenth of what is shown, and of the rest every so many."""
    count = len(record.value)
    if count <= MOST_EVALUATIONS:
        return np.arange(count)
    best = ranked(record, np.arange(count))[: MOST_EVALUATIONS // 10]
    rest = np.setdiff1d(np.arange(count), best)
    spread = rest[np.linspace(0, rest.size - 1, MOST_EVALUATIONS - best.size).round().astype(int)]
    return np.union1d(best, spread)


def ranked(record: SearchRecord, rows: Int[np.ndarray, " k"]) -> Int[np.ndarray, " m"]:
    """Those that succeeded, the best first."""
    succeeded = rows[np.isfinite(record.value[rows])]
    sign = -1.0 if record.maximize else 1.0
    return succeeded[np.argsort(sign * record.value[succeeded], kind="stable")]


# Course.


def convergence(record: SearchRecord, shown: Int[np.ndarray, " k"]) -> Chart:
    x_axis, y_axis, series = convergence_series(record, shown)
    starts = restart_places(record)
    note = "Dashed lines are restarts. " if starts.size else ""
    if not y_axis.log:
        note += "What lies beyond the axis is drawn at its edge."
    return line_chart("convergence", "Value", note, x_axis, y_axis, series, starts)


def convergence_series(record: SearchRecord, shown: Int[np.ndarray, " k"]) -> tuple[Axis, Axis, list[Series]]:
    when, values = (shown + 1).astype(float), record.value[shown]
    best = (np.fmax if record.maximize else np.fmin).accumulate(record.value)
    series = [Series("best so far", when, best[shown], "step", 0), Series("each evaluation", when, values, "dots", 1)]
    return axis_over("evaluation", when, log=False, low=0.0), value_axis(record, values), series


def convergence_drawing(record: SearchRecord) -> list[Markup]:
    """The curve alone."""
    x_axis, y_axis, series = convergence_series(record, shown_evaluations(record))
    return [*frame(x_axis, y_axis), *(drawn_series(one, x_axis, y_axis) for one in series if one.x.size)]


def value_axis(record: SearchRecord, values: Values) -> Axis:
    if not record.maximize:
        return robust_axis("value", values)
    mirrored = robust_axis("value", -values)
    return axis_over("value", values) if mirrored.log else Axis("value", -mirrored.high, -mirrored.low)


def restart_places(record: SearchRecord) -> Values:
    course = record.course
    if course["restarts"].size < 2:
        return np.zeros(0)
    return course["evaluations"][np.flatnonzero(np.diff(course["restarts"]) > 0)].astype(float)


def course_charts(record: SearchRecord) -> list[Chart]:
    course, starts = record.course, restart_places(record)
    when = course["evaluations"].astype(float)
    panels = {
        "rate": ("Mutation rate", "How far children are from where they come from; a side of the box is 10.", "rate"),
        "axis_ratio": ("Shape", "Longest axis of the mutations over the shortest: 1 is a ball.", "axis ratio"),
    }
    charts = []
    for place, (name, (title, note, label)) in enumerate(panels.items()):
        values = course[name]
        if np.isfinite(values).any():
            x_axis = axis_over("evaluation", when, log=False, low=0.0)
            series = [Series(label, when, values, "line", 2 + place)]
            charts.append(line_chart(name, title, note, x_axis, axis_over(label, values), series, starts))
    return charts


# Evaluations.


def evaluations(record: SearchRecord, shown: Int[np.ndarray, " k"]) -> list[Markup]:
    order = ranked(record, shown)
    if not order.size:
        return []
    columns = told_variables(record, order)
    grade = np.arange(order.size) * NUM_GRADES // order.size
    axes = variable_axes(record, order, columns)
    y_axis = value_axis(record, record.value[order])
    few = "" if len(columns) == len(record.names) else f" The {len(columns)} variables that go with the value most."
    thinned = (
        "" if len(shown) == len(record.value) else f" {number(len(shown))} of {number(len(record.value))} are shown."
    )
    note = element("p", f"The best is marked; the stronger the colour, the better.{few}{thinned}")
    controls = element(
        "p",
        slider("Show the best", "shown", order.size, order.size),
        slider("Look at rank", "rank", order.size, 1),
        element("output", id="looked-at"),
        class_="controls",
        id="evaluations-controls",
    )
    slices = [one_slice(record, order, grade, column, axis, y_axis) for column, axis in zip(columns, axes, strict=True)]
    return [
        section(
            "Evaluations",
            note,
            controls,
            element("h3", "Each line is one evaluation"),
            parallel(record, order, grade, columns, [*axes, y_axis]),
            element("h3", "Value over each variable"),
            element("div", *slices, class_="slices"),
        ),
        section("Best evaluations", *best_table(record, order)),
    ]


def slider(label: str, name: str, most: int, value: int) -> Markup:
    knob = element("input", type="range", min=1, max=most, value=value, id=name)
    return element("label", f"{label} ", knob)


def told_variables(record: SearchRecord, order: Int[np.ndarray, " m"]) -> list[int]:
    """In their order; of many, those whose ranks go with the rank of the value most."""
    count = len(record.names)
    if count <= MOST_VARIABLES:
        return list(range(count))
    # Imported here: it takes long, and most searches are never drawn.
    from scipy.stats import rankdata

    ranks = rankdata(record.x[order], axis=0)
    centred = ranks - ranks.mean(axis=0)
    place = np.arange(order.size) - (order.size - 1) / 2
    strength = np.abs(place @ centred) / np.maximum(np.linalg.norm(centred, axis=0), 1e-12)
    return sorted(np.argsort(-strength, kind="stable")[:MOST_VARIABLES].tolist())


def variable_axes(record: SearchRecord, order: Int[np.ndarray, " m"], columns: list[int]) -> list[Axis]:
    return [
        axis_of(name, record.things[name])
        if (name := record.names[c]) in record.things
        else axis_over(name, record.x[order, c], log=bool(record.log_scale[c]))
        for c in columns
    ]


def parallel(record: SearchRecord, order, grade, columns: list[int], axes: list[Axis]) -> Markup:
    values = [*(record.x[order, column] for column in columns), record.value[order]]
    apart = apart_of(len(axes))
    heights = np.stack([TOP + 20 + DOWN * (1 - axis.place(v)) for axis, v in zip(axes, values, strict=True)], axis=1)
    width = 2 * LEFT + apart * (len(axes) - 1)
    rules = []
    for position, axis in enumerate(axes):
        across = LEFT + apart * position
        rules.append(element("path", d=f"M{across} {TOP + 20}v{DOWN}", class_="rule"))
        rules.append(element("text", axis.label, x=across, y=TOP + 6, class_="axis"))
        for height, value in ((TOP + 34, axis.high), (TOP + 18 + DOWN, axis.low)):
            text = axis.words[int(value)] if axis.words else number(value, 3)
            rules.append(element("text", text, x=across + 5, y=height, class_="end"))
    best = graded_lines(heights[:1], apart, np.zeros(1, int))[0].replace("thread g0", "thread best")
    picture = svg(
        "Evaluations as lines from variable to variable",
        *graded_lines(heights, apart, grade),
        Markup(best),
        *rules,
        element("g", class_="pointer"),
        box=(width, TOP + DOWN + 44),
    )
    label = "Evaluations as lines; scrolls sideways"
    return element("div", picture, id="parallel", class_="scroll wide", tabindex="0", role="region", aria_label=label)


def apart_of(num_axes: int) -> int:
    """Few axes stand wider apart."""
    return max(1000 // max(num_axes - 1, 1), 100)


def one_slice(record: SearchRecord, order, grade, column: int, x_axis: Axis, y_axis: Axis) -> Markup:
    across = LEFT + ACROSS * x_axis.place(record.x[order, column])
    down = TOP + DOWN * (1 - y_axis.place(record.value[order]))
    best = element("circle", cx=round(across[0]), cy=round(down[0]), r=9, class_="best")
    picture = svg(
        f"Value over {x_axis.label}",
        *frame(x_axis, y_axis, 4),
        *graded_dots(across, down, grade),
        best,
        element("g", class_="pointer"),
        class_="small",
    )
    return element("div", picture, class_="slice", data_column=column)


def evaluation_data(record: SearchRecord, shown: Int[np.ndarray, " k"]) -> dict[str, Any] | None:
    """The rows that can be looked at, the best first."""
    order = ranked(record, shown)
    if not order.size:
        return None
    columns = told_variables(record, order)
    axes = [*variable_axes(record, order, columns), value_axis(record, record.value[order])]
    return {
        "number": (order + 1).tolist(),
        "columns": [compact(record.x[order, column]) for column in columns] + [compact(record.value[order])],
        "axes": [plain(axis) for axis in axes],
        "grades": NUM_GRADES,
        "apart": apart_of(len(axes)),
    }


def best_table(record: SearchRecord, order: Int[np.ndarray, " m"]) -> list[Markup]:
    rows = [
        [rank, int(row) + 1, float(record.value[row]), *point(record, row)]
        for rank, row in enumerate(order[:MOST_ROWS].tolist(), start=1)
    ]
    caption = f"The best {len(rows)} evaluations"
    find = element("label", "Filter ", element("input", type="search", class_="filter", placeholder="number or text"))
    headings = ["rank", "evaluation", "value", *record.names]
    return [element("p", find, class_="controls"), table(headings, rows, caption, sortable=True)]


def point(record: SearchRecord, row: int) -> list[Any]:
    """Numbers, and things by what they are called."""
    return [
        record.things[name][int(value)] if name in record.things else value
        for name, value in zip(record.names, record.x[row].tolist(), strict=True)
    ]


# Failures, time.


def failure_list(record: SearchRecord) -> list[Markup]:
    counts = {kind: count for kind, count in record.failures.items() if count}
    if not counts:
        return [element("p", "None.")]
    examples = dict(example.split(": ", 1) for example in record.failure_examples)
    rows = [[kind, count, element("pre", examples.get(kind, ""))] for kind, count in counts.items()]
    return [table(["kind", "count", "first example"], rows, "Failed evaluations by kind", sortable=True)]


def timing(record: SearchRecord) -> list[Markup]:
    share = min(record.seconds_evaluating / max(record.seconds, 1e-9), 1.0)
    bar = svg(
        f"{share:.0%} of the time in the objective",
        element("rect", x=0, y=0, width=600, height=14, rx=7, class_="bar rest"),
        element("rect", x=0, y=0, width=round(600 * share), height=14, rx=7, class_="bar"),
        box=(600, 14),
        class_="strip",
    )
    each = record.seconds / max(record.num_evaluations, 1)
    told = {
        "evaluating": f"{number(record.seconds_evaluating, 3)} s ({share:.0%})",
        "the search itself": f"{number(record.seconds - record.seconds_evaluating, 3)} s",
        "for an evaluation": f"{number(1000.0 * each, 3)} ms in the mean, all workers together",
    }
    return [bar, facts(told)]
