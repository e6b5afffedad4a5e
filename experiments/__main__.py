"""`python -m experiments` lists all; `python -m experiments NAME [--preset smoke|small|paper] [--out FOLDER]`."""

import sys
from importlib import import_module
from pathlib import Path

from rich.console import Console

from experiments.form import Experiment, start
from lga.cli.screen import table_console
from lga.core.checks import require_known

NOT_EXPERIMENTS = (
    "__init__",
    "__main__",
    "budgets",
    "dissection",
    "form",
    "gaps",
    "markdown",
    "network_tables",
    "networks",
    "own_pools",
    "comparison_tables",
    "study_tables",
    "sweep",
    "timing",
    "user_tables",
    "variants",
)


def names() -> list[str]:
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in NOT_EXPERIMENTS)


def find(name: str) -> Experiment:
    require_known("experiment", name, names())
    return import_module(f"experiments.{name}").EXPERIMENT


def listing() -> str:
    width = max(map(len, names()))
    return "\n".join(f"  {name:<{width}}  {find(name).shows}" for name in names())


def main(args: list[str], console: Console | None = None) -> None:
    if not args or args[0] in ("-h", "--help"):
        print(f"usage: python -m experiments NAME [--preset smoke|small|paper] [--out FOLDER]\n\n{listing()}")
        return
    start(args[0], find(args[0]), args[1:], console or table_console())


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except ValueError as error:
        sys.exit(f"experiments: {error}")
