"""The loop of `minimize`: evaluates what the optimiser asks for until there is a reason to stop."""

import contextlib
import logging
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult

from lga.optimize import storage
from lga.optimize.evaluation import Evaluator, is_over
from lga.optimize.optimizer import Optimizer, attempts
from lga.optimize.progress import ProgressLine
from lga.optimize.worker import FAILURES, Outcome

logger = logging.getLogger("lga.optimize")

ON_ERROR = ("penalise", "retry", "raise")
# A checkpoint is written after each generation, and within long ones as often as this.
SECONDS_BETWEEN_CHECKPOINTS = 5.0


class EvaluationError(RuntimeError):
    """An evaluation failed and `on_error` is "raise"."""


class Stop(Enum):
    """Why a search ended. Status, message, and whether it stays ended when it is called again with its checkpoint."""

    TARGET = (0, "the target was reached", True)
    BUDGET = (1, "the evaluations are used up", True)
    TIME = (2, "the time is used up", False)
    PATIENCE = (3, "patience is at its end: no improvement for {patience} generations", True)
    CALLBACK = (4, "the callback asked to stop", False)
    INTERRUPT = (5, "interrupted", False)
    STAGNATION = (6, "the search stagnated and no restarts are left", True)

    def __init__(self, status: int, message: str, is_final: bool):
        self.status, self.message, self.is_final = status, message, is_final


class Limits(NamedTuple):
    max_evaluations: int | None
    deadline: float | None
    """By the monotonic clock."""
    target: float | None
    patience: int | None


