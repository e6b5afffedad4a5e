"""Who takes part, and the pieces that each search of the benchmark is computed in."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from lga.bench.cells import Cell
from lga.bench.hpob.games import BY_FEATURES, Game, PoolGame, SurrogateGame, incumbents, numbers_of
from lga.bench.hpob.peers import search_with_peer
from lga.bench.hpob.searches import padded_dims, search_games
from lga.bench.methods import Method
from lga.core.tree_io import Leaves, digest
from lga.operators.theta import Theta
from lga.tasks.hpob import Pool, load_pools
from lga.tasks.hpob.surrogates import model_file

RANDOM = "random search"
SEED = 11
REPEATS = 20
"""Of random search."""


@dataclass(frozen=True)
class Entry:
    """One line of the comparison: an algorithm of this package, random search, or an optimiser of another package."""

    name: str
    method: Method | None = None
    num_children: int = 4
    start: str = "initial"
    peer: str | None = None

    @property
    def told(self) -> str:
        """Screening compares places, so it must know where evaluations were; others do a little better without."""
        return "evaluated" if self.theta is not None and self.theta.screens else "proposed"

    @property
    def lands(self) -> bool:
        """A regression judges rows of a pool, not points near them."""
        return self.theta is not None and self.theta.regress is not None

    @property
    def theta(self) -> Theta | None:
        return None if self.method is None or self.method.weights is None else self.method.weights.theta

    @property
    def identity(self) -> dict[str, Any]:
        """All that decides its searches, beside task and version; not its name."""
        if self.method is None:
            return {"peer": self.peer} if self.peer else {"peer": RANDOM, "repeats": REPEATS}
        own = {"num_children": self.num_children, "start": self.start, "told": self.told, "seed": SEED}
        return self.method.identity | own | ({"lands": BY_FEATURES} if self.lands else {})


@dataclass(frozen=True)
class Version:
    """discrete or continuous, how many trials there are, and where the surrogates are."""

    name: str
    num_trials: int
    surrogates: Path
    coordinates: str = "ranks"
    """Of the configurations of a pool: both, ranks or features."""

    def game(self, pool: Pool) -> Game:
        return PoolGame(pool, self.coordinates) if self.name == "discrete" else SurrogateGame(pool, self.surrogates)

    def num_dims(self, pool: Pool) -> int:
        more = len(numbers_of(pool)) if self.name == "discrete" and self.coordinates == "both" else 0
        return pool.num_dims + more

    def content(self, pool: Pool) -> str:
        """What decides the values of a task."""
        known = pool_digest(pool.name)
        if self.name == "discrete":
            return known if self.coordinates == "features" else f"{known} {self.coordinates}"
        return f"{known} {model_file(pool, self.surrogates).stem}"


@cache
def pool_digest(name: str) -> str:
    pool = load_pools()[name]
    initial = np.zeros(0) if pool.initial is None else pool.initial
    return digest({"features": pool.features, "accuracy": pool.accuracy, "initial": initial})[:16]


def bundles(entry: Entry, version: Version, pools: Sequence[Pool]) -> list[list[Pool]]:
    """Tasks that are computed together: those that share a program; one by one for optimisers that take long."""
    if entry.method is None:
        return [[pool] for pool in pools]
    by_dims: dict[int, list[Pool]] = {}
    for pool in pools:
        by_dims.setdefault(padded_dims(entry.method, version.num_dims(pool)), []).append(pool)
    return list(by_dims.values())


def cell_of(entry: Entry, version: Version, pools: Sequence[Pool]) -> Cell:
    tasks = {pool.name: version.content(pool) for pool in pools}
    key = entry.identity | {"version": version.name, "num_trials": version.num_trials, "tasks": tasks}
    who = entry.method.preset if entry.method is not None else entry.peer or RANDOM
    anonymous = replace(entry, name="", method=None if entry.method is None else replace(entry.method, name=""))
    what = f"{who}-{version.name}-{version.num_trials}-{'all' if len(pools) > 1 else pools[0].name}"
    return Cell(what, key, partial(curves, anonymous, version, tuple(tasks)))


def curves(entry: Entry, version: Version, tasks: tuple[str, ...], checkpoint: Path | None = None) -> Leaves:
    """Incumbents [tasks, seeds, 1 + trials]."""
    games = [version.game(load_pools()[name]) for name in tasks]
    if entry.method is not None:
        found = search_games(
            *(entry.method, entry.num_children, tasks, games),
            num_trials=version.num_trials,
            start=entry.start,
            told=entry.told,
            lands=entry.lands,
            seed=SEED,
        )
    elif entry.peer is not None:
        found = np.stack([search_with_peer(entry.peer, game, version.num_trials) for game in games])
    else:
        found = np.stack([random_incumbents(*pair, version.num_trials) for pair in zip(tasks, games, strict=True)])
    return {"incumbents": found.astype(np.float32)}


def random_incumbents(name: str, game: Game, num_trials: int) -> np.ndarray:
    """Means over several searches from each start: its luck is not what it is there to show."""
    draw = np.random.default_rng([SEED, *name.encode()])
    every = [incumbents(game.initial_values, game.random_values(draw, num_trials), num_trials) for _ in range(REPEATS)]
    return np.mean(every, axis=0)
