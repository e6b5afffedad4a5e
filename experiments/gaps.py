"""Mean log10 gaps on BBOB as a table: the one form of comparisons that have a row or two beyond the benchmark's own."""

from typing import Any

import numpy as np
from rich.table import Table

from experiments.form import Outcome, described
from lga.bench.statistics import interval_text, mean_interval


def gap_outcome(settings: Any, what: str, gaps: dict[str, np.ndarray]) -> Outcome:
    """One row for each name, with an interval over instances; `what` says what the names are of."""
    rows = [{what: name, "mean_log10_gap": mean_interval(own)._asdict()} for name, own in gaps.items()]
    table = Table(*header(rows))
    for row in rows:
        table.add_row(*cells(row))
    return Outcome({"config": described(settings), "rows": rows}, table)


def header(rows: list[dict[str, Any]]) -> list[str]:
    what, _ = rows[0]
    return [what, "mean log10 gap (95 %, over instances)"]


def cells(row: dict[str, Any]) -> list[str]:
    name, gap = row.values()
    return [name, interval_text(gap, 3)]
