"""The comparison on HPO-B: settings are chosen on pools that are no test tasks, results reported on those that are."""

import json
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from jaxtyping import Float
from rich.console import Console
from rich.progress import track

from lga.bench.cells import outcomes
from lga.bench.hpob.entries import RANDOM, Entry, Version, bundles, cell_of
from lga.bench.hpob.report import draw, summary, summary_table
from lga.bench.hpob.searches import STARTS
from lga.bench.methods import HAND_DESIGNED, Method, as_shipped, learned
from lga.bench.tuning import tune
from lga.core.box import HALF_SIDE
from lga.core.checks import require_known
from lga.core.files import write_report
from lga.tasks.hpob import Pool, load_pools, test_tasks, validation_tasks
from lga.tasks.hpob.surrogates import fit, smallest_first
from lga.weights import Weights

SIDE = 2.0 * HALF_SIDE
PAPERS_ELITE_RATIOS, PAPERS_SIGMAS = (0.0, 0.15, 0.25, 0.35, 0.5, 1.0), (0.1, 0.25, 0.5, 0.75, 1.0)
"""Rates are those of the unit box."""
ELITE_RATIOS, UNIT_SIGMAS = (0.0, 0.5, 1.0), (0.03, 0.05, 0.1, 0.2, 0.35, 0.5, 1.0)
"""Ours: of four or eight children fewer ratios make a difference, and small rates do."""
GENETIC = ("gaussian_ga", "mr15_ga", "samr_ga", "gesmr_ga", "sep_cma_es")
CHEAP_PEERS = ("TPE (Optuna)", "NGOpt (nevergrad)", "CMA-ES (pycma)", "CMA-ES (Optuna)")
BUDGETS = ("discrete", "continuous", "generations")
"""5 + 100 trials on pools or surrogates; or on surrogates as many generations, which is the paper's budget."""


@dataclass(frozen=True)
class HpobProtocol:
    budget: Literal["discrete", "continuous", "generations"] = "discrete"
    """discrete and continuous have 5 + 100 trials; generations is the paper's, 5 + 100 N on surrogates."""
    num_trials: int = 100
    """Trials after the initial points, or generations."""
    populations: tuple[int, ...] = (4, 8)
    """For generations each is a comparison of its own; otherwise they are tuned over."""
    start: Literal["initial", "centre"] = "initial"
    """What the archive holds at first: the initial points, or, as in the paper, the middle of the box."""
    coordinates: Literal["ranks", "features", "both"] = "ranks"
    """What distances in a pool are measured in, for our algorithms: ranks of the features, so that rows are spread
    evenly, the features themselves, or both."""
    designed: tuple[str, ...] = GENETIC
    """Hand-designed algorithms."""
    peers: tuple[str, ...] = CHEAP_PEERS
    """Optimisers of other packages."""
    tasks: tuple[str, ...] = ()
    """Test tasks, SPACE_DATASET; all if none is named."""
    tuned_on_test: bool = False
    """Choose settings on the very tasks that are reported, as the paper did: for comparison with it, not for claims."""


class Benchmark:
    """A protocol with its data: runs what is missing, and finds what is there."""

    def __init__(self, protocol: HpobProtocol, out: Path, console: Console, scheduler: str | None = None):
        require_known("start", protocol.start, STARTS)
        for name in protocol.designed:
            require_known("designed", name, GENETIC)
        self.protocol, self.out, self.console, self.scheduler = protocol, out, console, scheduler
        pools = load_pools()
        self.reported = [pool for pool in test_tasks(pools) if not protocol.tasks or pool.name in protocol.tasks]
        self.chosen_on = self.reported if protocol.tuned_on_test else validation_tasks(pools)

    def prepare(self) -> None:
        """Fits the surrogates that are not there yet."""
        if self.protocol.budget != "discrete":
            waiting = smallest_first([*self.chosen_on, *self.reported])
            for pool in track(waiting, description="surrogates", console=self.console):
                fit(pool, self.out / "surrogates")

    def version(self, entry: Entry) -> Version:
        generations = self.protocol.budget == "generations"
        return Version(
            name="discrete" if self.protocol.budget == "discrete" else "continuous",
            num_trials=self.protocol.num_trials * (entry.num_children if generations else 1),
            surrogates=self.out / "surrogates",
            # Optimisers of other packages do better with features as they are.
            coordinates="features" if entry.peer else self.protocol.coordinates,
        )

    def curves(self, entry: Entry, pools: Sequence[Pool]) -> dict[str, Float[np.ndarray, "seeds t"]]:
        """Incumbents by task."""
        version, found = self.version(entry), {}
        parts = bundles(entry, version, pools)
        cells = [cell_of(entry, version, bundle) for bundle in parts]
        for bundle, leaves in zip(parts, outcomes(cells, self.out / "cells", scheduler=self.scheduler), strict=True):
            found |= dict(zip((pool.name for pool in bundle), leaves["incumbents"], strict=True))
        return {pool.name: found[pool.name] for pool in pools}

    def loss(self, entry: Entry) -> float:
        """Mean regret over all trials: after a hundred of them most searches have seen all of a small pool."""
        return float(np.mean([1.0 - curve[:, 1:] for curve in self.curves(entry, self.chosen_on).values()]))

    def tuned(self, method: Method, populations: Sequence[int]) -> tuple[Entry, float | None]:
        """The best setting of a method, and its population."""
        candidates = []
        for num_children in populations:
            entry = Entry(method.name, None, num_children, self.protocol.start)
            best = tune(method, lambda one, entry=entry: self.loss(replace(entry, method=one)))
            candidates.append((replace(entry, method=best.method), best.loss))
        if len(candidates) == 1:
            return candidates[0]
        losses = [self.loss(entry) if known is None else known for entry, known in candidates]
        least = int(np.argmin(losses))
        return candidates[least][0], losses[least]


