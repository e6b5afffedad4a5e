"""The state of a search is a value: a tree of arrays and numbers, and so is its file.

All that is to be known to go on is in here; `steps` has the functions from one state to the next. Values are minimised.
"""

import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jaxtyping import Bool, Float, Int

from lga.core.checks import require
from lga.core.tree import tree_dataclass
from lga.core.tree_io import Leaves, TreeFileError, filled, leaf_name, load_leaves, named_leaves, save_tree, under
from lga.operators.theta import config_of
from lga.optimize.bounds import PRECISION
from lga.optimize.options import OWN_ALGORITHM, Search, SearchOptions, make_search
from lga.optimize.programs import num_parents
from lga.optimize.records import COLUMNS, Elites, History, with_all_columns
from lga.optimize.whole import Seen
from lga.optimize.worker import FAILURES
from lga.weights.files import layout_of

KIND = "optimizer"


@tree_dataclass
class Best:
    """The best so far: a value (the mean of `count`, if solutions are evaluated again), where and when it was found."""

    value: float
    solution: Float[np.ndarray, " d"]
    count: int
    generation: int
    position: int


@tree_dataclass
class Run:
    """The algorithm between a start and a restart, and what tells whether it stagnates."""

    algorithm: Any
    """The state of the algorithm, whatever tree that is; None before the first generation is complete."""
    children: Any
    parent_values: Float[np.ndarray, " e"]
    reference: float
    """What the algorithm sees is relative to this: the least value of the run, or the least mean of its parents."""
    mark: float
    """The reference when it last improved by more than rounding."""
    waited: int


@tree_dataclass
class Pending:
    """The open generation: what waits for a value, and what is known already. NaN is no value."""

    coordinates: Float[np.ndarray, "n d"]
    solutions: Float[np.ndarray, "n d"]
    values: Float[np.ndarray, " n"]
    tries: Int[np.ndarray, " n"]
    known: Bool[np.ndarray, " n"]

    @property
    def missing(self) -> list[int]:
        """Positions of the solutions that have no outcome yet."""
        return np.flatnonzero(~self.known).tolist()


@tree_dataclass
class Known:
    """Points that were told without being asked for, until the algorithm has learned from them."""

    coordinates: Float[np.ndarray, "k d"]
    values: Float[np.ndarray, " k"]


@jax.tree_util.register_static
@dataclass(frozen=True)
class Examples:
    """The first failure of each kind in the order of asking: (generation, position, kind, text)."""

    rows: tuple[tuple[int, int, str, str], ...] = ()

    def with_one(self, row: tuple[int, int, str, str]) -> "Examples":
        first: dict[str, tuple[int, int, str, str]] = {}
        for one in sorted([*self.rows, row]):
            first.setdefault(one[2], one)
        return Examples(tuple(first.values()))


@tree_dataclass
class SearchState:
    generation: int
    evaluations: int
    restarts: int
    stagnated: bool
    failures: Int[np.ndarray, " kinds"]
    """Counts, in the order of `FAILURES`."""
    examples: Examples
    best: Best
    history: History
    elites: Elites
    run: Run
    pending: Pending
    known: Known
    seen: Seen
    """Marks of the points that were evaluated, where all variables are whole numbers."""
    noisy: int
    """Whether values are noisy: 1, 0, or -1 if that is not known."""
    confirming: bool
    """Whether the open generation is the last one, that chooses between candidates."""


def no_points(num_dims: int) -> Known:
    return Known(np.zeros((0, num_dims), PRECISION), np.zeros(0))


def nothing_pending(num_dims: int) -> Pending:
    """No generation is open."""
    rows, numbers = np.zeros((0, num_dims)), np.zeros(0)
    return Pending(rows.astype(PRECISION), rows, numbers, np.zeros(0, np.int64), np.zeros(0, bool))


def first_state(search: Search) -> SearchState:
    """Nothing asked, nothing known. Tables have no rows."""
    num_dims = search.space.num_dims
    numbers, rows, places = np.zeros(0), np.zeros((0, num_dims)), np.zeros((0, num_dims), PRECISION)
    counts = np.zeros(0, np.int64)
    return SearchState(
        generation=0,
        evaluations=0,
        restarts=0,
        stagnated=False,
        failures=np.zeros(len(FAILURES), np.int64),
        examples=Examples(),
        best=Best(math.inf, np.zeros(num_dims), 0, -1, 0),
        history=np.zeros((0, len(COLUMNS))),
        elites=Elites(places, rows, counts, numbers, numbers),
        run=new_run(),
        pending=nothing_pending(num_dims),
        known=no_points(num_dims),
        seen=np.zeros(0, np.uint64),
        noisy=-1,
        confirming=False,
    )


