"""The loop of `minimize`: evaluates what is asked for until there is a reason to stop."""

import logging
import math
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from enum import Enum
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from lga.core.checks import require
from lga.core.tree_io import Leaves, differences, sentence, under
from lga.optimize.evaluation import Evaluator, is_over
from lga.optimize.identity import differs
from lga.optimize.interrupts import interrupts_deferred
from lga.optimize.log import Log
from lga.optimize.noise import YES, is_time_to_confirm, with_candidates
from lga.optimize.options import LIMITS, Search
from lga.optimize.polish import is_time_to_polish, polish
from lga.optimize.progress import ProgressLine
from lga.optimize.records import columns
from lga.optimize.result import Result
from lga.optimize.scores import INFEASIBLE, violation_of
from lga.optimize.state import SearchState, nothing_pending, restored, save_state, single
from lga.optimize.steps import complete, give_up, note, open_generation, population, starting_state
from lga.optimize.variables import Names
from lga.optimize.worker import FAILURES, Noted, Outcome

logger = logging.getLogger("lga.optimize")

# A checkpoint is written after each generation, and within long ones as often as this.
SECONDS_BETWEEN_CHECKPOINTS = 5.0


class EvaluationError(RuntimeError):
    """An evaluation failed and `on_error` is "raise"."""


class PolishEndedError(Exception):
    """A local method has used up what it was given."""


class Stop(Enum):
    """Why a search ended. Status, message, and whether it stays ended when it is called again with its checkpoint."""

    TARGET = (0, "the target was reached", True)
    BUDGET = (1, "the evaluations are used up", True)
    TIME = (2, "the time is used up", False)
    PATIENCE = (3, "patience is at its end: no improvement for {patience} generations", True)
    CALLBACK = (4, "the callback asked to stop", False)
    INTERRUPT = (5, "interrupted", False)
    STAGNATION = (6, "the search stagnated and no restarts are left", True)
    MISTAKE = (7, "all of the first generation failed alike, so the objective seems to be wrong", False)

    def __init__(self, status: int, message: str, is_final: bool):
        self.status, self.message, self.is_final = status, message, is_final


SUCCESSES = (Stop.TARGET, Stop.PATIENCE, Stop.STAGNATION)
# Of the kinds of failure, those that a mistake in a program leads to.
MISTAKES = ("exception", "wrong_type")


