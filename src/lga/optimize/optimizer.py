"""The ask/tell optimiser, for loops of your own: laboratories, simulators. A thin shell around a state."""

import math
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from lga.core.checks import require
from lga.operators.theta import Theta
from lga.optimize.options import Search, SearchOptions, make_search
from lga.optimize.programs import DEFAULT_ALGORITHM
from lga.optimize.state import SearchState, first_state, load_search, save_state
from lga.optimize.steps import complete, note, open_generation, population, positions_of
from lga.optimize.warm import checked_points, with_known
from lga.optimize.worker import FAILURES, Noted, failed, judge


class Optimizer:
    """Asks for evaluations and learns from them.

    `ask()` gives solutions [n, d]; `tell(solutions, values)` takes values in any order and in parts. When all are told,
    or the rest is given up with `forget()`, the next `ask()` is the next generation. Values that are not finite failed.

    Either `bounds`, a pair (low, high) for each variable, or `x0` and `sigma0` say where to search: the first
    population has the deviation `sigma0` around `x0`. A search that stagnates starts anew.

    Examples:
        >>> optimizer = Optimizer([(-5, 5), (-5, 5)], seed=0)
        >>> for _ in range(60):
        ...     points = optimizer.ask()
        ...     optimizer.tell(points, (points**2).sum(axis=1))
        >>> optimizer.best_value < 1e-6
        True
    """

    search: Search
    state: SearchState

    def __init__(
        self,
        bounds: Any = None,
        *,
        x0: Any = None,
        sigma0: Any = None,
        popsize: int | None = None,
        seed: int | None = None,
        algorithm: Any = DEFAULT_ALGORITHM,
        weights: str | Path | Theta | None = None,
        direction: str = "minimize",
        integrality: Any = None,
        log_scale: Any = None,
        restarts: int | None = None,
        reevaluate: int = 0,
    ):
        given = {name: value for name, value in locals().items() if name != "self"}
        self.search = make_search(SearchOptions(**given))
        self.state = first_state(self.search)

    def ask(self) -> Float[np.ndarray, "n d"]:
        """The solutions that wait for a value; a new generation if there are none."""
        self.state = open_generation(self.search, self.state)
        return self.state.pending.solutions[self.state.pending.missing]

    def tell(self, solutions: Any, values: Any) -> None:
        """Values of solutions that were asked for, in any order, all of them or some.

        Solutions that were not asked for are welcome too: they cost no evaluation. Before the first `ask` they are what
        the search starts from, later the better ones take the places of the worst parents.
        """
        rows = np.atleast_2d(np.asarray(solutions, float))
        # A masked value is None in a list; in an array NumPy would show what lies under the mask.
        plain = values.tolist() if isinstance(values, np.ma.MaskedArray) else values
        given = list(np.atleast_1d(np.asarray(plain, object)))
        num_dims = self.search.space.num_dims
        require(
            rows.shape[1] == num_dims and len(given) == rows.shape[0],
            f"solutions has shape {rows.shape} and values {len(given)} entries, but there must be one value for each "
            f"solution of {num_dims} variables.",
        )
        words = [value for value in given if isinstance(value, str | bytes)]
        require(not words, f"values has {words[0] if words else ''!r}, but must be numbers; None and NaN have failed.")
        outcomes = [failed("missing") if value is None else judge(value) for value in given]
        places = positions_of(self.state.pending, rows)
        unasked = [number for number, place in enumerate(places) if place is None]
        if unasked:
            values = np.array([self.search.sign * outcomes[number].value for number in unasked])
            known = checked_points(self.search.space, rows[unasked], values)
            self.state = with_known(self.search.space, self.state, *known)
        self._note({place: outcome for place, outcome in zip(places, outcomes, strict=True) if place is not None})

    def forget(self) -> None:
        """Gives up what has not been told: it counts as failed, and the generation is complete."""
        self._note(dict.fromkeys(self.state.pending.missing, failed("missing", "no value was told")))

    def _note(self, outcomes: dict[int, Any]) -> None:
        state = note(self.search, self.state, [Noted(*pair) for pair in outcomes.items()])
        is_complete = state.pending.known.size > 0 and state.pending.known.all()
        self.state = complete(self.search, state) if is_complete else state

    @property
    def best_value(self) -> float:
        """The best value so far; NaN if nothing succeeded yet. With `reevaluate`, a mean of several values."""
        best = self.state.best
        return self.search.sign * best.value if best.count else math.nan

    @property
    def best_x(self) -> Float[np.ndarray, " d"] | None:
        best = self.state.best
        return best.solution.copy() if best.count else None

    @property
    def evaluations(self) -> int:
        return self.state.evaluations

    @property
    def generation(self) -> int:
        """How many generations are complete."""
        return self.state.generation

    @property
    def popsize(self) -> int:
        """Solutions per generation; a restart makes it larger."""
        return self.search.size(self.state.restarts)

    @property
    def failures(self) -> dict[str, int]:
        """How often evaluations failed, by kind."""
        return {kind: int(count) for kind, count in zip(FAILURES, self.state.failures, strict=True) if count}

    @property
    def population(self) -> tuple[Float[np.ndarray, "e d"], Float[np.ndarray, " e"]]:
        """The parents of the current run and their values."""
        return population(self.search, self.state)

    def save(self, path: str | Path) -> None:
        """Writes everything, atomically: `Optimizer.load` continues as if nothing had happened."""
        save_state(path, self.search, self.state, {})

    @classmethod
    def load(cls, path: str | Path) -> "Optimizer":
        optimizer = object.__new__(cls)
        optimizer.search, optimizer.state = load_search(path)
        return optimizer
