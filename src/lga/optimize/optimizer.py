"""The ask/tell optimiser, for loops of your own: laboratories, simulators. `minimize` drives the same object."""

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, UInt32

from lga.core.checks import require, require_known
from lga.core.population import FAILED
from lga.operators.theta import Theta
from lga.optimize import storage
from lga.optimize.bounds import deviations, make_space
from lga.optimize.programs import (
    ALGORITHMS,
    DEFAULT_ALGORITHM,
    LEARNED,
    Programs,
    has_parents,
    key_words,
    programs,
)
from lga.optimize.records import Elites, History
from lga.optimize.stagnation import FIRST_SIZE, Stagnation, population_size
from lga.optimize.worker import Outcome, failed, judge
from lga.weights import Weights, resolve

DIRECTIONS = {"minimize": 1.0, "maximize": -1.0}
SMALLEST_POPULATION = 4


class Optimizer:
    """Asks for evaluations and learns from them.

    `ask()` gives solutions [n, d]; `tell(solutions, values)` takes values in any order and in parts. When all are told,
    or the rest is given up with `forget()`, the next `ask()` is the next generation. Values that are not finite failed.

    Either `bounds`, a pair (low, high) for each variable, or `x0` and `sigma0` say where to search: the first
    population has the deviation `sigma0` around `x0`. A search that stagnates starts anew with a larger population.
    """

    def __init__(
        self,
        bounds: Any = None,
        *,
        x0: Any = None,
        sigma0: Any = None,
        popsize: int | None = None,
        seed: int | None = None,
        algorithm: str = DEFAULT_ALGORITHM,
        weights: str | Path | Theta | None = None,
        direction: str = "minimize",
        integrality: Any = None,
        log_scale: Any = None,
        restarts: int | None = None,
        reevaluate: int = 0,
    ):
        self.space = make_space(bounds, x0, sigma0, integrality, log_scale)
        require_known("algorithm", algorithm, ALGORITHMS)
        require_known("direction", direction, DIRECTIONS)
        popsize = FIRST_SIZE if popsize is None else int(popsize)
        require(popsize >= SMALLEST_POPULATION, f"popsize is {popsize}, but must be at least {SMALLEST_POPULATION}.")
        require(restarts is None or restarts >= 0, f"restarts is {restarts}, but must be 0 or more, or None.")
        require(0 <= reevaluate <= popsize, f"reevaluate is {reevaluate}, but must lie between 0 and {popsize}.")
        require(weights is None or algorithm in LEARNED, f"weights are given, but {algorithm} has none.")
        seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else int(seed)
        require(0 <= seed < 2**64, f"seed is {seed}, but must lie between 0 and 2**64 - 1.")
        self.weights: Weights | None = resolve(weights, self.space.num_dims) if algorithm in LEARNED else None
        self.settings: dict[str, Any] = {
            "bounds": np.stack([self.space.low, self.space.high], axis=1).tolist(),
            "x0": None if self.space.x0 is None else self.space.x0.tolist(),
            "sigma0": None if sigma0 is None else deviations(sigma0, self.space.num_dims).tolist(),
            "integrality": self.space.integer.tolist(),
            "log_scale": self.space.log.tolist(),
            "popsize": popsize,
            "seed": seed,
            "algorithm": algorithm,
            "weights": None if self.weights is None else self.weights.digest,
            "direction": direction,
            "restarts": restarts,
            "reevaluate": int(reevaluate),
        }
        self.sign = DIRECTIONS[direction]
        self.seed = seed
        self.evaluations = 0
        self.generation = 0
        self.failures: Counter[str] = Counter()
        self.examples: dict[str, str] = {}
        self.history = History()
        self.elites = Elites(reevaluate) if reevaluate else None
        self.restarts_done = 0
        self.stagnated = False
        self.found_x: Float[np.ndarray, " d"] | None = None
        self.found = math.inf
        """The least value of all completed generations; a maximised one has its sign changed."""
        self.start_run()

    # What people ask and tell.

    def ask(self) -> Float[np.ndarray, "n d"]:
        """The solutions that wait for a value; a new generation if there are none."""
        self.open_generation()
        return self.solutions[self.missing].copy()

    def tell(self, solutions: Any, values: Any) -> None:
        """Values of solutions that were asked for, in any order, all of them or some."""
        rows = np.atleast_2d(np.asarray(solutions, float))
        given = list(np.atleast_1d(np.asarray(values, object)))
        require(
            rows.shape[1] == self.space.num_dims and len(given) == rows.shape[0],
            f"solutions has shape {rows.shape} and values {len(given)} entries, but there must be one value for each "
            f"solution of {self.space.num_dims} variables.",
        )
        for position, value in zip(self.positions(rows), given, strict=True):
            self.note(position, failed("missing") if value is None else judge(value))
        if self.solutions.shape[0] and not self.missing:
            self.complete()

    def forget(self) -> None:
        """Gives up what has not been told: it counts as failed, and the generation is complete."""
        for position in self.missing:
            self.note(position, failed("missing", "no value was told"))
        if self.solutions.shape[0]:
            self.complete()

    @property
    def best_value(self) -> float:
        """The best value so far; NaN if nothing succeeded yet. With `reevaluate`, a mean of several values."""
        value, x = self.best()
        return math.nan if x is None else self.sign * value

    @property
    def best_x(self) -> Float[np.ndarray, " d"] | None:
        x = self.best()[1]
        return None if x is None else x.copy()

    @property
    def popsize(self) -> int:
        """Solutions a generation; a restart makes it larger."""
        return population_size(self.settings["popsize"], self.restarts_done)

    @property
    def population(self) -> tuple[Float[np.ndarray, "e d"], Float[np.ndarray, " e"]]:
        """The parents of the current run and their values."""
        if self.state is None or not has_parents(self.state):
            return np.zeros((0, self.space.num_dims)), np.zeros(0)
        return self.space.decode(np.asarray(self.state.parents.solutions)), self.sign * self.parent_values

    def how_chosen(self) -> str:
        """How `best_x` was chosen."""
        if self.elites is None:
            return f"the best of {self.evaluations} single evaluations"
        best = self.elites.best()
        if best is None:
            return "nothing succeeded"
        return f"least mean plus standard error of the solutions evaluated again; its value is the mean of {best.count}"

    def save(self, path: str | Path) -> None:
        """Writes everything, atomically: `Optimizer.load` continues as if nothing had happened."""
        storage.save(path, self, {})

    @classmethod
    def load(cls, path: str | Path) -> "Optimizer":
        return storage.load(path, cls)

    # A generation: opened, noted row by row, completed.

    @property
    def missing(self) -> list[int]:
        """Positions of the solutions that have no outcome yet."""
        return [position for position, outcome in enumerate(self.outcomes) if outcome is None]

    def open_generation(self) -> None:
        if self.solutions.shape[0]:
            return
        if self.state is None:
            generator = np.random.Generator(np.random.Philox(self.key("start")))
            coordinates = self.space.first_population(generator, self.popsize)
            if self.space.x0 is not None and self.restarts_done == 0:
                coordinates[0] = self.space.encode(self.space.x0)
        else:
            self.children, self.state = self.programs.ask(self.key("ask"), self.state)
            coordinates = self.space.reflect(self.children.solutions)
        solutions = self.space.decode(coordinates)
        if self.generation == 0 and self.space.x0 is not None:
            solutions[0] = self.space.x0
        again = [] if self.elites is None or self.state is None else self.elites.next_again()
        self.coordinates = np.concatenate([coordinates, *(one.coordinates[None] for one in again)])
        self.solutions = np.concatenate([solutions, *(one.solution[None] for one in again)])
        self.outcomes = [None] * len(self.solutions)

    def note(self, position: int, outcome: Outcome) -> None:
        self.outcomes[position] = outcome

    def complete(self) -> None:
        """Learns from a generation whose outcomes are all known."""
        self.count(self.noted())
        size = self.popsize
        values = np.array([self.sign * outcome.value for outcome in self.noted()])
        self.learn(values[:size], values[size:])
        self.generation += 1
        best_value, best_x = self.best()
        self.found, self.found_x = best_value, best_x
        generation_best = float(np.nanmin(values)) if np.any(np.isfinite(values)) else math.nan
        rate = math.nan if self.children is None else float(np.mean(self.children.sigma))
        row = (self.evaluations, self.sign * best_value, self.sign * generation_best, rate, size)
        self.history.add(tuple(map(float, row)))
        self.clear_pending()
        if self.stagnation.notices(self.run_best, self.largest_rate()):
            self.stagnate()

    def largest_rate(self) -> float:
        """Of the last generation; random search has none."""
        children = self.children
        if children is None or self.settings["algorithm"] == "random_search":
            return math.inf
        return float(np.max(children.sigma))

    def count(self, outcomes: Sequence[Outcome]) -> None:
        self.evaluations += attempts(outcomes)
        for outcome in outcomes:
            for kind in (outcome.earlier, outcome.failure):
                if kind is not None:
                    self.failures[kind] += 1
            if outcome.failure is not None:
                self.examples.setdefault(outcome.failure, outcome.text)

    def stop_here(self) -> None:
        """Counts what is known of a generation that will not be completed."""
        self.count(self.noted())
        self.found, self.found_x = self.best()
        self.clear_pending()

    def learn(self, values: Float[np.ndarray, " n"], again: Float[np.ndarray, " k"]) -> None:
        """`tell` of the algorithm, on values relative to the best so far: float32 then resolves what matters."""
        size = len(values)
        self.learn_again(again)
        reference, scale = relation(np.concatenate([values, self.parent_values]), self.run_best)
        fitness = relative(values, reference, scale)
        if self.state is None:
            self.state = self.programs.init(self.key("init"), self.coordinates[:size], fitness)
            num_parents = self.state.parents.fitness.shape[0] if has_parents(self.state) else 0
            self.parent_values = values[np.argsort(fitness, kind="stable")[np.arange(num_parents) % size]]
        else:
            parents = relative(self.parent_values, reference, scale)
            best = relative(np.array([self.run_best]), reference, scale)[0]
            self.state = self.programs.tell(
                self.key("tell"), self.state, self.children, self.coordinates[:size], fitness, parents, best
            )
            if has_parents(self.state):
                self.parent_values = np.concatenate([values, self.parent_values])[self.state.survivor_index]
        self.remember(values)

    def learn_again(self, again: Float[np.ndarray, " k"]) -> None:
        """Second and further values of elites; parents take the means."""
        if self.elites is None or self.state is None:
            return
        for row, value in enumerate(again, start=len(self.outcomes) - len(again)):
            if math.isfinite(value):
                self.elites.add(self.coordinates[row], self.solutions[row], float(value))
        if has_parents(self.state):
            rows = np.asarray(self.state.parents.solutions)
            pairs = zip(rows, self.parent_values, strict=True)
            self.parent_values = np.array([self.elites.mean(row, value) for row, value in pairs])
            self.run_best = least(self.parent_values)

    def remember(self, values: Float[np.ndarray, " n"]) -> None:
        """The best of the run: the least value, or the least mean of the parents if values are noisy."""
        if self.elites is None or self.state is None:
            self.run_best = min(self.run_best, least(values))
            return
        for row, value in enumerate(values):
            if math.isfinite(value):
                self.elites.add(self.coordinates[row], self.solutions[row], float(value))
        own = np.asarray(self.state.parents.solutions) if has_parents(self.state) else self.coordinates[: len(values)]
        self.elites.prune([row.tobytes() for row in own])
        self.run_best = least(self.parent_values) if has_parents(self.state) else min(self.run_best, least(values))

    # Runs, and the best of all.

    def start_run(self) -> None:
        self.programs: Programs = programs(self.settings["algorithm"], self.weights, self.popsize, self.space.num_dims)
        self.state: Any = None
        self.children: Any = None
        self.parent_values = np.zeros(0)
        self.run_best = math.inf
        self.stagnation = Stagnation(self.space.num_dims)
        self.clear_pending()

    def stagnate(self) -> None:
        allowed = self.settings["restarts"]
        if allowed is not None and self.restarts_done >= allowed:
            self.stagnated = True
            return
        self.restarts_done += 1
        self.start_run()

    def key(self, purpose: str) -> UInt32[np.ndarray, "2"]:
        return key_words(self.seed, self.generation, purpose)

    def clear_pending(self) -> None:
        self.coordinates = np.zeros((0, self.space.num_dims), np.float32)
        self.solutions = np.zeros((0, self.space.num_dims))
        self.outcomes: list[Outcome | None] = []

    def noted(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome is not None]

    def best(self) -> tuple[float, Float[np.ndarray, " d"] | None]:
        """The least value and where it was found, in the order of asking, whatever the order of telling."""
        if self.elites is not None:
            best = self.elites.best()
            return (math.inf, None) if best is None else (best.mean, best.solution)
        value, x = self.found, self.found_x
        for position, outcome in enumerate(self.outcomes):
            if outcome is not None and outcome.failure is None and self.sign * outcome.value < value:
                value, x = self.sign * outcome.value, self.solutions[position]
        return value, x

    def positions(self, rows: Float[np.ndarray, "m d"]) -> list[int]:
        """Where in the generation the given solutions are; equal ones are taken one after the other."""
        free, found = dict.fromkeys(self.missing), []
        exact: dict[bytes, list[int]] = {}
        for position in free:
            exact.setdefault(self.solutions[position].tobytes(), []).append(position)
        for row in rows:
            matches = [position for position in exact.get(row.tobytes(), ()) if position in free] or [
                position for position in free if np.allclose(self.solutions[position], row, rtol=1e-6, atol=0.0)
            ]
            require(bool(matches), f"the solution {row} was told, but it is not among those that wait for a value.")
            found.append(matches[0])
            del free[matches[0]]
        return found


