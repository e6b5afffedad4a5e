"""The pools of HPO-B: hyperparameter configurations of one kind of model on one data set, with their accuracy."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from lga.core.checks import require
from lga.tasks.hpob import files

NUM_SEEDS = 5
NUM_INITIAL = 5
NARROW = 0.01
"""Below this range of accuracies a task tells little: its normalized values are mostly noise."""
VALIDATION_TASKS = (
    "4796_9906",
    "4796_9946",
    "5889_3950",
    "5889_49",
    "5889_31",
    "5889_3493",
    "5906_3889",
    "5906_9977",
    "5906_9970",
    "5906_3896",
)
"""Pools of the package that are no test tasks of HPO-B: for choices, never for claims."""
SMALLEST_LOGGED = 1e-6
"""What the package adds to a column before it takes logarithms."""
EQUAL_ACCURACY = 2e-6

# Columns of each space, as the archives have them; initial points without indices hold the numeric ones alone.
RANGER = ("num.trees", "num.trees.na", "mtry", "sample.fraction", "min.node.size", "min.node.size.na")
SVM = ("cost", "gamma", "gamma.na", "degree", "degree.na", "kernel.ohe.INVALID", "kernel.ohe.linear", "kernel.ohe.poly")
RPART = ("minsplit", "minsplit.na", "minbucket", "cp", "maxdepth", "maxdepth.na")
XGBOOST = (
    *("eta", "max_depth", "max_depth.na", "min_child_weight", "min_child_weight.na", "subsample"),
    *("colsample_bytree", "colsample_bytree.na", "colsample_bylevel", "colsample_bylevel.na", "lambda", "alpha"),
    *("nrounds", "nrounds.na", "booster.ohe.INVALID", "booster.ohe.gblinear"),
)
REPLACE = ("replace.ohe.FALSE", "replace.ohe.INVALID")
FACTORS = ("factors.ohe.INVALID", "factors.ohe.TRUE")
SMALL_RANGER = ("num.trees", "num.trees.na", "mtry", "min.node.size", "sample.fraction", *FACTORS, *REPLACE)
COLUMNS: dict[str, tuple[str, ...]] = {
    "4796": ("minsplit", "minbucket", "cp"),
    "5527": SVM,
    "5636": RPART,
    "5859": RPART,
    "5860": ("alpha", "lambda"),
    "5889": ("num.trees", "num.trees.na", "mtry", "sample.fraction", *REPLACE),
    "5891": SVM,
    "5906": XGBOOST,
    "5965": (*RANGER, *REPLACE, *FACTORS),
    "5970": ("alpha", "lambda"),
    "5971": XGBOOST,
    "6766": ("alpha", "lambda"),
    "6767": (
        *("eta", "subsample", "lambda", "alpha", "nthread", "nthread.na", "nrounds", "nrounds.na"),
        *("max_depth", "max_depth.na", "min_child_weight", "min_child_weight.na"),
        *("colsample_bytree", "colsample_bytree.na", "colsample_bylevel", "colsample_bylevel.na"),
        *("booster.ohe.INVALID", "booster.ohe.gblinear"),
    ),
    "6794": (*RANGER, *REPLACE, *FACTORS),
    "7607": SMALL_RANGER,
    "7609": SMALL_RANGER,
}
# Where the columns of initial points are not in the order of their names.
INITIAL_ORDER = {"5527": ("cost", "gamma", "degree"), "5891": ("cost", "gamma", "degree")}


class Range(NamedTuple):
    low: float
    high: float

    def normalized(self, accuracy: Any) -> np.ndarray:
        """0 at the low end and 1 at the high end. A surrogate may exceed what its task has: that counts as 1."""
        return np.clip((np.asarray(accuracy, np.float64) - self.low) / (self.high - self.low), 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Pool:
    """One task. Features lie in [0, 1]; a row is one configuration."""

    name: str
    features: Float[np.ndarray, "n d"]
    accuracy: Float[np.ndarray, " n"]
    initial: Int[np.ndarray, "seeds 5"] | None
    """Rows that the search of each seed starts from; None where nobody says."""
    surrogate_range: Range | None = None
    """What values of the continuous version are normalized by."""

    @property
    def space(self) -> str:
        return self.name.split("_")[0]

    @property
    def num_dims(self) -> int:
        return self.features.shape[1]

    @property
    def range(self) -> Range:
        """What values of the discrete version are normalized by."""
        return Range(float(self.accuracy.min()), float(self.accuracy.max()))

    @property
    def is_narrow(self) -> bool:
        widest = self.surrogate_range or self.range
        return widest.high - widest.low < NARROW


@cache
def load_pools() -> dict[str, Pool]:
    """All pools by name, SPACE_DATASET: test tasks with their initial points, and a few others without."""
    if files.has_archives() or not files.has_small_files():
        return pools_of_archives()
    return pools_of_package()


def test_tasks(pools: dict[str, Pool]) -> list[Pool]:
    return [pool for pool in pools.values() if pool.initial is not None]


def validation_tasks(pools: dict[str, Pool]) -> list[Pool]:
    return [pools[name] for name in VALIDATION_TASKS if name in pools]


def pools_of_archives() -> dict[str, Pool]:
    with files.archive(files.DATA_ARCHIVE) as data, files.archive(files.SURROGATE_ARCHIVE) as surrogates:
        tables, seeds = files.json_in(data, "meta-test-dataset.json"), files.json_in(data, "bo-initializations.json")
        others = {split: files.json_in(data, f"meta-{split}-dataset.json") for split in ("train", "validation")}
        ranges = files.json_in(surrogates, "summary-stats.json")
    found = {
        f"{space}_{dataset}": pool_of_table(space, dataset, table, seeds[space][dataset], ranges)
        for space, datasets in tables.items()
        for dataset, table in datasets.items()
    }
    for name in VALIDATION_TASKS:
        space, dataset = name.split("_")
        for split in others.values():
            if dataset in split.get(space, {}):
                found[name] = pool_of_table(space, dataset, split[space][dataset], None, ranges)
    return found


def pool_of_table(space: str, dataset: str, table: dict[str, Any], seeds: dict[str, Any] | None, ranges) -> Pool:
    initial = None
    if seeds is not None:
        initial = np.array([seeds[f"test{seed}"][:NUM_INITIAL] for seed in range(NUM_SEEDS)], np.int64)
    features, accuracy = np.asarray(table["X"], np.float32), np.asarray(table["y"], np.float64).ravel()
    return Pool(f"{space}_{dataset}", features, accuracy, initial, range_of(ranges, space, dataset))


def range_of(ranges: dict[str, Any], space: str, dataset: str) -> Range | None:
    found = ranges.get(f"surrogate-{space}-{dataset}")
    return None if found is None else Range(found["y_min"], found["y_max"])


def pools_of_package() -> dict[str, Pool]:
    tables = files.pools_of_package()
    points, ranges, logarithms = map(files.small_file, (files.INITIAL_POINTS, files.RANGES, files.LOGARITHMS))
    found = {}
    for name, table in tables.items():
        space, dataset = name.split("_")
        features = without_logarithms(table[:, :-1], logarithms.get(name, {}))
        accuracy = table[:, -1].astype(np.float64)
        given = [points.get(f"{name}_{seed}") for seed in range(NUM_SEEDS)]
        initial = None if None in given else initial_rows(name, features, accuracy, given)
        found[name] = Pool(name, features, accuracy, initial, range_of(ranges, space, dataset))
    return found


def without_logarithms(features: Float[np.ndarray, "n d"], columns: dict[str, Any]) -> Float[np.ndarray, "n d"]:
    """Features as HPO-B has them: the package rescales log(x + 1e-6) to [0, 1], so that log(x + 1e-6) = a + b u."""
    plain = np.array(features, np.float64)
    for column in columns.values():
        logged = column["a"] + column["b"] * plain[:, column["dim"]]
        plain[:, column["dim"]] = np.clip(np.exp(logged) - SMALLEST_LOGGED, 0.0, 1.0)
    return plain.astype(np.float32)


def initial_rows(
    name: str, features: Float[np.ndarray, "n d"], accuracy: Float[np.ndarray, " n"], given: Iterable[Any]
) -> Int[np.ndarray, "seeds 5"]:
    """The rows of initial points of which only numeric columns and accuracies are known."""
    columns = numeric_columns(name.split("_")[0])

    def row(point: list[float], value: float) -> int:
        equal = np.flatnonzero(np.abs(accuracy - value) < EQUAL_ACCURACY)
        require(equal.size > 0, f"{name} has no configuration of accuracy {value}, but starts from one.")
        return int(equal[np.argmin(np.sum((features[equal][:, columns] - np.asarray(point)) ** 2, axis=1))])

    return np.array([[row(*pair) for pair in zip(seed["X"], seed["y"], strict=True)] for seed in given])


def numeric_columns(space: str) -> list[int]:
    """Positions of a space's numeric columns, in the order in which initial points have them."""
    columns = COLUMNS[space]
    numeric = [column for column in columns if not column.endswith(".na") and ".ohe." not in column]
    return [columns.index(column) for column in INITIAL_ORDER.get(space, sorted(numeric))]
