"""`lga bench hpob`: hyperparameters of real models, tuned by several algorithms."""

from pathlib import Path

import tyro

from lga.bench.hpob.protocol import HpobProtocol, compare_on_hpob
from lga.cli.screen import table_console
from lga.core.compile_cache import use_compilation_cache
from lga.tasks.hpob.pools import COLUMNS
from lga.weights import resolve_all

DISCRETE = HpobProtocol()


def main(args: list[str]) -> None:
    tyro.cli(run_hpob, args=args, prog="lga bench hpob")


def run_hpob(
    weights: tuple[str, ...] = ("lga-hpo-2", "lga-hpo", "lga-2", "lga-paper-2"),
    out: Path = Path("runs/bench/hpob"),
    published: Path | None = None,
    earlier: Path | None = None,
    scheduler: str | None = None,
    protocol: tyro.conf.OmitArgPrefixes[HpobProtocol] = DISCRETE,
) -> None:
    """Compare learned GAs with hand-designed algorithms and other packages on HPO-B.

    Args:
        weights: Installed names or files of learned GAs; all others are compared with the first, which is not tuned.
        out: Folder of the results and of the surrogates; what is there already is not computed again.
        published: Published incumbents by task, as `results/hpob/published.json` has them, to be shown beside.
        earlier: Report of the same tasks: its methods are shown beside those that are run now, as they were found then.
        scheduler: Address of a Dask scheduler whose workers compute what is missing; they need the data too.
        protocol: Version, budget and competitors.
    """
    use_compilation_cache()
    largest = max(map(len, COLUMNS.values()))
    found = list(resolve_all(weights, largest).values())
    compare_on_hpob(protocol, found, published, out, table_console(), scheduler, earlier)
