"""Noise: whether there is any, and which point to recommend if there is.

Two solutions of the first generation are evaluated twice. If a value is another the second time, the least value that
was ever seen is mostly luck. So the last evaluations go to a few candidates: the centre of the parents, the least of a
quadratic function that is fitted to all that was evaluated around it, in both of which luck has been averaged out, and
the solution with the least value. The one with the smallest mean is recommended, with that mean.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from lga.algorithms.genetic import has_parents
from lga.optimize.options import Search
from lga.optimize.state import Best, Pending, SearchState

TWICE = 2
"""Solutions that are evaluated twice."""
ROUNDING = 1e-12
"""Relative differences that are none: sums in parallel programs have no fixed order."""
SHARE = 10
"""One of as many evaluations is for the candidates."""
FEWEST, MOST = 12, 200
POINTS_PER_TERM = 3
"""Of the fit."""
SHARES_OF_POINTS = (0.25, 0.5, 0.75, 1.0)
"""The nearest ones."""
UNKNOWN, NO, YES = -1, 0, 1


def looks_for_noise(search: Search, state: SearchState) -> bool:
    return search.options.noise == "auto" and state.noisy == UNKNOWN


def verdict(search: Search, state: SearchState) -> int:
    """Of a first generation, in which some solutions were evaluated twice."""
    if not looks_for_noise(search, state):
        return state.noisy
    values = state.pending.values
    first, second = values[:TWICE], values[-TWICE:]
    both = np.isfinite(first) & np.isfinite(second)
    apart = np.abs(first[both] - second[both]) > ROUNDING * np.abs(first[both])
    return YES if apart.any() else NO


def reserve(search: Search) -> int:
    """Evaluations for the candidates."""
    budget = search.options.max_evaluations
    return 0 if budget is None else min(max(budget // SHARE, FEWEST), MOST)


def is_time_to_confirm(search: Search, state: SearchState) -> bool:
    budget = search.options.max_evaluations
    if state.noisy != YES or budget is None or state.pending.known.size or not has_parents(state.run.algorithm):
        return False
    return 0 < budget - state.evaluations <= reserve(search)


def with_candidates(
    search: Search, state: SearchState, x: Float[np.ndarray, "n d"], values: Float[np.ndarray, " n"]
) -> SearchState:
    """With a last generation: all candidates, again and again. `x` and `values` are what was evaluated."""
    space, budget = search.space, search.options.max_evaluations
    assert budget is not None
    centre = np.asarray(state.run.algorithm.parents.solutions).mean(axis=0)
    places = [centre]
    if state.best.count:
        places.append(space.encode(state.best.solution))
    finite = np.isfinite(values)
    coordinates = np.array([space.encode(row) for row in x[finite]]).reshape(-1, space.num_dims)
    fitted = least_of_fit(coordinates, values[finite], space.reflect(centre[None])[0])
    if fitted is not None:
        places.append(fitted)
    rows = np.stack(places)
    which = np.arange(budget - state.evaluations) % len(rows)
    pending = Pending(
        rows[which],
        space.decode(rows)[which],
        values=np.full(len(which), np.nan),
        tries=np.zeros(len(which), np.int64),
        known=np.zeros(len(which), bool),
    )
    return replace(state, pending=pending, confirming=True)


def least_of_fit(
    coordinates: Float[np.ndarray, "n d"], values: Float[np.ndarray, " n"], centre: Float[np.ndarray, " d"]
) -> Float[np.ndarray, " d"] | None:
    """Where a quadratic function of the points around the centre is least.

    Of as few points as make a valley out of the noise; None if not even all of them do.
    """
    order = np.argsort(np.linalg.norm(coordinates - centre, axis=1), kind="stable")
    for share in SHARES_OF_POINTS:
        nearest = order[: int(share * len(order))]
        found = valley(coordinates[nearest] - centre, values[nearest])
        if found is not None:
            return centre + found
    return None


def valley(away: Float[np.ndarray, "n d"], values: Float[np.ndarray, " n"]) -> Float[np.ndarray, " d"] | None:
    """The least of a quadratic fit, within the reach of its points, if it explains more than it leaves open."""
    number, num_dims = away.shape
    first, second = np.triu_indices(num_dims)
    if number < POINTS_PER_TERM * (1 + num_dims + len(first)):
        return None
    reach = np.maximum(np.abs(away).max(axis=0), 1e-12)
    steps = away / reach
    table = np.column_stack([np.ones(number), steps, steps[:, first] * steps[:, second]])
    terms = np.linalg.lstsq(table, values, rcond=None)[0]
    bend = np.zeros((num_dims, num_dims))
    bend[first, second] = terms[1 + num_dims :]
    bend = bend + bend.T
    left_open = np.var(values - table @ terms)
    if np.linalg.eigvalsh(bend).min() <= 0.0 or left_open > 0.5 * np.var(values):
        return None
    return reach * np.clip(np.linalg.solve(bend, -terms[1 : 1 + num_dims]), -1.0, 1.0)


def confirmed(state: SearchState) -> SearchState:
    """The state that recommends the best candidate, with the mean of its values."""
    pending = state.pending
    again = np.flatnonzero(np.all(pending.coordinates[1:] == pending.coordinates[0], axis=1))
    number = int(again[0]) + 1 if again.size else len(pending.values)
    means = [mean_of(pending.values[which::number]) for which in range(number)]
    if not np.isfinite(means).any():
        return replace(state, generation=state.generation + 1)
    place = int(np.nanargmin(means))
    count = int(np.sum(np.isfinite(pending.values[place::number])))
    best = Best(means[place], pending.solutions[place], count, state.generation, 0)
    return replace(state, best=best, generation=state.generation + 1)


def mean_of(values: Float[np.ndarray, " n"]) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if finite.size else np.nan
