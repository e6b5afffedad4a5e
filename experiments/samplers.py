"""`LGASampler` beside the other samplers of Optuna, on pools of HPO-B and on BBOB functions of 100 variables.

Every sampler has its defaults. On a pool each begins with HPO-B's five initial trials, and what it proposes stands for
the nearest configuration that was not tried; on a function it begins with nothing but the bounds. Searches that the
folder has are not run again, so it may be interrupted at any time.
"""

import importlib.util
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from rich.console import Console
from rich.progress import track
from rich.table import Table

from experiments.form import Experiment, Outcome, described
from lga.bench import cells
from lga.bench.hpob.games import PoolGame, incumbents
from lga.bench.hpob.peers import Start, cma_sampler, gp_sampler, optuna_peer, tpe_sampler
from lga.bench.statistics import interval_text, mean_interval
from lga.core.checks import require
from lga.core.tree_io import Leaves
from lga.optuna import LGASampler
from lga.tasks import bbob, registry
from lga.tasks.hpob import load_pools, test_tasks
from lga.weights import DEFAULT_WEIGHTS, resolve

LOW, HIGH = -5.0, 5.0
OURS, GP = "LGASampler", "GPSampler"
HELD_OUT = tuple(number for number in range(1, 25) if registry.row(str(number)).split == "hold-out")


def lga_sampler(optuna: Any, start: Start) -> Any:
    return LGASampler(seed=start.seed)


def nsga_sampler(optuna: Any, start: Start) -> Any:
    return optuna.samplers.NSGAIISampler(seed=start.seed)


class Known(NamedTuple):
    """A sampler: how it is made where there are initial trials, and whether it is told what was evaluated there, as
    those that model the function are, or the value of what it had in mind, as evolution needs it."""

    on_pool: Callable[[Any, Start], Any]
    as_evaluated: bool


SAMPLERS = {
    OURS: Known(lga_sampler, False),
    "TPESampler": Known(tpe_sampler, True),
    GP: Known(gp_sampler, True),
    "CmaEsSampler": Known(cma_sampler, False),
    "NSGAIISampler": Known(nsga_sampler, False),
}


@dataclass(frozen=True)
class SamplersSettings:
    samplers: tuple[str, ...] = tuple(SAMPLERS)
    pools: tuple[str, ...] = ()
    """Test tasks of HPO-B; of each space the first one if empty."""
    num_seeds: int = 2
    """Of HPO-B's five sets of initial trials."""
    pool_trials: int = 50
    functions: tuple[int, ...] = HELD_OUT
    """BBOB functions; by default those that no weights were trained on."""
    instance: int = 16
    num_dims: int = 100
    trials: tuple[int, ...] = (100, 300)
    """After how many the best is looked at."""
    gp_trials: int = 100
    """Its time grows with the third power of their number."""
    gp_functions: int = 4
    """It has the first so many functions."""

    def functions_of(self, sampler: str) -> tuple[int, ...]:
        return self.functions[: self.gp_functions] if sampler == GP else self.functions


class Search(NamedTuple):
    sampler: str
    place: str
    """A pool, or the number of a function."""
    seed: int

    @property
    def name(self) -> str:
        return f"{self.sampler} {self.place} {self.seed}"


def run(settings: SamplersSettings, out: Path, console: Console) -> Outcome:
    for name in settings.samplers:
        require(name in SAMPLERS, f"samplers has {name!r}, but must be of: {', '.join(SAMPLERS)}.")
    require(
        GP not in settings.samplers or importlib.util.find_spec("torch") is not None,
        f"{GP} needs torch, which is not installed: leave it out of --samplers.",
    )
    pools = {name: load_pools()[name] for name in settings.pools or first_of_spaces()} if settings.pool_trials else {}
    on_pools = [
        Search(s, pool, seed) for pool in pools for seed in range(settings.num_seeds) for s in settings.samplers
    ]
    on_functions = [Search(s, str(number), 0) for s in settings.samplers for number in settings.functions_of(s)]
    work = [pool_cell(search, settings) for search in on_pools] + [
        function_cell(search, settings) for search in on_functions
    ]
    found = track(cells.outcomes(work, out / "cells"), "searches", total=len(work), console=console)
    curves = {search: leaves["curve"] for search, leaves in zip([*on_pools, *on_functions], found, strict=True)}
    report = {
        "config": described(settings),
        "versions": {name: version(name) for name in ("optuna", "cmaes")},
        "pools": list(pools),
        "pool_rows": list(pool_rows(settings, list(pools), curves)),
        "function_rows": list(function_rows(settings, curves)),
    }
    return Outcome(report, summary_table(report))


def first_of_spaces() -> list[str]:
    """Wide ones: where all configurations are alike, nothing can be told apart."""
    found: dict[str, str] = {}
    for pool in test_tasks(load_pools()):
        if not pool.is_narrow:
            found.setdefault(pool.space, pool.name)
    return list(found.values())


# Searches.


def key_of(search: Search) -> dict[str, Any]:
    """What decides the outcome, beside the settings."""
    identity = resolve(DEFAULT_WEIGHTS).digest if search.sampler == OURS else version("optuna")
    return {"sampler": search.sampler, "identity": identity, "place": search.place, "seed": search.seed}


def pool_cell(search: Search, settings: SamplersSettings) -> cells.Cell:
    key = key_of(search) | {"num_trials": settings.pool_trials}
    return cells.Cell(search.name, key, partial(search_pool, search, settings.pool_trials))


