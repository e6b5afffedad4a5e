"""What a search plays against: proposals in, values out, for all seeds of one task at once.

Points lie in the unit box, values are regrets: 1 minus the normalized accuracy.
"""

from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import stats

from lga.tasks.hpob import NUM_INITIAL, NUM_SEEDS, Pool, Range
from lga.tasks.hpob.surrogates import Predict, surrogate

Points = Float[np.ndarray, "seeds n d"]
Values = Float[np.ndarray, "seeds n"]


@runtime_checkable
class Game(Protocol):
    """`initial` and `initial_values` are what a search is given; `play` costs an evaluation for each point."""

    initial: Points
    initial_values: Values

    def play(self, points: Points) -> tuple[Points, Values]:
        """Where each point was evaluated, and its value."""
        ...

    def land(self, points: Points) -> Points:
        """Where each point would be evaluated, if it were the next. Nothing is played."""
        ...

    def random_values(self, draw: np.random.Generator, number: int) -> Values:
        """Of as many random points for each seed. Nothing is played."""
        ...


BLOCK = 2048
"""Rows whose distances are computed together."""
BY_FEATURES = 4
"""One candidate of so many is taken for features, where the others are ranks."""
COORDINATES = ("both", "ranks", "features")


def rows_of(pool: Pool, coordinates: str) -> Float[np.ndarray, "rows k"]:
    """The configurations as points of the unit box: their features as they are, each feature's rank in the pool, or
    both.

    Pools crowd in corners, and points of the box mostly stand for the few outliers. By ranks they stand for all rows
    alike, but what tells outliers apart is lost. A switch stays what it is.
    """
    features = np.asarray(pool.features, np.float64)
    if coordinates == "features":
        return features
    ranks = stats.rankdata(features, axis=0)
    least, most = ranks.min(axis=0), ranks.max(axis=0)
    ranks = (ranks - least) / np.where(most > least, most - least, 1.0)
    return ranks if coordinates == "ranks" else np.concatenate([ranks, features[:, numbers_of(pool)]], axis=1)


def numbers_of(pool: Pool) -> Int[np.ndarray, " k"]:
    """Columns that are more than a switch."""
    return np.flatnonzero([len(np.unique(column)) > 2 for column in pool.features.T])


class Rows:
    """Configurations of a pool as points, and who is nearest; in single precision, where nearly as near will do."""

    def __init__(self, points: Float[np.ndarray, "rows k"]):
        self.points = points.astype(np.float32)
        self.half_squares = 0.5 * np.sum(points**2, axis=1)

    def nearest_free(self, points: Float[np.ndarray, "k d"], taken: Bool[np.ndarray, " rows"]) -> np.ndarray:
        points, every = points.astype(np.float32), np.arange(len(points))
        half_squares = np.where(taken, np.inf, self.half_squares).astype(np.float32)
        least, nearest = np.full(len(points), np.inf, np.float32), np.zeros(len(points), np.int64)
        # Block by block, so that distances stay in the cache.
        for start in range(0, len(self.points), BLOCK):
            rows = slice(start, start + BLOCK)
            far = half_squares[rows] - points @ self.points[rows].T
            place = np.argmin(far, axis=1)
            nearer = far[every, place] < least
            least, nearest = np.where(nearer, far[every, place], least), np.where(nearer, start + place, nearest)
        return nearest


