"""Worker processes of our own, one pipe each: when one dies or hangs we know which solution it held.

Workers are spawned, not forked (JAX has threads), import no JAX unless the objective does, and end with their parent.
"""

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any

import numpy as np

from lga.optimize.parcel import HOW_TO_PASS, ObjectiveError, pack, unpack
from lga.optimize.worker import Outcome, call, failed

START_SECONDS = 120.0
MOST_FAILED_STARTS = 3
SECONDS_BETWEEN_ROLL_CALLS = 1.0
Record = Callable[[int, Outcome], None]


def serve(connection: Connection, parcel: bytes) -> None:
    """The life of a worker: unpack the objective, say so, evaluate until the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "setsid"):
        # A group of its own, so that what the objective has started can be killed together with it.
        os.setsid()
    threading.Thread(target=end_with_parent, daemon=True).start()
    try:
        fun = unpack(parcel)
    except Exception as error:
        connection.send(failed("exception", f"{type(error).__name__}: {error}"))
        return
    connection.send(Outcome(0.0))
    with suppress(EOFError, OSError):
        while True:
            connection.send(call(fun, connection.recv()))


def end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


class Worker:
    """A process and what it is doing: `task` is the position of the solution that it evaluates."""

    def __init__(self, parcel: bytes):
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, parcel))
        self.process.start()
        theirs.close()
        self.ready = False
        self.task: int | None = None
        self.since = time.monotonic()

    def give(self, task: int, solution: np.ndarray) -> None:
        self.task, self.since = task, time.monotonic()
        # If it has just died, the end of its pipe tells; until then it holds the task.
        with suppress(OSError):
            self.connection.send(solution)

    def kill(self) -> None:
        pid = self.process.pid
        if pid is not None and hasattr(os, "killpg") and self.ready:
            with suppress(OSError):
                os.killpg(pid, signal.SIGKILL)
        self.process.kill()
        self.process.join()
        self.connection.close()


class ProcessPool:
    """Evaluates solutions in worker processes. A worker that dies or takes too long is replaced."""

    def __init__(self, fun: Callable[[Any], Any], num_workers: int, timeout: float | None = None):
        self.parcel = pack(fun)
        self.num_workers, self.timeout = num_workers, timeout
        self.workers: list[Worker] = []
        self.failed_starts = 0

    def __call__(self, solutions: Sequence[np.ndarray] | np.ndarray, record: Record, deadline: float | None) -> None:
        waiting = deque(range(len(solutions)))
        try:
            while waiting or any(worker.task is not None for worker in self.workers):
                for worker in self.workers:
                    if worker.ready and worker.task is None and waiting:
                        task = waiting.popleft()
                        worker.give(task, solutions[task])
                wanted = min(self.num_workers, len(waiting) + len(self.workers))
                self.workers += [Worker(self.parcel) for _ in range(wanted - len(self.workers))]
                self.listen(record, deadline)
                if deadline is not None and time.monotonic() >= deadline:
                    break
        finally:
            # Out of time, or interrupted: what is still at work must not answer into the next generation.
            for worker in [worker for worker in self.workers if worker.task is not None]:
                self.dismiss(worker)

    def listen(self, record: Record, deadline: float | None) -> None:
        """Waits for the first message, death or end of patience, and deals with all that have come."""
        until = [worker.since + self.patience_with(worker) for worker in self.workers if self.is_awaited(worker)]
        until += [] if deadline is None else [deadline]
        seconds = max(0.0, min(until) - time.monotonic())
        wait([worker.connection for worker in self.workers], min(seconds, SECONDS_BETWEEN_ROLL_CALLS))
        for worker in list(self.workers):
            # A process that the objective has forked may hold the pipe open after its worker is dead.
            is_dead = not worker.process.is_alive()
            if worker.connection.poll() or is_dead:
                self.hear(worker, record)
            elif self.is_awaited(worker) and time.monotonic() >= worker.since + self.patience_with(worker):
                self.lose(worker, record, failed("timeout", f"no value after {self.timeout} s"))

    def hear(self, worker: Worker, record: Record) -> None:
        try:
            outcome: Outcome | None = worker.connection.recv() if worker.connection.poll() else None
        except (EOFError, OSError):
            outcome = None
        if outcome is None:
            worker.process.join()
            self.lose(worker, record, failed("dead_worker", f"its process ended with {worker.process.exitcode}"))
            return
        if not worker.ready:
            if outcome.failure:
                raise ObjectiveError(f"a worker process cannot load the objective: {outcome.text}. {HOW_TO_PASS}")
            worker.ready, self.failed_starts = True, 0
        elif worker.task is not None:
            task, worker.task = worker.task, None
            record(task, outcome)

    def lose(self, worker: Worker, record: Record, outcome: Outcome) -> None:
        self.dismiss(worker)
        if not worker.ready:
            self.failed_starts += 1
            if self.failed_starts >= MOST_FAILED_STARTS:
                raise ObjectiveError(f"worker processes end before they are ready. {HOW_TO_PASS}")
        if worker.task is not None:
            record(worker.task, outcome)

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
        for worker in list(self.workers):
            self.dismiss(worker)
