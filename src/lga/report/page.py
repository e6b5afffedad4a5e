"""The frame of a page: head, style, script, and the policy that lets nothing else run or load."""

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from lga.report.markup import Markup, element, joined


def page(title: str, sections: Sequence[Markup], data: dict[str, Any]) -> str:
    """A whole document. `data` is for the script, as JSON, which is never run."""
    style, script = (Markup(files("lga.report").joinpath(name).read_text()) for name in ("page.css", "page.js"))
    policy = (
        f"default-src 'none'; style-src {fingerprint(style)}; script-src {fingerprint(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    # The end of a script is found before its text is understood: no "<" may stand in the data.
    content = Markup(json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"))
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", style),
    )
    body = element(
        "body",
        element("main", *sections),
        element("script", content, type="application/json", id="data"),
        element("script", script),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def fingerprint(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def section(heading: str, *inside: Any) -> Markup:
    return element("section", element("h2", heading), *inside)


def cards(facts: dict[str, str]) -> Markup:
    """The few numbers that matter most."""
    pairs = [element("div", element("dt", name), element("dd", text)) for name, text in facts.items()]
    return element("dl", *pairs, class_="cards")


def facts(rows: dict[str, Any]) -> Markup:
    """Names and texts, one below the other."""
    return element("dl", *(joined([element("dt", n), element("dd", text)]) for n, text in rows.items()), class_="facts")
