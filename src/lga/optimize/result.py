"""What a search returns, and how it is shown."""

import math
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from lga.core.files import write_atomically
from lga.core.versions import versions
from lga.optimize.variables import Names
from lga.report.charts import svg
from lga.report.markup import element, table
from lga.report.search import SearchRecord, convergence_drawing, search_page


class Result(OptimizeResult):
    """SciPy's result, with a page of its own: `result.report("run.html")`."""

    def report(self, path: str | Path) -> Path:
        """Writes a page that shows all of the search: one file, for any browser, with nothing to install."""
        write_atomically(Path(path), search_page(record_of(self)).encode())
        return Path(path)

    def _repr_html_(self) -> str:
        """For notebooks, which run no script: the essence, and the curve."""
        record = record_of(self)
        rows = [["value", float(self.fun)], ["evaluations", int(self.nfev)], ["ended because", self.message]]
        best = [list(row) for row in (record.best or {}).items()]
        told = table(["", ""], rows + best, f"Search of {record.objective}")
        drawn = convergence_drawing(record)
        style = element("style", REPR_STYLE)
        return element("div", style, told, svg("Best value over evaluations", *drawn, width=420), class_="lga-result")


REPR_STYLE = """
.lga-result svg path { fill: none; stroke: currentColor; }
.lga-result svg path.grid { opacity: 0.15; }
.lga-result svg path.dots { opacity: 0.4; stroke-width: 4; stroke-linecap: round; }
.lga-result svg path.step { stroke-width: 2.5; }
.lga-result svg text { fill: currentColor; font-size: 16px; }
.lga-result svg .left { text-anchor: end; dominant-baseline: middle; }
.lga-result svg .below { text-anchor: middle; dominant-baseline: hanging; }
.lga-result svg .axis { text-anchor: middle; }
"""


def record_of(result: Any) -> SearchRecord:
    """What the page shows of a result."""
    settings, evaluations, history = result.settings, result.evaluations, result.history
    shown = {name: text_of(value) for name, value in settings.items() if name not in ("x_init", "y_init")}
    return SearchRecord(
        objective=result.objective,
        names=evaluations.names,
        log_scale=tuple(settings["log_scale"]),
        maximize=settings["direction"] == "maximize",
        best=best_point(result.x, evaluations.names),
        best_value=float(result.fun) if result.x is not None else math.nan,
        message=result.message,
        x=evaluations.x,
        value=evaluations.value,
        generation=evaluations.generation,
        course={name: history[name] for name in ("evaluations", "rate", "axis_ratio")}
        | {"restarts": np.nan_to_num(history["restarts"]).astype(int)},
        failures=dict(result.failures),
        failure_examples=list(result.failure_examples),
        seconds=result.seconds["in all"],
        seconds_evaluating=result.seconds["evaluating"],
        num_evaluations=int(result.nfev),
        num_restarts=int(result.restarts),
        settings=shown,
        versions=versions(),
        things=things_of(evaluations.variables),
    )


def things_of(variables: Names | None) -> dict[str, tuple[str, ...]]:
    """What the choices of a variable are called, by its name."""
    if variables is None:
        return {}
    pairs = zip(variables.names, variables.things, strict=True)
    return {name: tuple(map(str, things)) for name, things in pairs if things is not None}


def best_point(x: Any, names: tuple[str, ...]) -> dict[str, Any] | None:
    if x is None or isinstance(x, dict):
        return x
    return dict(zip(names, np.asarray(x).tolist(), strict=True))


def text_of(value: Any) -> str:
    """A setting in a line; of many numbers, their beginning."""
    text = str(value)
    return text if len(text) <= 300 else f"{text[:300]}…"
