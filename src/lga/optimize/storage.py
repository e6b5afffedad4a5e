"""An optimiser on disk: tensors and a description, written atomically, read without executing anything."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from lga.core.tree_io import TreeFileError, leaf_name, load_leaves, named_leaves, save_tree
from lga.operators.fold import theta_layout
from lga.operators.theta import Theta, ThetaConfig, config_of
from lga.optimize.records import Estimate
from lga.optimize.worker import FAILURES, Outcome

if TYPE_CHECKING:
    from lga.optimize.optimizer import Optimizer

KIND = "optimizer"
SCALARS = ("evaluations", "generation", "restarts_done", "stagnated")
FLOATS = ("found", "run_best", "parent_values", "coordinates", "solutions")
# Codes of outcomes: no outcome yet, a value, and the kinds of failure after that.
UNKNOWN, SUCCEEDED = -1, 0


def save(path: str | Path, optimizer: "Optimizer", extra: dict[str, Any]) -> None:
    """`extra` is a part of the description for the caller to read again."""
    description = {
        "kind": KIND,
        "settings": optimizer.settings,
        "scalars": {name: getattr(optimizer, name) for name in SCALARS},
        "failures": dict(optimizer.failures),
        "examples": optimizer.examples,
        "theta": None if optimizer.weights is None else asdict(config_of(optimizer.weights.theta)),
        "texts": [None if outcome is None else [outcome.text, outcome.earlier] for outcome in optimizer.outcomes],
        "waited": optimizer.stagnation.waited,
        "history": [optimizer.history.stride, optimizer.history.count],
        "extra": extra,
    }
    save_tree(path, tensors_of(optimizer), description)


def tensors_of(optimizer: "Optimizer") -> dict[str, np.ndarray]:
    outcomes = optimizer.outcomes
    codes = [UNKNOWN if one is None else code_of(one) for one in outcomes]
    tensors = {name: np.asarray(getattr(optimizer, name)) for name in FLOATS} | {
        "stagnation_best": np.asarray(optimizer.stagnation.best),
        "history": np.asarray(optimizer.history.rows, float),
        "outcome_codes": np.asarray(codes, np.int32),
        "outcome_values": np.asarray([np.nan if one is None else one.value for one in outcomes], float),
    }
    if optimizer.found_x is not None:
        tensors["found_x"] = optimizer.found_x
    for prefix, tree in (("state", optimizer.state), ("children", optimizer.children)):
        if tree is not None:
            tensors |= {f"{prefix}.{name}": leaf for name, leaf in named_leaves(tree).items()}
    if optimizer.weights is not None:
        tensors |= {f"theta.{name}": leaf for name, leaf in named_leaves(optimizer.weights.theta).items()}
    if optimizer.elites is not None and optimizer.elites.known:
        known = list(optimizer.elites.known.values())
        for name in ("coordinates", "solution", "count", "mean", "squares"):
            tensors[f"elites.{name}"] = np.asarray([getattr(one, name) for one in known])
    return tensors


def load(path: str | Path, make: type["Optimizer"]) -> "Optimizer":
    """The optimiser that was saved, with the weights that it was saved with."""
    tensors, description = read(path)
    settings: dict[str, Any] = dict(description["settings"])
    settings["weights"] = None if description["theta"] is None else theta_of(tensors, description["theta"])
    optimizer = make(**settings)
    restore(optimizer, tensors, description)
    return optimizer


def read(path: str | Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    tensors, description = load_leaves(path)
    if description.get("kind") != KIND:
        raise TreeFileError(f"{path} holds {description.get('kind')!r}, not an optimiser.")
    return tensors, description


def restore(optimizer: "Optimizer", tensors: dict[str, np.ndarray], description: dict[str, Any]) -> None:
    """Puts what was saved into an optimiser with the same settings."""
    for name in SCALARS:
        setattr(optimizer, name, description["scalars"][name])
    optimizer.start_run()
    for name in FLOATS:
        tensor = tensors[name]
        setattr(optimizer, name, tensor if tensor.ndim else float(tensor))
    optimizer.found_x = tensors.get("found_x")
    optimizer.failures = Counter(description["failures"])
    optimizer.examples = description["examples"]
    optimizer.stagnation.best, optimizer.stagnation.waited = float(tensors["stagnation_best"]), description["waited"]
    optimizer.history.stride, optimizer.history.count = description["history"]
    optimizer.history.rows = [tuple(row) for row in tensors["history"].tolist()]
    codes, values = tensors["outcome_codes"].tolist(), tensors["outcome_values"].tolist()
    optimizer.outcomes = [
        None if code == UNKNOWN else Outcome(value, None if code == SUCCEEDED else FAILURES[code - 1], *texts)
        for code, value, texts in zip(codes, values, description["texts"], strict=True)
    ]
    state, children = optimizer.programs.layout()
    optimizer.state = filled(state, "state", tensors)
    optimizer.children = filled(children, "children", tensors)
    if optimizer.elites is not None and "elites.count" in tensors:
        columns = [tensors[f"elites.{name}"] for name in ("coordinates", "solution", "count", "mean", "squares")]
        for coordinates, solution, count, mean, squares in zip(*columns, strict=True):
            one = Estimate(coordinates.copy(), solution.copy(), int(count), float(mean), float(squares))
            optimizer.elites.known[coordinates.tobytes()] = one


def filled(layout: Any, prefix: str, tensors: dict[str, np.ndarray]) -> Any:
    """The tree of that layout with the tensors that were saved for it; None if none were."""
    if not any(name.startswith(f"{prefix}.") for name in tensors):
        return None
    return jax.tree_util.tree_map_with_path(lambda path, _: tensors[f"{prefix}.{leaf_name(path)}"], layout)


def theta_of(tensors: dict[str, np.ndarray], config: dict[str, Any]) -> Theta:
    layout = theta_layout(ThetaConfig(tuple(config["learned"]), config["key_dim"], config["num_heads"]))
    return filled(layout, "theta", tensors)


def code_of(outcome: Outcome) -> int:
    return SUCCEEDED if outcome.failure is None else 1 + FAILURES.index(outcome.failure)
