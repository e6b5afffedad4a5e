"""What an optimiser remembers beside its state: the course of the search, and what it knows of noisy elites."""

from dataclasses import dataclass, field

import numpy as np

COLUMNS = ("evaluations", "best", "generation_best", "rate", "popsize")
MOST_ROWS = 4096


@dataclass
class History:
    """One row a generation. When it is full every other row goes, so it never grows beyond its limit."""

    rows: list[tuple[float, ...]] = field(default_factory=list)
    stride: int = 1
    count: int = 0

    def add(self, row: tuple[float, ...]) -> None:
        if self.count % self.stride == 0:
            self.rows.append(row)
        self.count += 1
        if len(self.rows) >= MOST_ROWS:
            self.rows, self.stride = self.rows[::2], 2 * self.stride

    def columns(self) -> dict[str, np.ndarray]:
        table = np.asarray(self.rows, float).reshape(-1, len(COLUMNS))
        whole = {"evaluations": int, "popsize": int}
        return {name: table[:, place].astype(whole.get(name, float)) for place, name in enumerate(COLUMNS)}


@dataclass
class Estimate:
    """Running mean and sum of squared deviations of the values of one solution (Welford)."""

    coordinates: np.ndarray
    solution: np.ndarray
    count: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def add(self, value: float) -> None:
        self.count += 1
        change = value - self.mean
        self.mean += change / self.count
        self.squares += change * (value - self.mean)


class Elites:
    """Solutions that are evaluated again and again, with the means of their values.

    A solution's luck is worn down by its next evaluations. The best is the one with the least mean plus standard error.
    """

    def __init__(self, num_again: int):
        self.num_again = num_again
        self.capacity = max(2 * num_again, 8)
        self.known: dict[bytes, Estimate] = {}

    def add(self, coordinates: np.ndarray, solution: np.ndarray, value: float) -> None:
        name = coordinates.tobytes()
        if name not in self.known:
            self.known[name] = Estimate(coordinates.copy(), solution.copy())
        self.known[name].add(value)

    def mean(self, coordinates: np.ndarray, otherwise: float) -> float:
        estimate = self.known.get(coordinates.tobytes())
        return otherwise if estimate is None else estimate.mean

    def prune(self, archive: list[bytes]) -> None:
        """Forgets all but the archive and the best that were evaluated more than once."""
        kept = sorted((name for name, one in self.known.items() if one.count > 1), key=lambda n: self.known[n].mean)
        names = dict.fromkeys([*kept[: self.capacity], *(name for name in archive if name in self.known)])
        self.known = {name: self.known[name] for name in names}

    def next_again(self) -> list[Estimate]:
        """The solutions to evaluate again: the best means, as far as there are any."""
        return sorted(self.known.values(), key=lambda one: one.mean)[: self.num_again]

    def best(self) -> Estimate | None:
        if not self.known:
            return None
        repeated = [one for one in self.known.values() if one.count > 1]
        if not repeated:
            return min(self.known.values(), key=lambda one: one.mean)
        variance = sum(one.squares for one in repeated) / sum(one.count - 1 for one in repeated)
        return min(repeated, key=lambda one: one.mean + np.sqrt(variance / one.count))