def attempts(outcomes: Sequence[Outcome]) -> int:
    """How often the objective was called for them."""
    return sum(2 if outcome.earlier else 1 for outcome in outcomes)


def least(values: Float[np.ndarray, " n"]) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.min()) if finite.size else math.inf


def relation(values: Float[np.ndarray, " n"], best: float) -> tuple[float, float]:
    """Reference and scale that bring values into the range of float32: the operators do not see shift or scale."""
    finite = values[np.isfinite(values)]
    reference = best if math.isfinite(best) else least(values)
    if not finite.size or not math.isfinite(reference):
        return 0.0, 1.0
    # Halves first: the difference of two large floats would overflow.
    extent = float(np.max(np.abs(0.5 * finite - 0.5 * reference)))
    return reference, 1.0 if extent == 0.0 or 1e-20 < extent < 1e30 else 0.5 / max(extent, 1e-300)


def relative(values: Float[np.ndarray, " n"], reference: float, scale: float) -> Float[np.ndarray, " n"]:
    """Values as the algorithm sees them; failures are the worst."""
    with np.errstate(invalid="ignore", over="ignore"):
        shifted = 2.0 * ((0.5 * values - 0.5 * reference) * scale)
    return np.where(np.isfinite(shifted), shifted, FAILED).astype(np.float32)
