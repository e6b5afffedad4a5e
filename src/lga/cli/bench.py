"""`lga bench`: comparisons. Whatever they write goes under runs/bench, unless told otherwise."""

from pathlib import Path

import tyro

from lga.bench.bbob import BbobProtocol, compare_on_bbob
from lga.bench.coco import CocoSettings, run_coco
from lga.bench.generalization import Grid, compare_budgets
from lga.bench.methods import as_shipped
from lga.cli.screen import table_console
from lga.core.compile_cache import use_compilation_cache
from lga.weights import DEFAULT_WEIGHTS, EVOSAX_LGA, resolve, resolve_all

PAPER, COCO, GRID = BbobProtocol(), CocoSettings(), Grid()


def bbob_main(args: list[str]) -> None:
    tyro.cli(run_bbob, args=args, prog="lga bench bbob")


def run_bbob(
    weights: tuple[str, ...] = ("lga-2", "lga-1", "lga-paper", "lga-paper-2", EVOSAX_LGA),
    out: Path = Path("runs/bench/bbob"),
    scheduler: str | None = None,
    protocol: tyro.conf.OmitArgPrefixes[BbobProtocol] = PAPER,
) -> None:
    """Compare learned GAs with hand-designed algorithms on BBOB, by the paper's protocol.

    Args:
        weights: Installed names or files of learned GAs, or evosax-lga; all others are compared with the first.
        out: Folder of the results; what is there already is not computed again.
        scheduler: Address of a Dask scheduler whose workers compute what is missing.
        protocol: Functions, dimensions, budgets and instances.
    """
    use_compilation_cache()
    found = list(resolve_all(weights, protocol.num_dims).values())
    compare_on_bbob(protocol, found, out, table_console(), scheduler)


def coco_main(args: list[str]) -> None:
    tyro.cli(run_under_coco, args=args, prog="lga bench coco")


def run_under_coco(
    weights: str = "lga-2",
    out: Path = Path("runs/bench/coco/lga"),
    settings: tyro.conf.OmitArgPrefixes[CocoSettings] = COCO,
) -> None:
    """Run a learned GA under COCO's experiment module, for `python -m cocopp FOLDER` to compare with the archive.

    Args:
        weights: Installed name or file of the learned GA.
        out: Folder of COCO's logs; COCO numbers it if it exists.
        settings: Problems and budget.
    """
    use_compilation_cache()
    console = table_console()
    folder = run_coco(as_shipped(resolve(weights)), settings, out, console)
    console.print(f"logs in {folder}; pictures and tables: python -m cocopp {folder}")


def generalization_main(args: list[str]) -> None:
    tyro.cli(run_generalization, args=args, prog="lga bench generalization")


def run_generalization(
    weights: str = DEFAULT_WEIGHTS,
    out: Path = Path("runs/bench/generalization"),
    scheduler: str | None = None,
    grid: tyro.conf.OmitArgPrefixes[Grid] = GRID,
) -> None:
    """Compare a learned GA, untuned, with the best tuned baseline for many population sizes, dimensions and horizons.

    Args:
        weights: Installed name or file of the learned GA, or evosax-lga.
        out: Folder of the results; what is there already is not computed again.
        scheduler: Address of a Dask scheduler whose workers compute what is missing.
        grid: Cells, settings of the baselines and instances.
    """
    use_compilation_cache()
    console = table_console()
    report = compare_budgets(grid, weights, out, console, scheduler)
    ahead = sum(cell["minus_best_baseline"]["mean"] < 0 for cell in report["cells"])
    console.print(f"ahead of the best tuned baseline in {ahead} of {len(report['cells'])} cells; pictures in {out}/")
