"""Where a generation is evaluated: in this process, in workers of our own, or on somebody's executor.

All evaluators are called alike, `evaluate(solutions, record, deadline)`, and record an outcome by its position in the
generation. So the order in which values arrive, and with it the number of workers, never changes the search.
"""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from contextlib import suppress
from pickle import PicklingError
from queue import Empty, SimpleQueue
from typing import Any, Protocol, runtime_checkable

import numpy as np

from lga.core.parcel import HOW_TO_PASS, ObjectiveError, require_picklable
from lga.optimize.interrupts import interrupts_deferred
from lga.optimize.ledger import Ledger, Page, call_once
from lga.optimize.objectives import compiled_objective
from lga.optimize.options import ALL_PROCESSORS, Search
from lga.optimize.processes import ProcessPool, Record
from lga.optimize.worker import Outcome, call, failed, guarded, judge_all

logger = logging.getLogger("lga.optimize")

Objective = Callable[[Any], Any]
# The objective cannot be sent to an executor or not be found there: nothing would ever be evaluated.
UNSENDABLE = (PicklingError, AttributeError, TypeError, ModuleNotFoundError)


@runtime_checkable
class Evaluator(Protocol):
    def __call__(self, solutions: np.ndarray, record: Record, deadline: float | None) -> None: ...

    def close(self) -> None:
        """Gives back what was taken; here nothing."""


def make_evaluator(fun: Objective, search: Search) -> Evaluator:
    """The evaluator that the options ask for."""
    options = search.options
    if options.jit:
        return Vectorized(compiled_objective(fun, search.space, options.vectorized))
    if options.vectorized:
        return Vectorized(fun)
    if not isinstance(options.workers, int):
        return OnExecutor(fun, options.workers, options.timeout)
    workers = (os.cpu_count() or 1) if options.workers == ALL_PROCESSORS else options.workers
    # Only a process can be stopped whatever it is doing.
    in_process = workers == 1 and options.timeout is None
    return InProcess(fun) if in_process else ProcessPool(fun, workers, options.timeout)