class PoolGame:
    """The discrete version: a point stands for the nearest configuration that was not evaluated yet."""

    def __init__(self, pool: Pool, coordinates: str = "ranks", mixes: bool = True):
        """Where it `mixes`, some candidates land by features, though coordinates are ranks."""
        self.pool, self.mixes = pool, mixes and coordinates == "ranks"
        self.rows = rows_of(pool, coordinates)
        self.to_land_on = Rows(self.rows)
        self.regrets = 1.0 - pool.range.normalized(pool.accuracy)
        chosen = initial_rows_of(pool)
        self.initial, self.initial_values = self.rows[chosen], self.regrets[chosen]
        self.taken: Bool[np.ndarray, "seeds rows"] = np.zeros((len(chosen), len(self.rows)), bool)
        np.put_along_axis(self.taken, chosen, True, axis=1)

    def play(self, points: Points) -> tuple[Points, Values]:
        num_seeds, number, num_dims = points.shape
        # Half the squared distance, without the point's own square, which is the same for all rows.
        far = self.to_land_on.half_squares - points.reshape(-1, num_dims) @ self.rows.T
        far = far.reshape(num_seeds, number, -1)
        chosen = np.zeros((num_seeds, number), np.int64)
        for seed, position in np.ndindex(num_seeds, number):
            away = far[seed, position]
            away[self.taken[seed]] = np.inf
            chosen[seed, position] = row = int(np.argmin(away))
            # A pool that is used up gives its last rows again; its best one is known by then.
            self.taken[seed, row] = True
        return self.rows[chosen], self.regrets[chosen]

    @cached_property
    def by_features(self) -> Rows:
        """Of use only where candidates land, which most searches have none of."""
        return Rows(rows_of(self.pool, "features"))

    def land(self, points: Points) -> Points:
        """Most by ranks, some by features: by ranks a search sees all rows alike, by features the rare ones first."""
        found = [self.to_land_on.nearest_free(own, taken) for own, taken in zip(points, self.taken, strict=True)]
        if self.mixes:
            some = slice(BY_FEATURES - 1, None, BY_FEATURES)
            for chosen, own, taken in zip(found, points, self.taken, strict=True):
                chosen[some] = self.by_features.nearest_free(own[some], taken)
        return self.rows[np.stack(found)]

    def random_values(self, draw: np.random.Generator, number: int) -> Values:
        """Of random configurations of the pool, not of what random points stand for: a pool is not uniform."""
        left = [draw.permutation(np.flatnonzero(~taken))[:number] for taken in self.taken]
        # Where a pool has fewer, its best one is among them.
        return np.stack([np.pad(self.regrets[rows], (0, number - len(rows)), mode="edge") for rows in left])


class SurrogateGame:
    """The continuous version: a model of the pool tells the value of any point. The initial points are real."""

    def __init__(self, pool: Pool, folder: Path):
        assert pool.surrogate_range is not None
        self.predict: Predict = surrogate(pool, folder)
        self.range: Range = pool.surrogate_range
        chosen = initial_rows_of(pool)
        self.initial = np.asarray(pool.features, np.float64)[chosen]
        self.initial_values = 1.0 - self.range.normalized(pool.accuracy[chosen])

    def play(self, points: Points) -> tuple[Points, Values]:
        values = self.predict(points.reshape(-1, points.shape[-1])).reshape(points.shape[:-1])
        return points, 1.0 - self.range.normalized(values)

    def land(self, points: Points) -> Points:
        return points

    def random_values(self, draw: np.random.Generator, number: int) -> Values:
        return self.play(draw.uniform(size=(len(self.initial), number, self.initial.shape[-1])))[1]


def initial_rows_of(pool: Pool) -> Int[np.ndarray, "seeds 5"]:
    """HPO-B's, or for pools without any, as many random ones, always the same."""
    if pool.initial is not None:
        return pool.initial
    draw = np.random.default_rng([NUM_INITIAL, *pool.name.encode()])
    return np.stack([draw.choice(len(pool.accuracy), NUM_INITIAL, replace=False) for _ in range(NUM_SEEDS)])


def incumbents(initial_values: Values, values: Any, num_trials: int) -> Float[np.ndarray, "seeds t"]:
    """The best normalized accuracy after the initial points, and after each trial."""
    start = np.min(initial_values, axis=1, keepdims=True)
    every = np.concatenate([start, np.asarray(values)[:, :num_trials]], axis=1)
    return 1.0 - np.minimum.accumulate(every, axis=1)