class Loop:
    """The state on its way, and what the loop itself remembers: why it stops, when it saved, what it reported."""

    def __init__(
        self,
        search: Search,
        objective: dict[str, str | None],
        deadline: float | None,
        callback: Callable | None,
        names: Names | None = None,
    ):
        self.search, self.options, self.callback, self.names = search, search.options, callback, names
        self.objective, self.deadline = objective, deadline
        self.state: SearchState = starting_state(search)
        self.progress = ProgressLine() if self.options.progress else None
        self.stop: Stop | None = None
        self.began = self.saved_at = time.monotonic()
        self.log = Log(search.space.num_dims, self.options.keep_evaluations)
        self.seconds_evaluating = 0.0
        self.reported: set[str] = set()
        self.compiled: set[int] = set()
        self.is_polished = False
        self.last_words: set[str] = set()
        """How the failures of the first generation end."""

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

    def polish(self, evaluator: Evaluator) -> None:
        """One evaluation after the other. What an earlier process has asked for already is answered from the log."""
        x, values = self.log.known(self.search.sign)
        is_before = self.log.generations() < self.state.generation
        known = deque(zip(x[~is_before], values[~is_before].tolist(), strict=True))
        finite = np.where(is_before & np.isfinite(values), values, math.inf)
        has_all = not self.log.left_out and np.isfinite(finite).any()
        start = x[np.argmin(finite)].copy() if has_all else self.state.best.solution

        def value(point: Any) -> float:
            if known and np.array_equal(known[0][0], point):
                return known.popleft()[1]
            known.clear()
            if self.budget_left(1) < 1 or is_over(self.deadline) or self.has_reached_target():
                raise PolishEndedError
            self.state = replace(self.state, pending=single(self.search, point))
            try:
                self.attempt(evaluator, [0], is_last=True)
                return float(self.state.pending.values[0])
            finally:
                self.state = replace(self.state, pending=nothing_pending(self.search.space.num_dims))

        with suppress(PolishEndedError):
            polish(self.search.space, start, value)

    def generation(self, evaluator: Evaluator) -> None:
        if is_time_to_polish(self.search, self.state) and not self.is_polished:
            self.polish(evaluator)
            # If it has converged before, the search goes on with what is left.
            self.is_polished = True
            self.stop = self.reason()
            return
        if is_time_to_confirm(self.search, self.state):
            self.state = with_candidates(self.search, self.state, *self.log.known(self.search.sign))
        self.state = open_generation(self.search, self.state)
        self.evaluate(evaluator)
        if self.state.pending.missing:
            spent = Stop.TIME if is_over(self.deadline) else Stop.BUDGET
            self.stop = Stop.TARGET if self.has_reached_target() else spent
            return
        size = self.search.size(self.state.restarts)
        if self.progress is not None and size not in self.compiled:
            self.progress.say(f"compiling for {size} solutions in a generation")
            self.compiled.add(size)
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
        if self.state.pending.known.all() or self.waiting(tried=False):
            return
        failures = self.waiting(tried=True)
        left = self.budget_left(len(failures))
        self.state = give_up(self.state, failures[left:])
        # Where all solutions are one call, a bad one may have spoilt it for the others.
        alone = self.options.vectorized or self.options.jit
        for positions in [[one] for one in failures[:left]] if alone else [failures[:left]]:
            self.attempt(evaluator, positions, is_last=True)

    def waiting(self, tried: bool) -> list[int]:
        pending = self.state.pending
        return np.flatnonzero(~pending.known & ((pending.tries > 0) == tried)).tolist()

    def attempt(self, evaluator: Evaluator, positions: list[int], is_last: bool) -> None:
        waiting: list[tuple[Noted, float]] = []
        """Outcomes that the state does not know yet, and when they were known."""
        if not positions:
            return

        def take_note() -> None:
            with interrupts_deferred():
                self.log.add(self.state.generation, self.state.pending.solutions, waiting)
                self.state = note(self.search, self.state, [noted for noted, _ in waiting])
                waiting.clear()

        def record(index: int, outcome: Outcome) -> None:
            if outcome.failure is not None and not outcome.shared:
                self.report(positions[index], outcome)
            now = time.monotonic()
            is_final = is_last or outcome.failure is None or not (outcome.shared or self.options.on_error == "retry")
            waiting.append((Noted(positions[index], outcome, is_final), now - self.began))
            if self.progress is not None:
                take_note()
                self.progress(self.summary(), self.options.max_evaluations)
            if now - self.saved_at > SECONDS_BETWEEN_CHECKPOINTS and self.options.checkpoint is not None:
                take_note()
                with interrupts_deferred():
                    self.save()

        begin = time.monotonic()
        try:
            evaluator(self.state.pending.solutions[positions], record, self.deadline)
        finally:
            take_note()
            self.seconds_evaluating += time.monotonic() - begin

    def budget_left(self, wanted: int) -> int:
        """As many evaluations as are wanted, or what is left."""
        budget = self.options.max_evaluations
        return wanted if budget is None else max(0, min(wanted, budget - self.state.evaluations))

    def report(self, position: int, outcome: Outcome) -> None:
        """Logs the first failure of each kind loudly."""
        if self.state.generation == 0:
            self.last_words.add(outcome.text.strip().rsplit("\n", 1)[-1])
        level = logging.DEBUG if outcome.failure in self.reported else logging.WARNING
        self.reported.add(str(outcome.failure))
        x = self.state.pending.solutions[position]
        logger.log(level, "Evaluation failed (%s) at %s: %s", outcome.failure, x, outcome.text)
        if self.options.on_error == "raise":
            raise EvaluationError(f"The evaluation at {x} failed ({outcome.failure}): {outcome.text}")

    def reason(self) -> Stop | None:
        state, patience = self.state, self.options.patience
        if self.is_mistaken():
            return Stop.MISTAKE
        if self.has_reached_target():
            return Stop.TARGET
        if self.budget_left(1) < 1:
            return Stop.BUDGET
        if patience is not None and state.generation - 1 - state.best.generation >= patience:
            return Stop.PATIENCE
        if state.stagnated:
            return Stop.STAGNATION
        return Stop.TIME if is_over(self.deadline) else None

    def is_mistaken(self) -> bool:
        """A mistake in the objective fails in the same words everywhere; nobody wants all the budget to go that way."""
        state = self.state
        kinds = [kind for kind, count in zip(FAILURES, state.failures, strict=True) if count]
        is_first = state.generation == 1 and state.best.count == 0 and not state.known.values.size
        return is_first and len(kinds) == 1 and kinds[0] in MISTAKES and len(self.last_words) == 1

    def has_reached_target(self) -> bool:
        target = self.options.target
        return target is not None and self.state.best.value <= self.search.sign * target

    # Checkpoints.

    def save(self) -> None:
        if self.options.checkpoint is None:
            return
        stop = self.stop.name if self.stop is not None and self.stop.is_final else None
        extra = {**self.objective, "stop": stop}
        save_state(self.options.checkpoint, self.search, self.state, extra, self.log.leaves())
        self.saved_at = time.monotonic()

    def resume(self, leaves: Leaves, description: dict[str, Any]) -> None:
        """Continues where a checkpoint left off; refuses if it is the checkpoint of another search."""
        extra, file = description["extra"], self.options.checkpoint
        now = {name: value for name, value in self.search.settings.items() if name not in LIMITS}
        # Files from before there was a setting say nothing of it.
        before = now | {name: value for name, value in description["settings"].items() if name not in LIMITS}
        different = differences(before | {"fun": extra.get("fun")}, now | {"fun": self.objective["fun"]})
        require(not different, f"the checkpoint {file} is of another search: {sentence(different)}.")
        self.state = restored(self.search, leaves, description)
        # Where nothing has succeeded yet, the code was changed for good reason.
        is_open = self.options.checkpoint_objective == "ignore" or self.state.best.count == 0
        require(
            is_open or not differs(extra.get("content"), self.objective["content"]),
            f"the checkpoint {file} is of another search: the code of {self.objective['fun']} has changed. Its values "
            'may be others now; checkpoint_objective="ignore" goes on all the same.',
        )
        if len(self.state.pending.values) == 1:
            # Only polishing has generations of one, and that begins again, with what the log knows.
            self.state = replace(self.state, pending=nothing_pending(self.search.space.num_dims))
        self.log.restore(under("log", leaves))
        # Limits may have been raised since.
        self.stop = self.reason() if extra["stop"] is not None else None

    # What is told.

    def summary(self) -> OptimizeResult:
        """The result so far, without what is costly to make."""
        state, best = self.state, self.state.best
        return OptimizeResult(
            x=self.told(best.solution.copy()) if best.count else None,
            fun=self.search.sign * best.value if best.count and best.value < INFEASIBLE else math.nan,
            constr_violation=violation_of(best.value),
            nfev=state.evaluations,
            nit=state.generation,
            failures=dict(zip(FAILURES, state.failures.tolist(), strict=True)),
            restarts=state.restarts,
            popsize=self.search.size(state.restarts),
        )

    def told(self, x: Any) -> Any:
        return x if self.names is None else self.names.by_name(x)

    def result(self) -> Result:
        state, best, stop = self.state, self.state.best, self.stop
        assert stop is not None
        parents, values = population(self.search, state)
        message = stop.message.format(patience=self.options.patience)
        examples = [(kind, text) for _, _, kind, text in state.examples.rows]
        if not best.count:
            kind, text = examples[0] if examples else ("missing", "nothing was evaluated")
            message += f"; no evaluation succeeded, the first failed with {kind}: {text}"
        elif best.value >= INFEASIBLE:
            message += f"; no feasible point was found, x violates the constraints by {violation_of(best.value):.3g}"
        return Result(
            **self.summary(),
            success=best.count > 0 and best.value < INFEASIBLE and stop in SUCCESSES,
            status=stop.status,
            message=message,
            population=parents,
            population_values=values,
            history=columns(state.history),
            evaluations=self.log.evaluations(self.search.space.names, self.names),
            failure_examples=[f"{kind}: {text}" for kind, text in examples],
            chosen=self.how_chosen(),
            seed=self.options.seed,
            objective=str(self.objective["fun"]),
            settings=self.search.settings,
            seconds={"in all": time.monotonic() - self.began, "evaluating": self.seconds_evaluating},
        )

    def how_chosen(self) -> str:
        if not self.state.best.count:
            return "nothing succeeded"
        if self.state.noisy == YES and self.state.best.count > 1:
            return f"the smallest mean of a few candidates; its value is the mean of {self.state.best.count}"
        if not self.options.reevaluate:
            return f"the best of {self.state.evaluations} single evaluations"
        count = self.state.best.count
        return f"least mean plus standard error of the solutions evaluated again; its value is the mean of {count}"
