"""What learned selection does on a sphere in two dimensions (the paper's figure 8)."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import rankdata

from experiments.dissection import Dissected, Searches, dissect
from experiments.form import Experiment, Outcome, described
from lga.analysis.operators import selection_panels

COLUMNS = {
    "generation": "generation",
    "parents_replaced": "share of parents that are replaced",
    "searches_with_a_better_child": "share of searches with a child better than the best so far",
    "replaced_without_a_better_child": "parents replaced in the others",
    "different_children_chosen": "different children chosen",
    "mean_log10_rate": "mean log10 rate",
    "rank_correlation_of_parent_and_rate": "rank correlation of a parent's fitness with its children's rate",
}


@dataclass(frozen=True)
class SelectionSettings:
    weights: str = "lga-paper"
    generations: tuple[int, ...] = (1, 16, 31, 46)
    """Those that are drawn, of the first search."""
    searches: Searches = field(default_factory=lambda: Searches(num_seeds=50))


def row_of(found: Dissected, generation: int) -> dict[str, Any]:
    """One generation, averaged over all searches."""
    t, n = generation - 1, found.child_rates.shape[-1]
    chosen = found.chosen[:, t]
    replaced = chosen < n
    distinct = [len(set(own[own < n])) for own in chosen]
    success = found.beats_best[:, t].any(axis=-1)
    ranks, rates = np.asarray(found.parents_of_children[:, t, :, 1]), np.asarray(found.child_rates[:, t])
    return {
        "generation": generation,
        "parents_replaced": float(replaced.mean()),
        "searches_with_a_better_child": float(success.mean()),
        "replaced_without_a_better_child": float(replaced[~success].mean()),
        "different_children_chosen": float(np.mean(distinct)),
        "mean_log10_rate": float(np.log10(rates).mean()),
        "rank_correlation_of_parent_and_rate": float(
            np.nanmean([rank_correlation(*pair) for pair in zip(ranks, rates, strict=True) if np.ptp(pair[1]) > 0])
        ),
    }


def rank_correlation(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.corrcoef(rankdata(x), rankdata(y))[0, 1])


def run(settings: SelectionSettings, out: Path, console: Console) -> Outcome:
    found = dissect(settings.weights, settings.searches)
    chosen, improvements, rates = map(np.asarray, (found.chosen, found.improvements, found.child_rates))
    first = {
        f"generation {t}": (chosen[0, t - 1], improvements[0, t - 1], rates[0, t - 1]) for t in settings.generations
    }
    selection_panels(first, out / "selection.png")
    rows = [row_of(found, t) for t in settings.generations]
    table = Table(*COLUMNS.values())
    for row in rows:
        table.add_row(*(f"{value:.3g}" for value in row.values()))
    return Outcome({"config": described(settings), "rows": rows}, table)


EXPERIMENT = Experiment(
    "figure 8: which child takes the place of which parent, and the rates of the children, on a sphere in 2-D",
    {
        "smoke": SelectionSettings(generations=(1, 3), searches=Searches(num_generations=3, num_seeds=8)),
        "small": SelectionSettings(),
        "paper": SelectionSettings(),
    },
    run,
)
