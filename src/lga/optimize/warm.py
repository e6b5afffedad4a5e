"""Points that a search did not ask for: values that are known before it starts, or found elsewhere while it runs.

They cost no evaluation. Before the first generation they are the archive that a search starts from; later the better
ones take the places of the worst parents. A shape starts with the spread of the better half of them.
"""

import math
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from lga.algorithms.genetic import has_parents
from lga.core.checks import require
from lga.core.tree_io import leaf_name, named_leaves
from lga.operators.screening import remember
from lga.operators.shape import Memory
from lga.optimize.bounds import PRECISION, Space
from lga.optimize.scores import relative
from lga.optimize.state import Best, Known, Run, SearchState


def checked_points(space: Space, x: Any, y: Any) -> tuple[Float[np.ndarray, "k d"], Float[np.ndarray, " k"]]:
    """Points and values as people give them; values that are not finite teach nothing, and are left out."""
    rows, values = np.atleast_2d(np.asarray(x, float)), np.atleast_1d(np.asarray(y, float))
    require(
        rows.ndim == 2 and rows.shape[1] == space.num_dims and values.shape == rows.shape[:1],
        f"x_init has shape {rows.shape} and y_init {values.shape}, but there must be one value for each point of "
        f"{space.num_dims} variables.",
    )
    inside = np.all((rows >= space.low) & (rows <= space.high), axis=1)
    require(bool(np.all(inside)), f"point {int(np.argmin(inside))} of those given lies outside of the bounds.")
    finite = np.isfinite(values)
    return rows[finite], values[finite]


def with_known(space: Space, state: SearchState, rows: np.ndarray, values: np.ndarray) -> SearchState:
    """The state that knows some more points, whose values are to be minimised. The best so far may be one of them."""
    if not len(values):
        return state
    coordinates = np.stack([space.encode(row) for row in rows]).astype(PRECISION)
    known = Known(np.concatenate([state.known.coordinates, coordinates]), np.concatenate([state.known.values, values]))
    place = int(np.argmin(values))
    best = state.best
    if values[place] < best.value:
        best = Best(float(values[place]), rows[place].copy(), 1, state.generation, -1)
    return replace(state, known=known, best=best)


def taken_in(state: SearchState, run: Run, reference: float, scale: float) -> Run:
    """The run after its worst parents have made way for known points that are better."""
    known, algorithm = state.known, run.algorithm
    if not has_parents(algorithm):
        return run
    parents, values = algorithm.parents, np.concatenate([run.parent_values, known.values])
    order = np.argsort(np.where(np.isfinite(values), values, math.inf), kind="stable")
    kept = np.sort(order[: len(run.parent_values)])
    fitness = relative(values[kept], reference, scale)
    number, best = len(known.values), int(np.argmin(run.parent_values))
    changes = {
        "solutions": np.concatenate([parents.solutions, known.coordinates])[kept],
        "fitness": fitness,
        # A newcomer brings no rate of its own: it has that of the best parent.
        "sigma": np.concatenate([parents.sigma, np.full(number, parents.sigma[best])])[kept],
        "age": np.concatenate([parents.age, np.zeros(number)])[kept],
    }
    algorithm = with_leaves(algorithm, {f"parents.{name}": leaf for name, leaf in changes.items()})
    if jax.tree.leaves(algorithm.past):
        with jax.enable_x64(True):
            told = jax.tree.map(jnp.asarray, (algorithm.past, known.coordinates, known.values))
            past = jax.device_get(remember(*told))
        algorithm = with_leaves(algorithm, {f"past.{name}": leaf for name, leaf in named_leaves(past).items()})
    return replace(run, algorithm=algorithm, parent_values=values[kept])


def with_leaves(tree: Any, changes: dict[str, np.ndarray]) -> Any:
    """The tree of host arrays with some leaves replaced, by name; their types stay."""

    def changed(path: Any, leaf: Any) -> Any:
        new = changes.get(leaf_name(path))
        return leaf if new is None else np.asarray(new, np.asarray(leaf).dtype)

    return jax.tree_util.tree_map_with_path(changed, tree)


def with_shape_of(algorithm: Any, known: Known) -> Any:
    """A shape that starts as wide along each variable as the better half of the known points is, the more so the more
    of them there are."""
    memory = getattr(algorithm, "shape_memory", None)
    if not isinstance(memory, Memory) or len(known.values) < 4:
        return algorithm
    better = known.coordinates[np.argsort(known.values, kind="stable")[: len(known.values) // 2]]
    num_points, num_dims = better.shape
    spread = np.maximum(better.std(axis=0), 1e-3)
    belief = num_points / (num_points + num_dims)
    scales = np.exp(belief * (np.log(spread) - np.log(spread).mean()))
    scales = scales / np.sqrt(np.mean(scales**2))
    stretch = np.diag(scales) if memory.stretch.ndim == 2 else scales
    return with_leaves(algorithm, {"shape_memory.stretch": stretch})
