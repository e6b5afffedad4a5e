"""`lga tasks`: the benchmark functions."""

from pathlib import Path

import tyro
from rich.table import Table

from lga.analysis import figures
from lga.cli.screen import table_console
from lga.meta.families import FAMILIES
from lga.tasks import registry


def list_main(args: list[str]) -> None:
    tyro.cli(list_tasks, args=args, prog="lga tasks list")


def show_main(args: list[str]) -> None:
    tyro.cli(show, args=args, prog="lga tasks show")


def list_tasks() -> None:
    """Families that can be trained on, then all benchmark functions and neuroevolution tasks: name, number, group, and
    whether they are trained on."""
    families = Table("family", "what it is", title="lga train --tasks FAMILY")
    for name, build in FAMILIES.items():
        families.add_row(name, str(build.__doc__))
    families.add_row("FILE.py:NAME", "Your own: see lga.family.")
    table_console().print(families)
    table = Table(*registry.Row._fields)
    for row in registry.rows():
        table.add_row(row.name, row.benchmark, str(row.number), row.group, ", ".join(row.families), row.split)
    table_console().print(table)


def show(out: Path = Path("tasks"), instance: int = 1) -> None:
    """Contours of all functions in two dimensions, with their optimum."""
    for path in figures.bbob_contours(out, instance):
        print(path)
