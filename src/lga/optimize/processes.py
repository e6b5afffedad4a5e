"""Worker processes of our own, one pipe each: when one dies or hangs we know which solution it held.

Workers are spawned, not forked (JAX has threads), import no JAX unless the objective does, and end with their parent.
"""

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

import numpy as np

from lga.core.parcel import HOW_TO_PASS, ObjectiveError, pack, unpack
from lga.optimize.guard import Guard
from lga.optimize.interrupts import interrupts_deferred
from lga.optimize.worker import Outcome, call, failed

START_SECONDS = 120.0
MOST_FAILED_STARTS = 3
SECONDS_BETWEEN_ROLL_CALLS = 1.0
SECONDS_TO_END = 1.0
UNGUARDED = 65
"""How a worker ends that was told to start workers while it imported the script."""
SET_SIGNAL_OF_PARENTS_DEATH = 1
"""The operation PR_SET_PDEATHSIG of Linux."""
Record = Callable[[int, Outcome], None]


class Message(NamedTuple):
    """What a worker says: that it is ready (no task), that it begins with a task (no outcome), or what came of it.

    The process signs, so that nobody else who holds its end of the pipe is listened to.
    """

    task: int | None
    process: int
    outcome: Outcome | None


def serve(connection: Connection, parcel: bytes, is_double: bool) -> None:
    """The life of a worker: unpack the objective, say so, evaluate until the pipe ends."""
    own = os.getpid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "setsid"):
        # A group of its own, so that what the objective has started can be killed together with it.
        os.setsid()
    end_with_parent()
    compute_in(is_double)
    try:
        fun = unpack(parcel)
    except Exception as error:
        connection.send(Message(None, own, failed("exception", f"{type(error).__name__}: {error}")))
        return
    connection.send(Message(None, own, Outcome(0.0)))
    with suppress(EOFError, OSError):
        while True:
            task, solution = connection.recv()
            connection.send(Message(task, own, None))
            connection.send(Message(task, own, call(fun, solution)))


def end_with_parent() -> None:
    """Linux kills us with it, whatever we are doing; elsewhere, and if it is dead already, a thread sees to it."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(SET_SIGNAL_OF_PARENTS_DEATH, signal.SIGKILL)
    threading.Thread(target=watch_parent, daemon=True).start()


def watch_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def compute_in(is_double: bool) -> None:
    """JAX has its parent's precision, so that one process and several compute the same; it is not imported for that."""
    os.environ["JAX_ENABLE_X64"] = str(int(is_double))
    if (jax := sys.modules.get("jax")) is not None:
        jax.config.update("jax_enable_x64", is_double)


