"""Models of the pools, for the continuous version of HPO-B: XGBoost, fitted once and kept in files."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from lga.core.tree_io import digest, write_atomically
from lga.tasks.hpob import files
from lga.tasks.hpob.pools import Pool

# As HPO-B describes them: its own search over such settings chose these for most tasks.
SETTINGS: dict[str, Any] = {"max_depth": 6, "eta": 0.1, "tree_method": "exact", "base_score": 0.5, "nthread": 1}
NUM_ROUNDS = 500
Predict = Callable[[Float[np.ndarray, "n d"]], Float[np.ndarray, " n"]]


def xgboost() -> Any:
    try:
        import xgboost
    except ImportError as error:
        raise ImportError("surrogates of HPO-B need XGBoost: pip install 'lga[hpo]'.") from error
    return xgboost


def model_file(pool: Pool, folder: Path) -> Path:
    """By the content of the pool, the settings and the version: all that decides the model."""
    settings = SETTINGS | {"num_rounds": NUM_ROUNDS, "xgboost": xgboost().__version__}
    content = digest({"features": pool.features, "accuracy": pool.accuracy}, settings)
    return folder / f"{pool.name}-{content[:16]}.ubj"


def fit(pool: Pool, folder: Path) -> Path:
    """The pool's model in its file. What is there already is not fitted again."""
    path = model_file(pool, folder)
    if not path.is_file():
        table = xgboost().DMatrix(pool.features, label=pool.accuracy, nthread=1)
        booster = xgboost().train(SETTINGS, table, NUM_ROUNDS)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, bytes(booster.save_raw("ubj")))
    return path


def smallest_first(pools: Iterable[Pool]) -> list[Pool]:
    """So that most of them are there soon."""
    return sorted(pools, key=lambda pool: pool.features.size)


def surrogate(pool: Pool, folder: Path) -> Predict:
    """Accuracies by the authors' model where their archive is at hand, else by one that is fitted to the pool."""
    booster = xgboost().Booster({"nthread": 1})
    if (files.folder() / files.SURROGATE_ARCHIVE).is_file():
        booster.load_model(bytearray(published_model(pool)))
    else:
        booster.load_model(fit(pool, folder))
    booster.set_param({"nthread": 1})
    return lambda points: booster.inplace_predict(np.asarray(points, np.float32))


def published_model(pool: Pool) -> bytes:
    name = f"surrogate-{pool.name.replace('_', '-')}.json"
    with files.archive(files.SURROGATE_ARCHIVE) as opened:
        member = next(member for member in opened.namelist() if Path(member).name == name)
        return opened.read(member)
