"""Function by function, at several sizes of search (the paper's figures 4, 17 and 18)."""

from pathlib import Path

from rich.console import Console
from rich.table import Table

from experiments.budgets import PRESETS, BudgetSettings, log_gaps
from experiments.form import Experiment, Outcome, described
from lga.analysis.figures import ratio_bars
from lga.core.compile_cache import use_compilation_cache
from lga.tasks import registry

REFERENCE = "Gaussian GA"


def run(settings: BudgetSettings, out: Path, console: Console) -> Outcome:
    use_compilation_cache()
    functions = list(settings.grid.functions)
    splits = {
        split: [name for name in functions if registry.row(name).split == split] for split in ("train", "hold-out")
    }
    rows = []
    for budget, own in log_gaps(settings, [*settings.by_dims, *settings.by_population], console).items():
        means = {
            method: dict(zip(functions, gaps[..., -1].mean(axis=1).tolist(), strict=True))
            for method, gaps in own.items()
        }
        ratio_bars(means, REFERENCE, splits, out / f"bbob_detail_n{budget.num_children}_d{budget.num_dims}.png")
        rows.append({"num_children": budget.num_children, "num_dims": budget.num_dims, "per_function": means})
    table = Table("N", "D", "functions", f"functions on which {settings.weights} is best", "of")
    for row in rows:
        for split, members in splits.items():
            won = functions_won(row["per_function"], members)[settings.weights]
            table.add_row(str(row["num_children"]), str(row["num_dims"]), split, str(won), str(len(members)))
    return Outcome({"config": described(settings), "splits": splits, "rows": rows}, table)


def functions_won(per_function: dict[str, dict[str, float]], functions: list[str]) -> dict[str, int]:
    """How many of the functions each method is the best on."""
    winners = [min(per_function, key=lambda method: per_function[method][function]) for function in functions]
    return {method: winners.count(method) for method in per_function}


EXPERIMENT = Experiment(
    "figures 4, 17, 18: every method on every function, at several dimensions and population sizes", PRESETS, run
)
