"""Whole numbers: steps that do not vanish when the rate of mutation falls below the distance of two numbers.

The algorithm searches in real coordinates, and knows nothing of rounding. So some of its children are moved: one whole
number, sometimes more, becomes another. If all variables are whole numbers, no point is evaluated twice while there
are others near the best: a child that stands for one that was seen is a neighbour of the best, or of a parent, instead.
"""

import hashlib

import numpy as np
from jaxtyping import Float, Int, UInt64

from lga.optimize.bounds import Space

MOVED_EVERY = 8
"""Of as many children one is moved, where some variables are real and all children have the best's whole numbers."""
NEIGHBOURS_EVERY = 2
"""Children that are neighbours whatever the algorithm meant, where all variables are whole numbers."""
ALSO_NEXT = 0.5
"""Chance that one more number is moved."""
NEAR_SHARE = 0.5
"""Moves to a near number; the others go anywhere. Things in no order have no near ones."""
FROM_BEST = 0.7
"""Neighbours of the best; the others are those of a parent."""
WIDEST = 1e6
"""Ranges from here on are too wide to try all of their numbers alike."""
TRIES = 20
MOST_SEEN = 2**16
"""Points that are remembered, the last ones."""

Seen = UInt64[np.ndarray, " _"]


def with_moves(
    generator: np.random.Generator,
    space: Space,
    coordinates: Float[np.ndarray, "n d"],
    best: Float[np.ndarray, " d"],
    parents: Float[np.ndarray, "e d"],
    seen: Seen,
) -> Float[np.ndarray, "n d"]:
    """The children, some of them with other whole numbers."""
    places = space.movable
    if not places.size:
        return coordinates
    solutions, moved = space.decode(coordinates), coordinates.copy()
    if space.is_whole:
        bases = np.concatenate([space.decode(best[None]), space.decode(parents)])
        known = set(seen.tolist())
        for row, solution in enumerate(solutions):
            tried, tries = solution, 0
            wanted = row % NEIGHBOURS_EVERY == 0
            while ((mark := mark_of(tried)) in known or (wanted and tries == 0)) and tries < TRIES:
                base = 0 if len(bases) == 1 or generator.random() < FROM_BEST else generator.integers(1, len(bases))
                tried, tries = neighbour(generator, space, places, bases[base]), tries + 1
            known.add(mark)
            if tries:
                moved[row] = space.encode(tried)
        return moved
    best_numbers = space.decode(best[None])[0, places]
    same = np.flatnonzero(np.all(solutions[:, places] == best_numbers, axis=1))
    # As long as some children have other numbers by themselves, nothing need be done.
    number = -(-len(solutions) // MOVED_EVERY) if len(same) == len(solutions) else 0
    for row in generator.choice(same, number, replace=False):
        tried = neighbour(generator, space, places, solutions[row])
        moved[row, places] = space.encode(tried)[places]
    return moved


def as_meant(
    space: Space,
    meant: Float[np.ndarray, "n d"],
    coordinates: Float[np.ndarray, "n d"],
    values: Float[np.ndarray, " n"],
    best: float,
) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, " n"]]:
    """What the algorithm is told. A moved child that is no improvement says nothing of the one that was meant: where
    there are real variables, whose steps are learned from, that one counts as neither good nor bad."""
    if not space.movable.size:
        return coordinates, values
    is_moved = np.any(meant != coordinates, axis=1)
    others = values[~is_moved & np.isfinite(values)]
    if space.is_whole or not is_moved.any() or not others.size:
        return coordinates, values
    is_lost = is_moved & ~(values < best)
    middle = np.sort(others)[len(others) // 2]
    return np.where(is_lost[:, None], meant, coordinates), np.where(is_lost, middle, values)


def neighbour(
    generator: np.random.Generator, space: Space, places: Int[np.ndarray, " m"], solution: Float[np.ndarray, " d"]
) -> Float[np.ndarray, " d"]:
    """The solution with one other whole number, or a few."""
    number = min(int(generator.geometric(1.0 - ALSO_NEXT)), len(places))
    moved = solution.copy()
    for place in generator.choice(places, number, replace=False):
        low, high, now = float(space.low[place]), float(space.high[place]), float(solution[place])
        is_near = not space.category[place] and generator.random() < NEAR_SHARE
        step = generator.choice((-1, 1)) * generator.geometric(0.5)
        if not (is_near and low <= now + step <= high):
            step = far_step(generator, low, high, now)
        moved[place] = np.clip(now + step, low, high)
    return moved


def far_step(generator: np.random.Generator, low: float, high: float, now: float) -> float:
    """To one of the other numbers, all alike; where these are very many, by a step of any order of magnitude."""
    if high / 2.0 - low / 2.0 < WIDEST / 2.0:
        other = generator.integers(int(low), int(high))
        return float(other if other < now else other + 1) - now
    step = np.rint(WIDEST ** generator.random())
    is_upward = now - step < low or (now + step <= high and generator.random() < 0.5)
    return step if is_upward else -step


def mark_of(solution: Float[np.ndarray, " d"]) -> int:
    return int.from_bytes(hashlib.blake2b((solution + 0.0).tobytes(), digest_size=8).digest(), "little")


def with_marks(seen: Seen, space: Space, solutions: Float[np.ndarray, "n d"]) -> Seen:
    """What was seen, with some more."""
    if not space.is_whole:
        return seen
    return np.concatenate([seen, np.array([mark_of(row) for row in solutions], np.uint64)])[-MOST_SEEN:]
