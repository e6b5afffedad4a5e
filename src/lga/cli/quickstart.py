"""`lga quickstart`: the main job on a small scale."""

import time
from dataclasses import replace
from pathlib import Path

import tyro

from lga.bench.quickstart import QuickstartConfig, quickstart
from lga.cli.devices import use_cores
from lga.cli.screen import table_console
from lga.core.checks import require
from lga.core.compile_cache import use_compilation_cache


def main(args: list[str]) -> None:
    tyro.cli(run_quickstart, args=args, prog="lga quickstart")


def run_quickstart(out: Path | None = None, meta_generations: int = 120) -> None:
    """Discover a genetic algorithm, test it on unseen functions and write a report.

    Args:
        out: Folder of the report; a new one under report/ if not given.
        meta_generations: Length of the training.
    """
    use_cores()
    use_compilation_cache()
    folder = out or Path("report") / time.strftime("%Y-%m-%d-%H%M%S")
    require(not folder.exists(), f"out is {str(folder)!r}, but that folder exists already.")
    console = table_console()
    config = QuickstartConfig()
    begin = time.monotonic()
    quickstart(replace(config, training=replace(config.training, meta_generations=meta_generations)), folder, console)
    console.print(f"\nReport in {folder}/ after {time.monotonic() - begin:.0f} s:")
    for path in sorted(folder.glob("*.*")):
        console.print(f"  {path}")
