"""`lga bench`: comparisons."""

from pathlib import Path

import tyro

from lga.bench.bbob import Protocol
from lga.cli.devices import use_compilation_cache
from lga.cli.screen import table_console
from lga.cli.weights import find
from lga.operators.theta import load_theta
from lga.studies.bbob import bbob_study

PAPER = Protocol()


def bbob_main(args: list[str]) -> None:
    tyro.cli(run_bbob, args=args, prog="lga bench bbob")


def run_bbob(
    weights: tuple[str, ...],
    out: Path = Path("results/bbob"),
    protocol: tyro.conf.OmitArgPrefixes[Protocol] = PAPER,
) -> None:
    """Compare learned GAs with hand-designed algorithms on BBOB, by the paper's protocol.

    Args:
        weights: Installed names or files of the learned GAs; the first is the one that all others are compared with.
        out: Folder of the results; what is there already is not computed again.
        protocol: Functions, dimensions, budgets and instances.
    """
    use_compilation_cache()
    thetas = {Path(name).stem if Path(name).is_file() else name: load_theta(find(name))[0] for name in weights}
    bbob_study(protocol, thetas, out, table_console())
