"""Pools like those of HPO-B that are our own: small models, tuned at random on data that nobody else has.

HPO-B has ten small pools that are no test tasks. Choices need more and larger ones, so here are trees, linear models,
support vector machines, forests and boosted trees on four data sets each, and trees and support vector machines with
thousands of rows on four harder ones. Settings are drawn from the ranges that such models are usually tuned over; of
some trees from those of Kuehn et al. (2018), whose random bot made the large pools of OpenML. As in HPO-B, columns are
raw values, scaled to [0, 1] without logarithms, a switch says that a setting was left at its default, and kinds are
one-hot.
"""

import io
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from sklearn import datasets, ensemble, linear_model, preprocessing, svm, tree
from xgboost import XGBClassifier

from lga.core.tree_io import write_atomically
from lga.tasks.hpob import Pool

NUM_TRAIN = 250
SMALL_SIZE = (NUM_TRAIN, 600)
LARGE_SIZE = (600, 3000)
"""Rows to fit to, and rows to test on."""
SHARE_OF_DEFAULTS = 0.25
SHARE_OF_DEFAULTS_OF_BOTS = 0.02

Draw = np.random.Generator
Column = Callable[[Draw], float]
Setting = dict[str, float]


class Data(NamedTuple):
    x: Float[np.ndarray, "n d"]
    y: np.ndarray
    test_x: Float[np.ndarray, "m d"]
    test_y: np.ndarray


class Kind(NamedTuple):
    """A kind of model: what of it is tuned, what may be left at its default, and how it is fitted."""

    columns: dict[str, Column]
    defaults: dict[str, float]
    fit: Callable[[Data, Setting], Any]
    num_rows: int
    share_of_defaults: float = SHARE_OF_DEFAULTS


def between(low: float, high: float) -> Column:
    return lambda draw: draw.uniform(low, high)


def power_of_two(low: float, high: float) -> Column:
    return lambda draw: 2.0 ** draw.uniform(low, high)


def whole(low: int, high: int) -> Column:
    return lambda draw: float(draw.integers(low, high + 1))


def fitted_tree(data: Data, own: Setting, pruning: float = 0.03) -> Any:
    model = tree.DecisionTreeClassifier(
        min_samples_split=max(2, int(own["minsplit"])),
        min_samples_leaf=int(own["minbucket"]),
        ccp_alpha=pruning * own["cp"],
        max_depth=int(own["maxdepth"]),
        random_state=0,
    )
    return model.fit(data.x, data.y)


def fitted_tree_of_bots(data: Data, own: Setting) -> Any:
    """Pruned as R's rpart does: by shares of the impurity of the root."""
    shares = np.bincount(data.y) / len(data.y)
    return fitted_tree(data, own, 1 - np.sum(shares**2))


class Signs(NamedTuple):
    model: Any

    def predict(self, x: np.ndarray) -> np.ndarray:
        return (self.model.predict(x) > 0.0).astype(int)


def fitted_linear(data: Data, own: Setting) -> Any:
    model = linear_model.ElasticNet(alpha=own["lambda"], l1_ratio=own["alpha"], max_iter=200, tol=1e-2)
    return Signs(model.fit(data.x, 2.0 * data.y - 1.0))


def fitted_svm(data: Data, own: Setting) -> Any:
    kernel = ("linear", "poly", "rbf")[int(own["kernel"])]
    gamma = own["gamma"] / data.x.shape[1]
    model = svm.SVC(C=own["cost"], kernel=kernel, gamma=gamma, degree=int(own["degree"]), max_iter=2000)
    return model.fit(data.x, data.y)


def fitted_forest(data: Data, own: Setting) -> Any:
    share_of_features: Any = own["mtry"]
    model = ensemble.RandomForestClassifier(
        n_estimators=int(own["num.trees"]),
        max_features=share_of_features,
        max_samples=own["sample.fraction"] if own["replace"] else None,
        bootstrap=bool(own["replace"]),
        min_samples_leaf=max(1, round(NUM_TRAIN ** own["min.node.size"] / 4)),
        random_state=0,
    )
    return model.fit(data.x, data.y)