def roster(weights: Sequence[Weights], protocol: HpobProtocol) -> list[Method]:
    """The first weights and those that screen as they ship, the others and hand-designed methods with their grids."""
    paper_grid = protocol.tuned_on_test
    elite_ratios, unit = (PAPERS_ELITE_RATIOS, PAPERS_SIGMAS) if paper_grid else (ELITE_RATIOS, UNIT_SIGMAS)
    sigmas = tuple(SIDE * sigma for sigma in unit)
    own = [as_shipped(one) if one is weights[0] or one.theta.screens else learned(one, ("sigma",)) for one in weights]
    return [method.over(elite_ratios, sigmas) for method in (*own, *map(HAND_DESIGNED.__getitem__, protocol.designed))]


def compare_on_hpob(
    protocol: HpobProtocol,
    weights: Sequence[Weights],
    published: Path | None,
    out: Path,
    console: Console,
    scheduler: str | None = None,
    earlier: Path | None = None,
) -> dict[str, Any]:
    """Runs whatever is missing, then writes a report, a table and figures into `out`.

    `earlier` is a report of the same tasks: methods that are not run now are shown as they were found then.
    """
    benchmark = Benchmark(protocol, out, console, scheduler)
    benchmark.prepare()
    begin = time.monotonic()
    by_population = protocol.budget == "generations"
    reports = {}
    for populations in [(size,) for size in protocol.populations] if by_population else [protocol.populations]:
        name = f"generations-{populations[0]}" if by_population else protocol.budget
        before = None if earlier is None else json.loads(earlier.read_text())
        entries = line_up(benchmark, weights, populations, () if before is None else before["tasks"])
        seconds: dict[str, float] = {}
        measured = {
            entry.name: timed(seconds, entry.name, lambda entry=entry: benchmark.curves(entry, benchmark.reported))
            for entry in track(list(entries), description=name, console=console)
        }
        references = None if by_population or published is None else json.loads(published.read_text())[protocol.budget]
        report = summary(protocol, name, benchmark.reported, entries, measured, references, seconds, before)
        file = "-".join([name, *departures(protocol)])
        write_report(out / f"{file}.json", report)
        draw(report, out / f"{file}.png")
        console.print(summary_table(report))
        reports[file] = report
    console.print(f"{time.monotonic() - begin:.0f} s; reports and pictures in {out}/")
    return reports


def departures(protocol: HpobProtocol) -> list[str]:
    """What of a report's name says how it differs from the usual one."""
    return [
        word
        for word, departs in {
            "centre": protocol.start == "centre",
            protocol.coordinates: protocol.coordinates != "ranks",
            "tuned-on-test": protocol.tuned_on_test,
        }.items()
        if departs
    ]


def line_up(
    benchmark: Benchmark, weights: Sequence[Weights], populations: Sequence[int], known: Collection[str] = ()
) -> dict[Entry, float | None]:
    """All entries, tuned; with the loss that they were chosen by. Random search is left out where it is known."""
    protocol = benchmark.protocol
    own = roster(weights, protocol)
    first = [dict([benchmark.tuned(method, sizes_for(method, populations))]) for method in own]
    # Random search has no population; where the budget depends on one, it has that budget.
    others = [Entry(RANDOM, num_children=populations[0])] if RANDOM not in known else []
    if protocol.budget != "generations":
        others += [Entry(name, peer=name) for name in protocol.peers]
    return {entry: loss for pair in first for entry, loss in pair.items()} | dict.fromkeys(others)


def sizes_for(method: Method, populations: Sequence[int]) -> Sequence[int]:
    """Weights that ship with a setting are not tuned over populations either.

    They have the smallest; with a regression, which tells the children of a generation apart, the largest. Both were
    chosen on pools of our own.
    """
    if method.tunes:
        return populations
    regresses = method.weights is not None and method.weights.theta.regress is not None
    return populations[-1:] if regresses else populations[:1]


def timed(seconds: dict[str, float], name: str, work: Callable[[], Any]) -> Any:
    begin = time.monotonic()
    found = work()
    seconds[name] = time.monotonic() - begin
    return found
