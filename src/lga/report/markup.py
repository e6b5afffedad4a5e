"""HTML and SVG as text. What is not markup already is escaped: no text of a user can become a part of the page."""

from html import escape
from typing import Any

VOID = frozenset({"br", "input", "meta"})


class Markup(str):
    """Text that is markup already."""


def element(name: str, *children: Any, **attributes: Any) -> Markup:
    """`element("td", "a < b", class_="wide")`. An attribute that is None is left out; of _ in names, the inner ones are
    hyphens."""
    pairs = [(key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items() if value is not None]
    opened = "".join(f' {key}="{escape(str(value))}"' for key, value in pairs)
    return Markup(f"<{name}{opened}>" if name in VOID else f"<{name}{opened}>{joined(children)}</{name}>")


def joined(children: Any) -> Markup:
    return Markup("".join(child if isinstance(child, Markup) else escape(str(child)) for child in children))


def table(headings: list[str], rows: list[list[Any]], caption: str, sortable: bool = False) -> Markup:
    """Cells that are numbers are set right; those of a sortable table carry their value."""
    head = [element("th", heading, scope="col", data_sort="" if sortable else None) for heading in headings]
    body = [element("tr", *map(cell, row)) for row in rows]
    parts = (element("caption", caption), element("thead", element("tr", *head)), element("tbody", *body))
    # A region that scrolls must be reached by the keyboard.
    return element("div", element("table", *parts), class_="scroll", tabindex="0", role="region", aria_label=caption)


def cell(value: Any) -> Markup:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return element("td", number(value), class_="number", data_value=repr(value))
    return element("td", value)


def number(value: float | int, digits: int = 6) -> str:
    """As people write it: a minus sign, groups of three digits in whole numbers."""
    if isinstance(value, int):
        return f"{value:,}".replace("-", "\N{MINUS SIGN}")
    return f"{value:.{digits}g}".replace("-", "\N{MINUS SIGN}")