def search_pool(search: Search, num_trials: int, _: Path) -> Leaves:
    """Normalized accuracy after the initial trials, and after each."""
    pool = load_pools()[search.place]
    assert pool.initial is not None
    game = PoolGame(replace(pool, initial=pool.initial[[search.seed]]), "features")
    known = SAMPLERS[search.sampler]
    begin = Start(game.initial[0], game.initial_values[0], search.seed, num_trials)
    values = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = optuna_peer(known.on_pool, known.as_evaluated)(begin)
        for _trial in range(num_trials):
            proposed = np.clip(peer.ask(), 0.0, 1.0)
            places, regrets = game.play(proposed[None, None])
            peer.tell(proposed, places[0, 0], float(regrets[0, 0]))
            values.append(regrets[0, 0])
    return {"curve": incumbents(game.initial_values, np.array([values]), num_trials)[0]}


def function_cell(search: Search, settings: SamplersSettings) -> cells.Cell:
    num_trials = min(settings.gp_trials, max(settings.trials)) if search.sampler == GP else max(settings.trials)
    size = {"instance": settings.instance, "num_dims": settings.num_dims, "num_trials": num_trials}
    return cells.Cell(search.name, key_of(search) | size, partial(search_function, search, **size))


def search_function(search: Search, _: Path, instance: int, num_dims: int, num_trials: int) -> Leaves:
    """The best log10 gap after each trial."""
    import ioh
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    problem: Any = ioh.get_problem(int(search.place), instance=instance, dimension=num_dims)
    names = [f"x{place}" for place in range(num_dims)]
    box: dict[str, Any] = dict.fromkeys(names, optuna.distributions.FloatDistribution(LOW, HIGH))
    gaps = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sampler = LGASampler if search.sampler == OURS else getattr(optuna.samplers, search.sampler)
        study = optuna.create_study(sampler=sampler(seed=search.seed))
        for _trial in range(num_trials):
            trial = study.ask(box)
            gap = float(problem([trial.params[name] for name in names])) - problem.optimum.y
            study.tell(trial, gap)
            gaps.append(gap)
    return {"curve": bbob.log10_gap(np.minimum.accumulate(np.array(gaps)))}


# What is told.


def pool_rows(
    settings: SamplersSettings, pools: list[str], curves: dict[Search, np.ndarray]
) -> Iterator[dict[str, Any]]:
    """Regrets, paired over pools: the mean over seeds is one value."""

    def regrets(sampler: str) -> Float[np.ndarray, " pools"]:
        seeds = range(settings.num_seeds)
        return np.array([np.mean([1.0 - curves[Search(sampler, pool, s)][-1] for s in seeds]) for pool in pools])

    if pools:
        for sampler in settings.samplers:
            yield row_of(sampler, regrets(sampler), regrets(OURS), settings.pool_trials)


def function_rows(settings: SamplersSettings, curves: dict[Search, np.ndarray]) -> Iterator[dict[str, Any]]:
    """Log10 gaps, paired over the functions that a sampler has."""

    def gaps(sampler: str, trials: int, functions: tuple[int, ...]) -> Float[np.ndarray, " functions"]:
        found = [curves[Search(sampler, str(number), 0)] for number in functions]
        return np.array([curve[trials - 1] if len(curve) >= trials else math.nan for curve in found])

    for trials in settings.trials:
        for sampler in settings.samplers:
            functions = settings.functions_of(sampler)
            theirs = gaps(sampler, trials, functions)
            if np.isfinite(theirs).all():
                yield row_of(sampler, theirs, gaps(OURS, trials, functions), trials)


def row_of(sampler: str, theirs: np.ndarray, ours: np.ndarray, trials: int) -> dict[str, Any]:
    """Less is better. Ties are won by nobody."""
    return {
        "sampler": sampler,
        "trials": trials,
        "mean": mean_interval(theirs)._asdict(),
        "ours_minus_theirs": mean_interval(ours - theirs)._asdict(),
        "won_by_ours": int(np.sum(ours < theirs)),
        "won_by_theirs": int(np.sum(theirs < ours)),
        "each": theirs.tolist(),
    }


def cells_of(report: dict[str, Any]) -> Iterator[list[str]]:
    """Lines of a table: where, how many trials, who, the mean, and ours minus theirs."""
    sizes = report["config"]
    on_pools = f"pools of HPO-B, {sizes['num_seeds']} seeds: regret"
    on_functions = f"functions of BBOB, {sizes['num_dims']}-D: log10 gap"
    for where, digits, rows in ((on_pools, 4, report["pool_rows"]), (on_functions, 2, report["function_rows"])):
        for row in rows:
            line = [
                f"{len(row['each'])} {where}",
                f"{row['trials']}",
                row["sampler"],
                f"{row['mean']['mean']:.{digits}f}",
            ]
            if row["sampler"] == OURS:
                yield [*line, "", ""]
            else:
                difference = interval_text(row["ours_minus_theirs"], digits, signed=True)
                yield [*line, difference, f"{row['won_by_ours']} : {row['won_by_theirs']}"]


HEADINGS = ("where", "trials", "sampler", "mean", f"{OURS} minus sampler (95 %)", f"won by {OURS} : by sampler")


def summary_table(report: dict[str, Any]) -> Table:
    table = Table(*HEADINGS)
    for line in cells_of(report):
        table.add_row(*line)
    return table


SMOKE = SamplersSettings((OURS, "NSGAIISampler"), pool_trials=0, functions=(1, 8), num_dims=5, trials=(10, 20))
SMALL = SamplersSettings()
PAPER = replace(SMALL, num_seeds=5, pool_trials=100, trials=(100, 1000))
EXPERIMENT = Experiment(
    shows="LGASampler beside Optuna's TPE, GP, CMA-ES and NSGA-II, on pools of HPO-B and on BBOB in 100 dimensions",
    presets={"smoke": SMOKE, "small": SMALL, "paper": PAPER},
    run=run,
)