def end_if_imported() -> None:
    """Quietly: hundreds of lines of two dozen tracebacks would hide the one sentence that the parent has to say."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        os._exit(UNGUARDED)


class Worker:
    """A process and what it is doing: `task` is the position of the solution that it was given."""

    def __init__(self, parcel: bytes, is_double: bool, guard: Guard):
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, parcel, is_double))
        self.process.start()
        self.guard = guard
        guard.watch(self.process.pid)
        theirs.close()
        self.ready = False
        self.task: int | None = None
        self.has_begun = False
        self.since = time.monotonic()
        self.status: int | None = None

    def give(self, task: int, solution: np.ndarray) -> None:
        self.task, self.has_begun, self.since = task, False, time.monotonic()
        # If it has just died, the end of its pipe tells; until then it holds the task.
        with suppress(OSError):
            self.connection.send((task, solution))

    def heard(self) -> tuple[list[Message], bool]:
        """All that it has said since, and whether that was its last word."""
        # Asked first: what a dead process has said is in the pipe, which one that it has forked may hold open.
        is_over = not self.process.is_alive()
        said: list[Message] = []
        try:
            while self.connection.poll():
                said.append(self.connection.recv())
        except Exception:
            # The end of the pipe, or an objective that has written into it.
            is_over = True
        return [message for message in said if message.process == self.process.pid], is_over

    def how_it_ended(self) -> str:
        # Not by `join` with a limit, which has none for a process that has closed its descriptors.
        end = time.monotonic() + SECONDS_TO_END
        while self.process.is_alive() and time.monotonic() < end:
            time.sleep(0.01)
        is_alive = self.process.is_alive()
        return "it closed its pipe" if is_alive else f"its process ended with {self.process.exitcode}"

    def process_status(self) -> int | None:
        return self.status if self.status is not None else self.process.exitcode

    def kill(self) -> None:
        # A process that is killed now has ended otherwise before, or not at all.
        self.status = self.process.exitcode
        pid = self.process.pid
        if pid is not None and hasattr(os, "killpg"):
            with suppress(OSError):
                os.killpg(pid, signal.SIGKILL)
        self.process.kill()
        self.process.join()
        self.guard.release(pid)
        self.connection.close()


class ProcessPool:
    """Evaluates solutions in worker processes. A worker that dies or takes too long is replaced."""

    def __init__(self, fun: Callable[[Any], Any], num_workers: int, timeout: float | None = None):
        end_if_imported()
        self.parcel = pack(fun)
        self.num_workers, self.timeout = num_workers, timeout
        self.workers: list[Worker] = []
        self.waiting: deque[int] = deque()
        self.failed_starts = 0
        jax = sys.modules.get("jax")
        self.is_double = jax is not None and bool(jax.config.jax_enable_x64)
        self.guard = Guard()
        # If closing is interrupted, it is made up for before the interpreter waits for its children.
        weakref.finalize(self, end_all, self.workers, self.guard)

    def __call__(self, solutions: Sequence[np.ndarray] | np.ndarray, record: Record, deadline: float | None) -> None:
        self.waiting = deque(range(len(solutions)))
        try:
            while self.waiting or any(worker.task is not None for worker in self.workers):
                for worker in self.workers:
                    if worker.ready and worker.task is None and self.waiting:
                        task = self.waiting.popleft()
                        worker.give(task, solutions[task])
                for _ in range(min(self.num_workers, len(self.waiting) + len(self.workers)) - len(self.workers)):
                    with interrupts_deferred():
                        self.workers.append(Worker(self.parcel, self.is_double, self.guard))
                self.listen(record, deadline)
                if deadline is not None and time.monotonic() >= deadline:
                    break
        finally:
            # Out of time, or interrupted: what is still at work must not answer into the next generation.
            with interrupts_deferred():
                for worker in [worker for worker in self.workers if worker.task is not None]:
                    self.dismiss(worker)

    def listen(self, record: Record, deadline: float | None) -> None:
        """Waits for the first message, death or end of patience, and deals with all that have come."""
        until = [worker.since + self.patience_with(worker) for worker in self.workers if self.is_awaited(worker)]
        until += [] if deadline is None else [deadline]
        seconds = max(0.0, min(until, default=float("inf")) - time.monotonic())
        wait([worker.connection for worker in self.workers], min(seconds, SECONDS_BETWEEN_ROLL_CALLS))
        # What has been evaluated is noted, even if Ctrl-C comes in between.
        with interrupts_deferred():
            for worker in list(self.workers):
                said, is_over = worker.heard()
                for message in said:
                    self.take(worker, message, record)
                if is_over:
                    self.lose(worker, record, failed("dead_worker", worker.how_it_ended()))
                elif self.is_awaited(worker) and time.monotonic() >= worker.since + self.patience_with(worker):
                    self.lose(worker, record, failed("timeout", f"no value after {self.timeout} s"))

    def take(self, worker: Worker, message: Message, record: Record) -> None:
        task, _, outcome = message
        if not worker.ready:
            if outcome is None or outcome.failure:
                text = "" if outcome is None else outcome.text
                raise ObjectiveError(f"a worker process cannot load the objective: {text}. {HOW_TO_PASS}")
            worker.ready, self.failed_starts = True, 0
        elif task is not None and task == worker.task:
            if outcome is None:
                worker.has_begun, worker.since = True, time.monotonic()
            else:
                worker.task = None
                record(task, outcome)

    def lose(self, worker: Worker, record: Record, outcome: Outcome) -> None:
        self.dismiss(worker)
        if not worker.ready:
            if worker.process_status() == UNGUARDED:
                raise ObjectiveError(f"the script starts its search again when a worker imports it. {HOW_TO_PASS}")
            self.failed_starts += 1
            if self.failed_starts >= MOST_FAILED_STARTS:
                raise ObjectiveError(f"worker processes end before they are ready. {HOW_TO_PASS}")
        if worker.task is not None and worker.has_begun:
            record(worker.task, outcome)
        elif worker.task is not None:
            # It was lost while it was idle, so the solution is innocent and was never evaluated.
            self.waiting.appendleft(worker.task)

    def dismiss(self, worker: Worker) -> None:
        self.workers.remove(worker)
        worker.kill()

    def is_awaited(self, worker: Worker) -> bool:
        return worker.task is not None or not worker.ready

    def patience_with(self, worker: Worker) -> float:
        if not worker.ready:
            return START_SECONDS
        return float("inf") if self.timeout is None else self.timeout

    def close(self) -> None:
        end_all(self.workers, self.guard)


def end_all(workers: list[Worker], guard: Guard) -> None:
    with interrupts_deferred():
        while workers:
            workers.pop().kill()
        guard.close()
