"""Charts as SVG: drawn here, so that they are there without any script; a script only adds what answers to a hand.

All charts share one frame, so that the script needs to know one. Colours and sizes of letters are up to the style.
"""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from lga.report.axes import Axis, Values
from lga.report.markup import Markup, element, joined

WIDTH, HEIGHT = 560, 320
LEFT, TOP, ACROSS, DOWN = 76, 14, 468, 248
"""The box that values are drawn in."""


class Series(NamedTuple):
    label: str
    x: Values
    y: Values
    style: str = "line"
    """line, step (the value holds until the next) or dots."""
    colour: int = 0


class Chart(NamedTuple):
    """A drawing, and what the script needs to know to point at things in it."""

    name: str
    markup: Markup
    data: dict[str, Any]


def line_chart(
    name: str, title: str, note: str, x_axis: Axis, y_axis: Axis, series: list[Series], marks: Values | None = None
) -> Chart:
    """Series over a common axis, with vertical marks. Its cursor walks along the first series."""
    drawn = [drawn_series(one, x_axis, y_axis) for one in series if one.x.size]
    vertical = [vertical_line(place) for place in x_axis.place(marks)] if marks is not None and marks.size else []
    legend = [element("li", one.label, class_=f"key c{one.colour} {one.style}") for one in series]
    keys = element("ul", *legend, class_="legend")
    cursor = element(
        "label",
        f"{x_axis.label} ",
        element("input", type="range", min=0, max=max(series[0].x.size - 1, 0), value=0, step=1, class_="cursor"),
    )
    picture = svg(title, *frame(x_axis, y_axis), *vertical, *drawn, element("g", class_="pointer"))
    readout = element("output", "Move along the chart, or use the arrow keys on the slider.")
    text = [element("h3", title), element("p", note) if note else "", keys]
    inside = joined([*text, picture, element("p", cursor, readout, class_="controls")])
    data = {
        "x": compact(series[0].x),
        "series": [{"label": one.label, "y": compact(one.y)} | own_places(one, series[0]) for one in series],
        "axes": [plain(x_axis), plain(y_axis)],
    }
    return Chart(name, element("figure", inside, id=name, class_="chart"), data)


def own_places(series: Series, first: Series) -> dict[str, Any]:
    """Most series have the places of the first."""
    return {} if np.array_equal(series.x, first.x) else {"x": compact(series.x)}


def svg(title: str, *inside: Markup, box: tuple[int, int] = (WIDTH, HEIGHT), **attributes: Any) -> Markup:
    width, height = box
    return element("svg", *inside, viewBox=f"0 0 {width} {height}", role="img", aria_label=title, **attributes)


def frame(x_axis: Axis, y_axis: Axis, num_ticks: int = 5) -> list[Markup]:
    lines = []
    for place, text in y_axis.ticks(num_ticks):
        y = round(TOP + DOWN * (1 - place), 1)
        lines.append(element("path", d=f"M{LEFT} {y}h{ACROSS}", class_="grid"))
        lines.append(element("text", text, x=LEFT - 8, y=y, class_="tick left"))
    for place, text in x_axis.ticks(num_ticks):
        lines.append(element("text", text, x=round(LEFT + ACROSS * place, 1), y=TOP + DOWN + 10, class_="tick below"))
    lines.append(element("text", x_axis.label, x=LEFT + ACROSS / 2, y=HEIGHT - 4, class_="axis"))
    return lines


def vertical_line(place: float) -> Markup:
    return element("path", d=f"M{LEFT + ACROSS * place:.1f} {TOP}v{DOWN}", class_="mark")


def drawn_series(series: Series, x_axis: Axis, y_axis: Axis) -> Markup:
    finite = np.isfinite(series.y)
    x, y = series.x[finite], series.y[finite]
    if series.style == "step":
        x, y = corners(x, y)
    across, down = LEFT + ACROSS * x_axis.place(x), TOP + DOWN * (1 - y_axis.place(y))
    drawn = dots(across, down) if series.style == "dots" else line(across, down)
    return element("path", d=drawn, class_=f"c{series.colour} {series.style}")


def corners(x: Values, y: Values) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"]]:
    """Where a staircase changes, and its end."""
    changes = np.flatnonzero(np.diff(y, prepend=np.nan) != 0)
    ends = np.append(x[changes[1:]], x[-1:])
    return np.stack([x[changes], ends], axis=1).ravel(), np.repeat(y[changes], 2)


def line(across: Values, down: Values) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in zip(across.tolist(), down.tolist(), strict=True))


def dots(across: Values, down: Values) -> str:
    """Lines of no length, which round ends make visible: the shortest way to write a dot."""
    places = zip(np.round(across).astype(int).tolist(), np.round(down).astype(int).tolist(), strict=True)
    return "".join(f"M{x} {y}h0" for x, y in places)


def graded_dots(across: Values, down: Values, grade: Int[np.ndarray, " n"]) -> list[Markup]:
    """Dots coloured by grade, the best (0) in front."""
    return [
        element("path", d=dots(across[grade == one], down[grade == one]), class_=f"dots g{one}", data_grade=one)
        for one in sorted(set(grade.tolist()), reverse=True)
    ]


def graded_lines(rows: Float[np.ndarray, "n d"], apart: int, grade: Int[np.ndarray, " n"]) -> list[Markup]:
    """Lines from axis to axis, coloured by grade, the best in front; rows are heights in whole units."""
    across = [LEFT + apart * position for position in range(rows.shape[1])]
    gaps = np.diff(across).tolist()

    def path(row: list[int]) -> str:
        pieces = zip(gaps, row[:-1], row[1:], strict=True)
        return f"M{across[0]} {row[0]}" + "".join(f"l{gap}{signed(after - before)}" for gap, before, after in pieces)

    heights = np.round(rows).astype(int)
    return [
        element("path", d="".join(map(path, heights[grade == one].tolist())), class_=f"thread g{one}", data_grade=one)
        for one in sorted(set(grade.tolist()), reverse=True)
    ]


def signed(value: int) -> str:
    """Behind another number: a minus separates as well as a space does."""
    return str(value) if value < 0 else f" {value}"


def plain(axis: Axis) -> dict[str, Any]:
    own = {"label": axis.label, "low": axis.low, "high": axis.high, "log": axis.log}
    return own | {"words": axis.words} if axis.words else own


def compact(values: np.ndarray) -> list[float | int | None]:
    """Five digits; JSON has no word for what is not finite."""
    return [plainest(value) if np.isfinite(value) else None for value in np.asarray(values, float).tolist()]


def plainest(value: float) -> float | int:
    short = float(f"{value:.5g}")
    return int(short) if short == int(short) and abs(short) < 1e15 else short
