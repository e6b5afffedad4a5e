"""`lga info`: what is installed and what it runs on."""

import jax
import tyro
from rich.console import Console
from rich.table import Table

from lga import native
from lga.core.versions import versions
from lga.lanes.build import compiler, why_not


def main(args: list[str]) -> None:
    tyro.cli(info, args=args, prog="lga info")


def info() -> None:
    """Which kernel is in use and why, versions, and devices."""
    status = native.status()
    compiled_for = f", compiled for {status.instruction_set}" if status.instruction_set else ""
    table = Table(show_header=False, box=None)
    table.add_row("kernel", f"{status.kernel}{compiled_for}: {status.reason}")
    table.add_row("simulators", f"JAX alone: {why_not()}" if why_not() else f"in lanes, by {compiler()}")
    for name, text in versions().items():
        table.add_row(name, text)
    table.add_row("devices", ", ".join(map(str, jax.devices())))
    Console(soft_wrap=True).print(table)