def fitted_boosting(data: Data, own: Setting) -> Any:
    is_linear = own["booster"] > 0.5
    of_trees = {
        "max_depth": int(own["max_depth"]),
        "min_child_weight": own["min_child_weight"],
        "colsample_bytree": own["colsample_bytree"],
        "colsample_bylevel": own["colsample_bylevel"],
        "subsample": own["subsample"],
        "tree_method": "hist",
    }
    model = XGBClassifier(
        n_estimators=int(own["nrounds"]),
        learning_rate=own["eta"],
        reg_lambda=own["lambda"],
        reg_alpha=own["alpha"],
        booster="gblinear" if is_linear else "gbtree",
        n_jobs=1,
        random_state=0,
        **({} if is_linear else of_trees),
    )
    return model.fit(data.x, data.y)


KINDS = {
    "tree": Kind(
        {"minsplit": whole(1, 60), "minbucket": whole(1, 60), "cp": power_of_two(-10, 0), "maxdepth": whole(1, 30)},
        {"minsplit": 20.0, "maxdepth": 30.0},
        fitted_tree,
        1000,
    ),
    "linear": Kind({"alpha": between(0, 1), "lambda": power_of_two(-10, 10)}, {}, fitted_linear, 1000),
    "svm": Kind(
        {
            "cost": power_of_two(-10, 10),
            "gamma": power_of_two(-10, 10),
            "degree": whole(2, 5),
            "kernel": whole(0, 2),
        },
        {"gamma": 1.0, "degree": 3.0},
        fitted_svm,
        1000,
    ),
    "forest": Kind(
        {
            "num.trees": whole(1, 30),
            "mtry": between(0.05, 1),
            "sample.fraction": between(0.1, 1),
            "min.node.size": between(0, 1),
            "replace": whole(0, 1),
        },
        {"num.trees": 15.0, "min.node.size": 0.0},
        fitted_forest,
        250,
    ),
    "boosting": Kind(
        {
            "eta": power_of_two(-10, 0),
            "subsample": between(0.1, 1),
            "lambda": power_of_two(-10, 7),
            "alpha": power_of_two(-10, 7),
            "nrounds": power_of_two(0, 7),
            "max_depth": whole(1, 15),
            "min_child_weight": power_of_two(0, 7),
            "colsample_bytree": between(0.1, 1),
            "colsample_bylevel": between(0.1, 1),
            "booster": whole(0, 1),
        },
        {"nrounds": 60.0, "max_depth": 6.0, "min_child_weight": 1.0, "colsample_bytree": 1.0},
        fitted_boosting,
        600,
    ),
}
ONE_HOT = {"kernel": 3}


class Collection(NamedTuple):
    """Pools of every kind on every data set, and the file that they are kept in."""

    file: str
    kinds: dict[str, Kind]
    data: Callable[[], dict[str, Data]]


def small_data() -> dict[str, Data]:
    sets: Any = datasets
    cancer, digits = (load(return_X_y=True) for load in (sets.load_breast_cancer, sets.load_digits))
    made = (
        sets.make_classification(900, 20, n_informative=6, n_redundant=4, flip_y=0.05, class_sep=0.7, random_state=1),
        sets.make_moons(900, noise=0.35, random_state=2),
    )
    whole_sets = [cancer, (digits[0], digits[1] % 2), *made]
    return {str(position): split(position, SMALL_SIZE, *pair) for position, pair in enumerate(whole_sets)}


