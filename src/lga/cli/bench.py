"""`lga bench`: comparisons."""

from pathlib import Path

import tyro

from lga.algorithms.presets import learned_ga
from lga.bench.bbob import Protocol
from lga.bench.coco import CocoSettings, run_coco
from lga.cli.devices import use_cores
from lga.cli.screen import table_console
from lga.core.compile_cache import use_compilation_cache
from lga.studies.additions import AdditionsConfig, additions_study
from lga.studies.bbob import bbob_study
from lga.studies.generalisation import Grid, generalisation_study
from lga.weights import EVOSAX_LGA, resolve, resolve_all

PAPER, COCO, GRID, ADDITIONS = Protocol(), CocoSettings(), Grid(), AdditionsConfig()


def bbob_main(args: list[str]) -> None:
    tyro.cli(run_bbob, args=args, prog="lga bench bbob")


def run_bbob(
    weights: tuple[str, ...] = ("lga-1", "lga-paper", EVOSAX_LGA),
    out: Path = Path("results/bbob"),
    protocol: tyro.conf.OmitArgPrefixes[Protocol] = PAPER,
) -> None:
    """Compare learned GAs with hand-designed algorithms on BBOB, by the paper's protocol.

    Args:
        weights: Installed names or files of learned GAs, or evosax-lga; all others are compared with the first.
        out: Folder of the results; what is there already is not computed again.
        protocol: Functions, dimensions, budgets and instances.
    """
    use_compilation_cache()
    found = resolve_all(weights, protocol.num_dims)
    bbob_study(protocol, {name: one.theta for name, one in found.items()}, out, table_console())


def coco_main(args: list[str]) -> None:
    tyro.cli(run_under_coco, args=args, prog="lga bench coco")


def run_under_coco(
    weights: str = "lga-1",
    out: Path = Path("exdata/lga"),
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
    algorithm = learned_ga(weights, settings.num_children)
    folder = run_coco(algorithm, Path(weights).stem, settings, out, console)
    console.print(f"logs in {folder}; pictures and tables: python -m cocopp {folder}")


def generalisation_main(args: list[str]) -> None:
    tyro.cli(run_generalisation, args=args, prog="lga bench generalisation")


def run_generalisation(
    weights: str = "lga-1",
    out: Path = Path("results/generalisation"),
    grid: tyro.conf.OmitArgPrefixes[Grid] = GRID,
) -> None:
    """Compare a learned GA, untuned, with the best tuned baseline for many population sizes, dimensions and horizons.

    Args:
        weights: Installed name or file of the learned GA.
        out: Folder of the results; what is there already is not computed again.
        grid: Cells, settings of the baselines and instances.
    """
    use_compilation_cache()
    console = table_console()
    report = generalisation_study(grid, Path(weights).stem, resolve(weights).theta, out, console)
    ahead = sum(cell["minus_best_baseline"] < 0 for cell in report["cells"])
    console.print(f"ahead of the best tuned baseline in {ahead} of {len(report['cells'])} cells; pictures in {out}/")


def additions_main(args: list[str]) -> None:
    tyro.cli(run_additions, args=args, prog="lga bench additions")


def run_additions(
    runs: Path = Path("runs/additions"), out: Path = Path("results/additions"), config: AdditionsConfig = ADDITIONS
) -> None:
    """Train short runs with one thing changed at a time, to show what each addition to the paper's algorithm brings.

    Args:
        runs: Folder of the training runs; an interrupted one is gone on with, a finished one is not run again.
        out: Folder of the results.
        config: Settings that all runs share.
    """
    use_cores()
    use_compilation_cache()
    additions_study(config, runs, out, table_console())