class Loop:
    def __init__(
        self,
        optimizer: Optimizer,
        limits: Limits,
        *,
        on_error: str,
        callback: Callable[[OptimizeResult], Any] | None,
        progress: ProgressLine | None,
        checkpoint: Path | None,
        identity: dict[str, Any],
    ):
        self.optimizer, self.limits = optimizer, limits
        self.on_error, self.callback, self.progress, self.checkpoint = on_error, callback, progress, checkpoint
        # Time is not a part: how long a search is allowed to take may change from call to call.
        outcome_limits = {name: value for name, value in limits._asdict().items() if name != "deadline"}
        self.identity = identity | outcome_limits | {"on_error": on_error}
        self.stop: Stop | None = None
        self.waited = 0
        self.saved_at = time.monotonic()
        self.reported: set[str] = set()

    def run(self, evaluator: Evaluator) -> None:
        try:
            while self.stop is None:
                self.generation(evaluator)
        except KeyboardInterrupt:
            self.stop = Stop.INTERRUPT
        assert self.stop is not None
        with interrupts_deferred():
            if self.stop.is_final:
                self.optimizer.stop_here()
                self.save()
            else:
                # A continuation needs the open generation with all values that are known.
                self.save()
                self.optimizer.stop_here()
        if self.progress is not None:
            self.progress.close(*self.figures())

    def generation(self, evaluator: Evaluator) -> None:
        with interrupts_deferred():
            self.optimizer.open_generation()
        self.evaluate(evaluator)
        if self.optimizer.missing:
            self.stop = Stop.TIME if is_over(self.limits.deadline) else Stop.BUDGET
            return
        with interrupts_deferred():
            before = self.optimizer.found
            self.optimizer.complete()
            self.waited = 0 if self.optimizer.found < before else self.waited + 1
            self.stop = self.reason()
            self.save()
        if self.progress is not None:
            self.progress(*self.figures())
        if self.callback is not None and self.callback(self.summary()) and self.stop is None:
            self.stop = Stop.CALLBACK

    def evaluate(self, evaluator: Evaluator) -> None:
        """Outcomes for as much of the open generation as the budget allows."""
        missing = self.optimizer.missing
        positions = missing[: self.budget_left(len(missing))]
        failures: dict[int, Outcome] = {}

        def record(index: int, outcome: Outcome) -> None:
            if outcome.failure is not None:
                self.report(positions[index], outcome)
            if outcome.failure is not None and self.on_error == "retry":
                failures[positions[index]] = outcome
            else:
                self.note(positions[index], outcome)

        evaluator(self.optimizer.solutions[positions], record, self.limits.deadline)
        if failures:
            self.try_again(evaluator, failures)

    def try_again(self, evaluator: Evaluator, failures: dict[int, Outcome]) -> None:
        """One more attempt for each that failed, in the order of asking, as far as the budget goes."""
        order = sorted(failures)
        left = self.budget_left(2 * len(order)) - len(order)
        again, given_up = order[: max(left, 0)], order[max(left, 0) :]
        for position in given_up:
            self.note(position, failures[position])

        def record(index: int, outcome: Outcome) -> None:
            self.note(again[index], outcome._replace(earlier=failures[again[index]].failure))

        evaluator(self.optimizer.solutions[again], record, self.limits.deadline)

    def budget_left(self, wanted: int) -> int:
        """As many evaluations as are wanted, or what is left."""
        if self.limits.max_evaluations is None:
            return wanted
        return min(wanted, self.limits.max_evaluations - self.evaluations())

    def evaluations(self) -> int:
        return self.optimizer.evaluations + attempts(self.optimizer.noted())

    def note(self, position: int, outcome: Outcome) -> None:
        self.optimizer.note(position, outcome)
        if time.monotonic() - self.saved_at > SECONDS_BETWEEN_CHECKPOINTS:
            with interrupts_deferred():
                self.save()

    def report(self, position: int, outcome: Outcome) -> None:
        """Logs the first failure of each kind loudly."""
        level = logging.DEBUG if outcome.failure in self.reported else logging.WARNING
        self.reported.add(str(outcome.failure))
        x = self.optimizer.solutions[position]
        logger.log(level, "Evaluation failed (%s) at %s: %s", outcome.failure, x, outcome.text)
        if self.on_error == "raise":
            raise EvaluationError(f"The evaluation at {x} failed ({outcome.failure}): {outcome.text}")

    def reason(self) -> Stop | None:
        limits, best = self.limits, self.optimizer.best_value
        if limits.target is not None and self.optimizer.sign * (best - limits.target) <= 0.0:
            return Stop.TARGET
        if self.budget_left(1) < 1:
            return Stop.BUDGET
        if limits.patience is not None and self.waited >= limits.patience:
            return Stop.PATIENCE
        if self.optimizer.stagnated:
            return Stop.STAGNATION
        return Stop.TIME if is_over(limits.deadline) else None

    # Checkpoints.

    def save(self) -> None:
        if self.checkpoint is None:
            return
        stop = self.stop.name if self.stop is not None and self.stop.is_final else None
        extra = {"identity": self.identity, "waited": self.waited, "stop": stop}
        storage.save(self.checkpoint, self.optimizer, extra)
        self.saved_at = time.monotonic()

    def resume(self, tensors: dict[str, np.ndarray], description: dict[str, Any]) -> None:
        """Continues where a checkpoint left off; refuses if it is the checkpoint of another search."""
        extra = description["extra"]
        before = description["settings"] | extra.get("identity", {})
        now = self.optimizer.settings | self.identity
        different = [
            f"{name} was {before.get(name)!r} and is {now.get(name)!r} now"
            for name in sorted(before.keys() | now.keys())
            if not same(before.get(name), now.get(name))
        ]
        if different:
            raise ValueError(f"the checkpoint {self.checkpoint} is of another search: {'; '.join(different)}.")
        storage.restore(self.optimizer, tensors, description)
        self.waited = extra["waited"]
        self.stop = None if extra["stop"] is None else Stop[extra["stop"]]

    # What is told.

    def figures(self) -> tuple[int, int | None, float, int, int]:
        optimizer = self.optimizer
        failures = sum(optimizer.failures.values())
        return (
            optimizer.evaluations,
            self.limits.max_evaluations,
            optimizer.best_value,
            failures,
            optimizer.popsize,
        )

    def summary(self) -> OptimizeResult:
        """The result so far, without what is costly to make."""
        optimizer = self.optimizer
        return OptimizeResult(
            x=optimizer.best_x,
            fun=optimizer.best_value,
            nfev=optimizer.evaluations,
            nit=optimizer.generation,
            failures={kind: optimizer.failures[kind] for kind in FAILURES},
            restarts=optimizer.restarts_done,
            popsize=optimizer.popsize,
        )

    def result(self) -> OptimizeResult:
        optimizer, stop = self.optimizer, self.stop
        assert stop is not None
        population, values = optimizer.population
        found = optimizer.best_x is not None
        message = stop.message.format(patience=self.limits.patience)
        if not found:
            kind, text = next(iter(optimizer.examples.items()), ("missing", "nothing was evaluated"))
            message += f"; no evaluation succeeded, the first failed with {kind}: {text}"
        missed = self.limits.target is not None and stop is not Stop.TARGET
        result = self.summary()
        result.update(
            success=found and not missed and stop is not Stop.INTERRUPT,
            status=stop.status,
            message=message,
            population=population,
            population_values=values,
            history=optimizer.history.columns(),
            failure_examples=[f"{kind}: {text}" for kind, text in optimizer.examples.items()],
            chosen=optimizer.how_chosen(),
            seed=optimizer.seed,
        )
        return result


def same(one: Any, other: Any) -> bool:
    """Equal as JSON is: tuples are lists, and NaN is itself."""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    both_nan = isinstance(one, float) and isinstance(other, float) and math.isnan(one) and math.isnan(other)
    return both_nan or one == other


@contextlib.contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Ctrl-C waits until the state is whole again. Processes in the background of a shell ignore it, and go on to."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield
        return
    came: list[bool] = []
    before = signal.signal(signal.SIGINT, lambda *_: came.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.default_int_handler)
    if came:
        raise KeyboardInterrupt