def is_over(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline


class InProcess(Evaluator):
    """One call after the other."""

    def __init__(self, fun: Objective):
        self.fun = fun

    def __call__(self, solutions: np.ndarray, record: Record, deadline: float | None) -> None:
        for position, solution in enumerate(solutions):
            if is_over(deadline):
                return
            record(position, call(self.fun, solution))


class Vectorized(Evaluator):
    """All solutions in one call. If that fails, none has a value, though some may be innocent."""

    def __init__(self, fun: Objective):
        self.fun = fun

    def __call__(self, solutions: np.ndarray, record: Record, deadline: float | None) -> None:
        if len(solutions) and not is_over(deadline):
            for position, outcome in enumerate(self.outcomes(solutions)):
                record(position, outcome)

    def outcomes(self, solutions: np.ndarray) -> list[Outcome]:
        number = len(solutions)
        found = guarded(lambda: judge_all(self.fun(np.array(solutions)), number))
        if isinstance(found, list):
            return found
        if number > 1:
            logger.warning("A call with %d solutions failed (%s); each is tried alone.", number, found.text)
        return [found._replace(shared=number > 1)] * number


class OnExecutor:
    """Any `concurrent.futures.Executor`, which stays its owner's: it is neither shut down nor are its workers killed.

    If it breaks, what it had not finished moves to worker processes of our own, where a solution that kills its
    worker is told from those that were only in the way.
    """

    def __init__(self, fun: Objective, executor: Any, timeout: float | None):
        if isinstance(executor, ProcessPoolExecutor):
            # Before it is submitted: early releases of Python 3.11 cannot shut an executor down after such an error.
            require_picklable(fun)
        self.fun, self.executor, self.timeout = fun, executor, timeout
        self.refuge: ProcessPool | None = None

    def __call__(self, solutions: np.ndarray, record: Record, deadline: float | None) -> None:
        done: set[int] = set()

        def record_and_note(position: int, outcome: Outcome) -> None:
            done.add(position)
            record(position, outcome)

        if self.refuge is None:
            self.on_executor(solutions, record_and_note, deadline)
        left = [position for position in range(len(solutions)) if position not in done]
        if self.refuge is not None and left and not is_over(deadline):
            self.refuge(solutions[left], lambda index, outcome: record(left[index], outcome), deadline)

    def on_executor(self, solutions: np.ndarray, record: Record, deadline: float | None) -> None:
        tasks = Tasks(record)
        # When the ledger is closed, nothing that the executor still has in its queues is begun.
        with Ledger() as ledger:
            try:
                for position, solution in enumerate(solutions):
                    tasks.add(position, self.submit(ledger.page(position), np.array(solution)))
                while tasks.pending and not is_over(deadline):
                    tasks.collect(self.outcome, deadline)
            except ExecutorLostError as error:
                logger.warning("The executor is lost (%s); processes of our own take over.", error)
                self.refuge = ProcessPool(self.fun, self.num_workers, self.timeout)
                tasks.finish(self.outcome, deadline)
            finally:
                tasks.close(self.outcome)
            if self.refuge is not None:
                # Evaluated, and for nothing: that counts, but it is not the solution's fault, which is tried again.
                for position in sorted(ledger.close() - tasks.recorded):
                    record(position, failed("dead_worker", "the executor was lost")._replace(shared=True))

    def submit(self, page: Page, solution: np.ndarray) -> Future:
        try:
            return self.executor.submit(call_once, page, self.fun, solution, self.timeout)
        except UNSENDABLE as error:
            raise ObjectiveError(f"the executor's workers cannot have the objective: {error}. {HOW_TO_PASS}") from error
        except Exception as error:
            raise ExecutorLostError(repr(error)) from error

    def outcome(self, future: Future) -> Outcome:
        """What the objective does wrong is an outcome already, so an exception is the executor's."""
        try:
            return Outcome(*future.result())
        except UNSENDABLE as error:
            raise ObjectiveError(f"the executor's workers cannot have the objective: {error}. {HOW_TO_PASS}") from error
        except (Exception, CancelledError, asyncio.CancelledError) as error:
            # Dask tries a task elsewhere before it says so: the task has killed several workers.
            if type(error).__name__ == "KilledWorker":
                return failed("dead_worker", str(error))
            raise ExecutorLostError(repr(error)) from error

    @property
    def num_workers(self) -> int:
        return getattr(self.executor, "_max_workers", None) or os.cpu_count() or 1

    def close(self) -> None:
        if self.refuge is not None:
            self.refuge.close()


class Tasks:
    """What an executor was given, what has come back, and what of that was recorded.

    Futures tell when they are done. To wait for them instead would never end for those that a shutdown cancels.
    """

    def __init__(self, record: Record):
        self.record = record
        self.pending: dict[Future, int] = {}
        self.arrived: SimpleQueue[Future] = SimpleQueue()
        self.recorded: set[int] = set()

    def add(self, position: int, future: Future) -> None:
        self.pending[future] = position
        future.add_done_callback(self.arrived.put)

    def collect(self, outcome: Callable[[Future], Outcome], deadline: float | None) -> None:
        """Records the next one, if there is one in time."""
        seconds = threading.TIMEOUT_MAX if deadline is None else max(0.0, deadline - time.monotonic())
        with suppress(Empty):
            future = self.arrived.get(timeout=min(seconds, threading.TIMEOUT_MAX))
            with interrupts_deferred():
                self.note(future, outcome)

    def note(self, future: Future, outcome: Callable[[Future], Outcome]) -> None:
        position = self.pending.pop(future, None)
        if position is not None:
            found = outcome(future)
            self.recorded.add(position)
            self.record(position, found)

    def finish(self, outcome: Callable[[Future], Outcome], deadline: float | None) -> None:
        """Of an executor that is lost: what was begun may still end well."""
        self.pending = {future: position for future, position in self.pending.items() if not future.cancel()}
        while self.pending and not is_over(deadline):
            with suppress(ExecutorLostError):
                self.collect(outcome, deadline)

    def close(self, outcome: Callable[[Future], Outcome]) -> None:
        """Out of time, or interrupted: what has ended in the meantime counts, and what was not begun is not."""
        with interrupts_deferred():
            for future in list(self.pending):
                if not future.cancel() and future.done():
                    with suppress(ExecutorLostError):
                        self.note(future, outcome)


class ExecutorLostError(RuntimeError):
    """An executor that takes or finishes no more work."""