def large_data() -> dict[str, Data]:
    """Of which much is left to be tuned: many classes, a rare one, and a spiral."""
    sets: Any = datasets
    number = sum(LARGE_SIZE)
    hard = {"n_informative": 10, "n_redundant": 4, "n_classes": 5, "n_clusters_per_class": 3, "flip_y": 0.02}
    five = sets.make_classification(number, 20, **hard, class_sep=1.0, random_state=3)
    uneven = {"n_informative": 6, "n_redundant": 3, "weights": [0.85], "n_clusters_per_class": 4, "flip_y": 0.03}
    rare = sets.make_classification(number, 15, **uneven, class_sep=0.7, random_state=4)
    points = np.random.default_rng(5).normal(size=(number, 2))
    turns = 2.2 * np.hypot(*points.T) + np.arctan2(points[:, 1], points[:, 0]) / np.pi
    return {
        "digits": split(1, (700, 1097), *sets.load_digits(return_X_y=True)),
        "five": split(2, LARGE_SIZE, *five),
        "rare": split(3, LARGE_SIZE, *rare),
        "rings": split(4, LARGE_SIZE, points, (turns % 2 < 1).astype(int)),
    }


def split(seed: int, size: tuple[int, int], x: np.ndarray, y: np.ndarray) -> Data:
    order = np.random.default_rng(seed).permutation(len(y))
    x = preprocessing.scale(x)
    num_train, num_test = size
    train, test = order[:num_train], order[num_train : num_train + num_test]
    return Data(x[train], y[train], x[test], y[test])


def drawn(draw: Draw, kind: Kind) -> tuple[Setting, Setting]:
    """What the model is fitted with, and its columns."""
    setting = {name: column(draw) for name, column in kind.columns.items()}
    is_default = {name: draw.uniform() < kind.share_of_defaults for name in kind.defaults}
    setting |= {name: kind.defaults[name] for name, yes in is_default.items() if yes}
    columns: Setting = {}
    for name, value in setting.items():
        if name in ONE_HOT:
            columns |= {f"{name}.{i}": float(value == i) for i in range(ONE_HOT[name])}
        else:
            columns[name] = 0.0 if is_default.get(name) else value
        if name in is_default:
            columns[f"{name}.na"] = float(is_default[name])
    return setting, columns


def built(name: str, kind: Kind, data: Data) -> Pool:
    draw = np.random.default_rng(list(name.encode()))
    rows, accuracies = [], []
    for _ in range(kind.num_rows):
        setting, columns = drawn(draw, kind)
        rows.append(list(columns.values()))
        accuracies.append(np.mean(kind.fit(data, setting).predict(data.test_x) == data.test_y))
    features = np.array(rows)
    low, high = features.min(axis=0), features.max(axis=0)
    features = (features - low) / np.where(high > low, high - low, 1.0)
    return Pool(name, features.astype(np.float32), np.array(accuracies), None)


TREE_OF_BOTS = Kind(
    {"cp": between(0, 1), "maxdepth": whole(3, 30), "minbucket": whole(5, 50), "minsplit": whole(5, 50)},
    {"cp": 0.01, "minbucket": 7.0},
    fitted_tree_of_bots,
    12000,
    SHARE_OF_DEFAULTS_OF_BOTS,
)
SMALL = Collection("own-pools.npz", KINDS, small_data)
LARGE = Collection(
    "large-pools.npz",
    {
        "big tree": KINDS["tree"]._replace(num_rows=8000),
        "big svm": KINDS["svm"]._replace(num_rows=4000),
        "bot tree": TREE_OF_BOTS,
    },
    large_data,
)


def own_pools(collection: Collection, folder: Path, progress: Callable[[Any], Iterable[Any]] = iter) -> list[Pool]:
    """Built once, and kept in a file."""
    path = folder / collection.file
    if not path.is_file():
        pairs = list(product(collection.kinds.items(), collection.data().items()))
        pools = [built(f"{called}_{name}", kind, data) for (called, kind), (name, data) in progress(pairs)]
        columns = {pool.name: np.column_stack([pool.features, pool.accuracy]) for pool in pools}
        folder.mkdir(parents=True, exist_ok=True)
        write_npz(path, columns)
    with np.load(path, allow_pickle=False) as arrays:
        return [Pool(name, arrays[name][:, :-1].astype(np.float32), arrays[name][:, -1], None) for name in arrays.files]


def write_npz(path: Path, arrays: dict[str, np.ndarray]) -> None:
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, **arrays)
    write_atomically(path, content.getvalue())
