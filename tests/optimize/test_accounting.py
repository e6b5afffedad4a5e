"""As many calls as are counted, and the blame where it belongs, also when workers and executors are lost."""

import fcntl
import os
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from faulty import assert_same, failures_of, sphere

import lga
from lga.optimize.loop import Stop
from lga.optimize.processes import ProcessPool

BOX = [(-5.0, 5.0)] * 3
SMALL = {"popsize": 8, "seed": 0, "max_evaluations": 40}


def counted(x, log: Path, seconds: float = 0.0, deadly: int = -1):
    """One byte for each call; the call of that number kills its process."""
    with open(log, "ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        number = file.tell()
        file.write(b".")
    time.sleep(seconds)
    if number == deadly:
        os._exit(3)
    return sphere(x)


def test_the_death_of_an_idle_worker_is_nobodys_fault():
    pool = ProcessPool(sphere, 1)
    solutions, outcomes = np.arange(6.0).reshape(2, 3), {}
    pool(solutions[:1], outcomes.__setitem__, None)
    (idle,) = pool.workers
    os.kill(idle.process.pid, signal.SIGKILL)
    os.waitid(os.P_PID, idle.process.pid, os.WEXITED | os.WNOWAIT)
    pool(solutions[1:], lambda position, outcome: outcomes.__setitem__(1, outcome), None)
    pool.close()
    assert [outcomes[position].value for position in (0, 1)] == [sphere(row) for row in solutions]


def test_idle_workers_may_die_between_generations():
    def kill_workers(so_far):
        for child in Path(f"/proc/{os.getpid()}/task").glob("*/children"):
            for pid in child.read_text().split():
                if b"--multiprocessing-fork" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(int(pid), signal.SIGKILL)

    result = lga.minimize(sphere, BOX, workers=2, callback=kill_workers, **SMALL)
    assert_same(result, lga.minimize(sphere, BOX, **SMALL))


def test_what_a_lost_executor_had_begun_counts(tmp_path):
    objective = partial(counted, log=tmp_path / "log", seconds=0.05, deadly=13)
    with ProcessPoolExecutor(3, get_context("spawn")) as executor:
        result = lga.minimize(objective, BOX, workers=executor, **SMALL)
    calls = (tmp_path / "log").stat().st_size
    assert result.nfev == 40
    # A worker may be ended between its note and its call.
    assert 40 - 2 <= calls <= 40
    assert 1 <= result.failures["dead_worker"] <= 3
    assert result.fun == sphere(result.x)


def test_what_a_shut_down_executor_had_begun_is_taken(tmp_path):
    executor = ThreadPoolExecutor(2)
    timer = threading.Timer(0.5, lambda: executor.shutdown(wait=False, cancel_futures=True))
    timer.start()
    result = lga.minimize(partial(counted, log=tmp_path / "log", seconds=0.05), BOX, workers=executor, **SMALL)
    timer.join()
    assert (tmp_path / "log").stat().st_size == result.nfev == 40
    assert failures_of(result) == {}
    assert_same(result, lga.minimize(sphere, BOX, **SMALL))


def test_no_ledger_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with ThreadPoolExecutor(2) as executor:
        lga.minimize(sphere, BOX, workers=executor, **SMALL)
    assert list(tmp_path.iterdir()) == []


def test_after_the_time_is_over_an_executor_begins_nothing_more(tmp_path):
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        objective = partial(counted, log=tmp_path / "log", seconds=0.4)
        executor.submit(objective, np.zeros(3)).result()
        result = lga.minimize(objective, BOX, workers=executor, max_seconds=3.0, popsize=8, seed=0)
    assert result.message.startswith("the time is used up")
    calls = (tmp_path / "log").stat().st_size - 1
    assert result.nfev <= calls <= result.nfev + 1


def test_a_target_that_is_met_in_the_last_part_of_a_generation_is_met():
    straight = lga.minimize(sphere, BOX, **SMALL)
    budget = int(straight.history["evaluations"][2]) + 5
    best = lga.minimize(sphere, BOX, **SMALL | {"max_evaluations": budget}).fun
    result = lga.minimize(sphere, BOX, target=best, **SMALL | {"max_evaluations": budget})
    assert (result.status, result.success) == (Stop.TARGET.status, True)


def test_the_first_failure_that_is_named_is_the_same_after_a_resume(tmp_path):
    calls = []

    def fails(x):
        calls.append(1)
        if len(calls) == 3:
            raise ZeroDivisionError("the first of its kind")
        return (float("nan"), np.inf, "text", -np.inf)[len(calls) % 4]

    straight = lga.minimize(fails, BOX, **SMALL)
    calls.clear()
    for generation in (1, 3):
        stop = {"callback": lambda so_far, generation=generation: so_far.nit == generation}
        lga.minimize(fails, BOX, checkpoint=tmp_path / "run", **stop, **SMALL)
    resumed = lga.minimize(fails, BOX, checkpoint=tmp_path / "run", **SMALL)
    assert resumed.message == straight.message
    assert resumed.failure_examples == straight.failure_examples


@pytest.mark.parametrize("on_error", ["penalize", "retry"])
def test_a_bad_row_costs_no_more_than_the_budget(on_error):
    rows = []

    def one_bad_row(x):
        rows.extend(x)
        if np.any(x[:, 0] > 3.0):
            raise ValueError("a bad row")
        return np.sum(x**2, axis=1)

    result = lga.minimize(
        one_bad_row, BOX, vectorized=True, on_error=on_error, popsize=16, seed=0, max_evaluations=1000
    )
    assert len(rows) == result.nfev == 1000
