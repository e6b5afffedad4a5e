"""The loop of `minimize`: evaluates what is asked for until there is a reason to stop."""

import logging
import math
import time
from collections.abc import Callable
from enum import Enum
from typing import Any

from scipy.optimize import OptimizeResult

from lga.core.checks import require
from lga.core.tree_io import Leaves, differences, sentence
from lga.optimize.evaluation import Evaluator, is_over
from lga.optimize.interrupts import interrupts_deferred
from lga.optimize.options import Search
from lga.optimize.progress import ProgressLine
from lga.optimize.records import columns
from lga.optimize.state import SearchState, restored, save_state
from lga.optimize.steps import complete, give_up, note, open_generation, population, starting_state
from lga.optimize.worker import FAILURES, Outcome

logger = logging.getLogger("lga.optimize")

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


class Loop:
    """The state on its way, and what the loop itself remembers: why it stops, when it saved, what it reported."""

    def __init__(self, search: Search, fun_name: str, deadline: float | None, callback: Callable | None):
        self.search, self.options, self.callback = search, search.options, callback
        self.fun_name, self.deadline = fun_name, deadline
        self.state: SearchState = starting_state(search)
        self.progress = ProgressLine() if self.options.progress else None
        self.stop: Stop | None = None
        self.saved_at = time.monotonic()
        self.reported: set[str] = set()

    def run(self, evaluator: Evaluator) -> None:
        # What cannot be written is noticed before anything was evaluated.
        with interrupts_deferred():
            self.save()
        try:
            while self.stop is None:
                self.generation(evaluator)
        except KeyboardInterrupt:
            self.stop = Stop.INTERRUPT
        with interrupts_deferred():
            self.save()
        if self.progress is not None:
            self.progress(self.summary(), self.options.max_evaluations, is_last=True)

    def generation(self, evaluator: Evaluator) -> None:
        self.state = open_generation(self.search, self.state)
        self.evaluate(evaluator)
        if self.state.pending.missing:
            spent = Stop.TIME if is_over(self.deadline) else Stop.BUDGET
            self.stop = Stop.TARGET if self.has_reached_target() else spent
            return
        with interrupts_deferred():
            self.state = complete(self.search, self.state)
            self.stop = self.reason()
            self.save()
        if self.progress is not None:
            self.progress(self.summary(), self.options.max_evaluations)
        if self.callback is not None and self.callback(self.summary()) and self.stop is None:
            self.stop = Stop.CALLBACK

    def evaluate(self, evaluator: Evaluator) -> None:
        """Outcomes for as much of the open generation as the budget allows: first attempts, then second ones."""
        fresh = self.waiting(tried=False)
        self.attempt(evaluator, fresh[: self.budget_left(len(fresh))], is_last=False)
        if self.waiting(tried=False):
            return
        failures = self.waiting(tried=True)
        left = self.budget_left(len(failures))
        self.state = give_up(self.state, failures[left:])
        # Where all solutions are one call, a bad one may have spoilt it for the others.
        alone = self.options.vectorized or self.options.jit
        for positions in [[one] for one in failures[:left]] if alone else [failures[:left]]:
            self.attempt(evaluator, positions, is_last=True)

    def waiting(self, tried: bool) -> list[int]:
        return [
            position for position in self.state.pending.missing if (self.state.pending.tries[position] > 0) == tried
        ]

    def attempt(self, evaluator: Evaluator, positions: list[int], is_last: bool) -> None:
        def record(index: int, outcome: Outcome) -> None:
            if outcome.failure is not None and not outcome.shared:
                self.report(positions[index], outcome)
            is_final = is_last or outcome.failure is None or not (outcome.shared or self.options.on_error == "retry")
            self.state = note(self.search, self.state, positions[index], outcome, is_final)
            if time.monotonic() - self.saved_at > SECONDS_BETWEEN_CHECKPOINTS:
                with interrupts_deferred():
                    self.save()

        evaluator(self.state.pending.solutions[positions], record, self.deadline)

    def budget_left(self, wanted: int) -> int:
        """As many evaluations as are wanted, or what is left."""
        budget = self.options.max_evaluations
        return wanted if budget is None else min(wanted, budget - self.state.evaluations)

    def report(self, position: int, outcome: Outcome) -> None:
        """Logs the first failure of each kind loudly."""
        level = logging.DEBUG if outcome.failure in self.reported else logging.WARNING
        self.reported.add(str(outcome.failure))
        x = self.state.pending.solutions[position]
        logger.log(level, "Evaluation failed (%s) at %s: %s", outcome.failure, x, outcome.text)
        if self.options.on_error == "raise":
            raise EvaluationError(f"The evaluation at {x} failed ({outcome.failure}): {outcome.text}")

    def reason(self) -> Stop | None:
        state, patience = self.state, self.options.patience
        if self.has_reached_target():
            return Stop.TARGET
        if self.budget_left(1) < 1:
            return Stop.BUDGET
        if patience is not None and state.generation - 1 - state.best.generation >= patience:
            return Stop.PATIENCE
        if state.stagnated:
            return Stop.STAGNATION
        return Stop.TIME if is_over(self.deadline) else None

    def has_reached_target(self) -> bool:
        target = self.options.target
        return target is not None and self.state.best.value <= self.search.sign * target

    # Checkpoints.

    def save(self) -> None:
        if self.options.checkpoint is None:
            return
        stop = self.stop.name if self.stop is not None and self.stop.is_final else None
        save_state(self.options.checkpoint, self.search, self.state, {"fun": self.fun_name, "stop": stop})
        self.saved_at = time.monotonic()

    def resume(self, leaves: Leaves, description: dict[str, Any]) -> None:
        """Continues where a checkpoint left off; refuses if it is the checkpoint of another search."""
        extra = description["extra"]
        before = description["settings"] | {"fun": extra.get("fun")}
        different = differences(before, self.search.settings | {"fun": self.fun_name})
        require(not different, f"the checkpoint {self.options.checkpoint} is of another search: {sentence(different)}.")
        self.state = restored(self.search, leaves, description)
        self.stop = None if extra["stop"] is None else Stop[extra["stop"]]

    # What is told.

    def summary(self) -> OptimizeResult:
        """The result so far, without what is costly to make."""
        state, best = self.state, self.state.best
        return OptimizeResult(
            x=best.solution.copy() if best.count else None,
            fun=self.search.sign * best.value if best.count else math.nan,
            nfev=state.evaluations,
            nit=state.generation,
            failures=dict(zip(FAILURES, state.failures.tolist(), strict=True)),
            restarts=state.restarts,
            popsize=self.search.size(state.restarts),
        )

    def result(self) -> OptimizeResult:
        state, best, stop = self.state, self.state.best, self.stop
        assert stop is not None
        parents, values = population(self.search, state)
        message = stop.message.format(patience=self.options.patience)
        examples = [(kind, text) for _, _, kind, text in state.examples.rows]
        if not best.count:
            kind, text = examples[0] if examples else ("missing", "nothing was evaluated")
            message += f"; no evaluation succeeded, the first failed with {kind}: {text}"
        missed = self.options.target is not None and stop is not Stop.TARGET
        return OptimizeResult(
            **self.summary(),
            success=best.count > 0 and not missed and stop is not Stop.INTERRUPT,
            status=stop.status,
            message=message,
            population=parents,
            population_values=values,
            history=columns(state.history),
            failure_examples=[f"{kind}: {text}" for kind, text in examples],
            chosen=self.how_chosen(),
            seed=self.options.seed,
        )

    def how_chosen(self) -> str:
        if not self.options.reevaluate:
            return f"the best of {self.state.evaluations} single evaluations"
        count = self.state.best.count
        again = f"least mean plus standard error of the solutions evaluated again; its value is the mean of {count}"
        return again if count else "nothing succeeded"