def single(search: Search, solution: Float[np.ndarray, " d"]) -> Pending:
    """A generation of one."""
    return Pending(
        search.space.encode(solution)[None],
        solution[None],
        values=np.full(1, math.nan),
        tries=np.zeros(1, np.int64),
        known=np.zeros(1, bool),
    )


def new_run() -> Run:
    return Run(None, None, np.zeros(0), math.inf, math.inf, 0)


# Files.


def save_state(
    path: str | Path, search: Search, state: SearchState, extra: dict[str, Any], log: Leaves | None = None
) -> None:
    """All of the search, atomically. `extra` and `log` are for the caller to read again."""
    theta = None if search.weights is None else search.weights.theta
    description = {
        "kind": KIND,
        "settings": search.settings,
        "theta": None if theta is None else asdict(config_of(theta)),
        "examples": state.examples.rows,
        "rows": {
            "history": len(state.history),
            "elites.": len(state.elites.mean),
            "pending.": len(state.pending.values),
            "known.": len(state.known.values),
            "seen": len(state.seen),
        },
        "extra": extra,
    }
    save_tree(path, {"state": state, "theta": theta, "log": log or {}}, description)


def read(path: str | Path) -> tuple[Leaves, dict[str, Any]]:
    leaves, description = load_leaves(path)
    if description.get("kind") != KIND:
        raise TreeFileError(f"{path} holds {description.get('kind')!r}, not an optimiser.")
    return leaves, description


def load_search(path: str | Path) -> tuple[Search, SearchState]:
    """The search that was saved, with the weights that it was saved with."""
    leaves, description = read(path)
    try:
        config = description["theta"]
        theta = None if config is None else filled(layout_of(config), under("theta", leaves))
        require(
            description["settings"]["algorithm"] != OWN_ALGORITHM,
            "its algorithm was given as it is, and is in no file",
        )
        search = make_search(SearchOptions(**description["settings"] | {"weights": theta}))
        return search, restored(search, leaves, description)
    except (KeyError, TypeError, ValueError) as error:
        raise TreeFileError(f"{path} does not hold what it should: {error}") from error


def restored(search: Search, leaves: Leaves, description: dict[str, Any]) -> SearchState:
    """The state of this search in the leaves of a file."""
    # Older files know nothing of what was added since.
    blank = first_state(search)
    added = {"known": blank.known, "seen": blank.seen, "noisy": blank.noisy, "confirming": blank.confirming}
    own = named_leaves(added) | under("state", leaves)
    own["history"] = with_all_columns(own["history"])
    like = blank_state(search, own, description)
    # The shapes follow from the search and from how many rows its tables have; nothing is allocated for them.
    rows = {"run.parent_values": num_parents(like.run.algorithm)} | description["rows"]

    def shape(path: Any, leaf: Any) -> jax.ShapeDtypeStruct:
        number = next((count for name, count in rows.items() if leaf_name(path).startswith(name)), None)
        fixed = np.shape(leaf)
        return jax.ShapeDtypeStruct(fixed if number is None else (number, *fixed[1:]), np.result_type(leaf))

    found = filled(jax.tree_util.tree_map_with_path(shape, like), own)
    # Numbers are numbers again, and not arrays of one.
    return jax.tree.map(lambda one, leaf: leaf if hasattr(one, "shape") else type(one)(leaf), like, found)


def blank_state(search: Search, leaves: Leaves, description: dict[str, Any]) -> SearchState:
    """The tree that the leaves belong to: before and after an algorithm has started it is another."""
    algorithm, children = search.programs(int(leaves["restarts"])).layout()
    run = replace(
        new_run(),
        algorithm=algorithm if under("run.algorithm", leaves) else None,
        children=children if under("run.children", leaves) else None,
    )
    examples = Examples(tuple(tuple(row) for row in description["examples"]))
    return replace(first_state(search), examples=examples, run=run)
