"""What of the weights for few evaluations helps: parts switched off, on pools that choices are made on.

They are the ten pools of HPO-B's package that are no test tasks, twenty of our own that are small, and twelve that are
large. A hundred trials find the best of most small ones: the mean regret over all trials tells more there than that
after the last.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from experiments.form import Experiment, Outcome
from lga.bench.cells import Cell, outcome
from lga.bench.hpob.entries import Entry, Version, bundles
from lga.bench.hpob.games import PoolGame
from lga.bench.hpob.searches import search_games
from lga.bench.methods import HAND_DESIGNED, Method, as_shipped
from lga.bench.statistics import interval_text, mean_interval
from lga.core.compile_cache import use_compilation_cache
from lga.core.tree_io import Leaves, digest
from lga.operators.designed import OFF
from lga.operators.theta import Theta
from lga.tasks.hpob import Pool, load_pools, validation_tasks
from lga.weights import resolve
from lga.weights.resolve import known_by_content

SETS = {"large": "large pools", "own": "small pools", "ten": "HPO-B's ten"}
PROVENANCE = {"run": {"validation_sigma0": 1.0}}
GAUSSIAN = HAND_DESIGNED["gaussian_ga"].at(0.5, 3.5)
"""As it is tuned in the benchmark."""


@dataclass(frozen=True)
class ChoiceSettings:
    weights: str = "lga-hpo-2"
    """Trained weights with a regression, by name or file."""
    before: str = "lga-hpo"
    """Trained weights with attention to neighbours."""
    own: bool = True
    """Whether pools of our own are built, once: the large ones take half an hour."""
    num_trials: int = 100
    seeds: tuple[int, ...] = (11, 12)
    """Of the searches: one is mostly luck on so few pools."""


class Variant(NamedTuple):
    name: str
    method: Method
    num_children: int = 4
    coordinates: str = "both"
    lands: bool = True
    mixes: bool = True
    """Whether some candidates land by features where the others do by ranks."""

    @property
    def entry(self) -> Entry:
        return Entry(self.name, self.method, self.num_children)


def variants(settings: ChoiceSettings) -> list[Variant]:
    trained, before = (resolve(name).theta for name in (settings.weights, settings.before))
    first = as_it_is(settings.weights, trained)
    attention, alike = as_it_is(settings.before, before), as_it_is("alike", without_relevance(before))
    incurious = as_it_is("incurious", with_exploration(trained, 0.5))
    return [
        Variant(settings.weights, first, 8, "ranks"),
        Variant(f"{settings.weights}, N = 4", first, 4, "ranks"),
        Variant(f"{settings.weights}, half as curious", incurious, 8, "ranks"),
        Variant(f"{settings.weights}, ranks alone", first, 8, "ranks", mixes=False),
        Variant(f"{settings.weights}, rows are ranks and features", first, 8),
        Variant(f"{settings.weights}, features", first, 8, "features"),
        Variant("without screening", as_it_is("unscreened", replace(trained, regress=None)), 8, "ranks", False),
        Variant(settings.before, attention, coordinates="ranks", lands=False),
        Variant(f"{settings.before}, features", attention, coordinates="features", lands=False),
        Variant(f"{settings.before}, rows are judged", attention, coordinates="ranks"),
        Variant(f"{settings.before}, all variables count alike", alike, 4, "ranks", False),
        Variant("Gaussian GA", GAUSSIAN, coordinates="ranks", lands=False),
        Variant("Gaussian GA, ranks and features", GAUSSIAN, lands=False),
    ]


def as_it_is(name: str, theta: Theta) -> Method:
    return as_shipped(known_by_content(name, theta, PROVENANCE))


def with_exploration(theta: Theta, factor: float) -> Theta:
    """What a deviation counts for, beside the mean, times a factor."""
    assert theta.regress is not None
    explore = theta.regress.explore.at[0].add(math.log(factor))
    return replace(theta, regress=replace(theta.regress, explore=explore))


def without_relevance(theta: Theta) -> Theta:
    assert theta.screen is not None
    return replace(theta, screen=replace(theta.screen, relevance=jnp.full(1, OFF)))


def searched(variant: Variant, pools: Sequence[Pool], num_trials: int, seed: int, checkpoint: Path) -> Leaves:
    """Incumbents [pools, seeds, 1 + trials]."""
    games = [PoolGame(pool, variant.coordinates, variant.mixes) for pool in pools]
    found = search_games(
        *(variant.method, variant.num_children, [pool.name for pool in pools], games),
        num_trials=num_trials,
        told=variant.entry.told,
        lands=variant.lands,
        seed=seed,
    )
    return {"incumbents": found.astype(np.float32)}


def curves(variant: Variant, pools: Sequence[Pool], num_trials: int, seed: int, folder: Path) -> np.ndarray:
    """Mean regrets [pools, trials]."""
    version = Version("discrete", num_trials, folder, variant.coordinates)
    found = {}
    for bundle in bundles(variant.entry, version, pools):
        key = variant.method.identity | {
            "variant": [*variant[2:], num_trials, seed],
            "pools": {pool.name: digest({"x": pool.features, "y": pool.accuracy})[:16] for pool in bundle},
        }
        cell = Cell(f"choice-{bundle[0].name}", key, partial(searched, variant, bundle, num_trials, seed))
        incumbents = outcome(cell, folder)["incumbents"]
        found |= {pool.name: 1.0 - own.mean(axis=0) for pool, own in zip(bundle, incumbents, strict=True)}
    return np.array([found[pool.name][1:] for pool in pools])


def run(settings: ChoiceSettings, out: Path, console: Console) -> Outcome:
    use_compilation_cache()
    sets = {"ten": validation_tasks(load_pools())}
    if settings.own:
        # Here, because tables of documents are made without scikit-learn.
        from experiments.own_pools import LARGE, SMALL, own_pools

        progress = partial(track, description="pools of our own", console=console)
        sets |= {"own": own_pools(SMALL, out, progress), "large": own_pools(LARGE, out, progress)}
    rows: list[dict[str, Any]] = []
    first: dict[str, np.ndarray] = {}
    for variant in track(variants(settings), description="variants", console=console):
        row: dict[str, Any] = {
            "variant": variant.name,
            "num_children": variant.num_children,
            "coordinates": variant.coordinates,
        }
        for name, pools in sets.items():
            runs = [curves(variant, pools, settings.num_trials, seed, out / "cells") for seed in settings.seeds]
            regrets = np.mean(runs, axis=0)
            areas = regrets.mean(axis=1)
            minus_first = mean_interval(areas - first.setdefault(name, areas))._asdict()
            last = float(regrets[:, -1].mean())
            row[name] = {"mean_regret": mean_interval(areas)._asdict(), "minus_first": minus_first, "last": last}
        rows.append(row)
    sizes = {name: len(pools) for name, pools in sets.items()}
    return Outcome({"num_pools": sizes, "num_trials": settings.num_trials, "rows": rows}, table(rows))


def header() -> list[str]:
    per_set = ["regret over all trials", "minus the first (95 %, over pools)", "after the last"]
    return ["weights", "N", *(f"{where}: {what}" for where in SETS.values() for what in per_set)]


def cells(row: dict[str, Any]) -> list[str]:
    def of_set(found: dict[str, Any] | None) -> list[str]:
        if found is None:
            return ["", "", ""]
        against = interval_text(found["minus_first"], 4, signed=True)
        return [f"{found['mean_regret']['mean']:.4f}", against, f"{found['last']:.4f}"]

    return [row["variant"], str(row["num_children"]), *(cell for name in SETS for cell in of_set(row.get(name)))]


def table(rows: list[dict[str, Any]]) -> Table:
    shown = Table(*header())
    for row in rows:
        shown.add_row(*cells(row))
    return shown


EXPERIMENT = Experiment(
    "what of the weights for few evaluations helps, on pools that are no test tasks",
    {"paper": ChoiceSettings(), "smoke": ChoiceSettings(own=False, num_trials=8, seeds=(11,))},
    run,
)
