"""Tables that a search keeps: its course, and what it knows of noisy elites."""

import math
from typing import Any

import jax
import numpy as np
from jaxtyping import Float, Int

from lga.core.tree import tree_dataclass

COLUMNS = ("evaluations", "best", "generation_best", "rate", "popsize", "restarts", "axis_ratio")
MOST_ROWS = 4096
LARGEST_DECOMPOSED = 40
"""The most variables for which the axes of a matrix are looked at: beyond, that takes longer than a generation."""
LOOKED_AT_EVERY = 8

History = Float[np.ndarray, "_ columns"]


def with_row(history: History, generation: int, row: tuple[float | int, ...]) -> History:
    """One row per generation. When it is full every other row goes, so it never grows beyond its limit."""
    stride = 1
    while -(-generation // stride) >= MOST_ROWS:
        stride *= 2
    if generation % stride:
        return history
    longer = np.concatenate([history, np.asarray([row], float)])
    return longer[::2] if len(longer) >= MOST_ROWS else longer


def seen_axis_ratio(memory: Any, generation: int, history: History) -> float:
    """After the first generations it is looked at every few: that takes a good part of one, and the ratio changes
    slowly."""
    is_seen = generation % LOOKED_AT_EVERY == 0 or generation < LOOKED_AT_EVERY
    return axis_ratio(memory) if is_seen else float(history[-1, -1])


def axis_ratio(memory: Any) -> float:
    """The longest axis of the mutations over the shortest; NaN where there is no shape, or a large one."""
    stretch = getattr(memory, "stretch", None)
    if stretch is None or (stretch.ndim == 2 and len(stretch) > LARGEST_DECOMPOSED) or not np.isfinite(stretch).all():
        return math.nan
    lengths = np.abs(stretch) if stretch.ndim == 1 else np.linalg.svd(stretch, compute_uv=False)
    return float(lengths.max() / max(lengths.min(), np.finfo(float).tiny))


def with_all_columns(history: np.ndarray) -> np.ndarray:
    """Files from before there were so many have none of the last ones. What else is wrong is found out elsewhere."""
    if history.ndim != 2 or history.shape[1] >= len(COLUMNS):
        return history
    missing = np.full((len(history), len(COLUMNS) - history.shape[1]), math.nan)
    return np.concatenate([history, missing], axis=1)


def columns(history: History) -> dict[str, np.ndarray]:
    whole = {"evaluations": int, "popsize": int}
    return {name: history[:, place].astype(whole.get(name, float)) for place, name in enumerate(COLUMNS)}


@tree_dataclass
class Elites:
    """Solutions that are evaluated again and again, with running means and sums of squared deviations (Welford).

    A solution's luck is worn down by its next evaluations. The best is the one with the least mean plus standard error.
    """

    coordinates: Float[np.ndarray, "k d"]
    solutions: Float[np.ndarray, "k d"]
    count: Int[np.ndarray, " k"]
    mean: Float[np.ndarray, " k"]
    squares: Float[np.ndarray, " k"]


def taken(elites: Elites, rows) -> Elites:
    return jax.tree.map(lambda column: column[rows], elites)


def with_values(elites: Elites, coordinates: np.ndarray, solutions: np.ndarray, values: np.ndarray) -> Elites:
    """With one more value for each of some solutions, known or new; failures are left out."""
    names = places(elites)
    finite = np.flatnonzero(np.isfinite(values))
    rows = [names.setdefault(coordinates[row].tobytes(), len(names)) for row in finite]
    new = [row for at, row in enumerate(finite) if rows[at] >= len(elites.mean) and rows.index(rows[at]) == at]
    more = np.zeros(len(new), int)
    count, mean, squares = (np.concatenate([old, more]) for old in (elites.count, elites.mean, elites.squares))
    for row, value in zip(rows, values[finite].tolist(), strict=True):
        count[row] += 1
        change = value - mean[row]
        mean[row] += change / count[row]
        squares[row] += change * (value - mean[row])
    all_coordinates = np.concatenate([elites.coordinates, coordinates[new]])
    return Elites(all_coordinates, np.concatenate([elites.solutions, solutions[new]]), count, mean, squares)


def places(elites: Elites) -> dict[bytes, int]:
    return {row.tobytes(): place for place, row in enumerate(elites.coordinates)}


def means(elites: Elites, coordinates: np.ndarray, otherwise: np.ndarray) -> Float[np.ndarray, " n"]:
    """The means of solutions that are known, other values for those that are not."""
    names = places(elites)
    found = [names.get(row.tobytes()) for row in coordinates]
    pairs = zip(found, otherwise, strict=True)
    return np.array([value if place is None else elites.mean[place] for place, value in pairs])


def pruned(elites: Elites, archive: np.ndarray, num_again: int) -> Elites:
    """Without all but the archive and the best that were evaluated more than once."""
    order = np.argsort(elites.mean, kind="stable")
    best = order[elites.count[order] > 1][: max(2 * num_again, 8)]
    names = places(elites)
    own = [names[row.tobytes()] for row in archive if row.tobytes() in names]
    return taken(elites, list(dict.fromkeys([*best.tolist(), *own])))


def to_try_again(elites: Elites, num_again: int) -> Elites:
    """The best means, as far as there are any."""
    if not len(elites.mean):
        return elites
    return taken(elites, np.argsort(elites.mean, kind="stable")[:num_again])


def best_elite(elites: Elites) -> int | None:
    if not elites.mean.size:
        return None
    repeated = np.flatnonzero(elites.count > 1)
    if not repeated.size:
        return int(np.argmin(elites.mean))
    # Summed one by one: NumPy's order of summation depends on the number of summands.
    variance = sum(elites.squares[repeated].tolist()) / sum((elites.count[repeated] - 1).tolist())
    return int(repeated[np.argmin(elites.mean[repeated] + np.sqrt(variance / elites.count[repeated]))])
