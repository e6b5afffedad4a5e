"""Nothing waits for ever: not for a worker, not for an executor, not for a command, not after Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest
from faulty import assert_same, failures_of, slow_sphere, sphere

import lga
from processes import descendants, is_alive, wait_until

BOX = [(-5.0, 5.0)] * 3
SMALL = {"popsize": 8, "seed": 0, "max_evaluations": 40}


def closes_and_sleeps(x):
    os.closerange(3, 256)
    time.sleep(3600.0)


def test_a_worker_that_closes_its_pipe_and_sleeps_is_killed():
    begin = time.monotonic()
    result = lga.minimize(closes_and_sleeps, BOX, popsize=4, seed=0, max_evaluations=4, workers=2)
    assert failures_of(result) == {"dead_worker": 4}
    assert "closed its pipe" in result.failure_examples[0]
    assert time.monotonic() - begin < 60.0


def sleeps(x):
    time.sleep(3600.0)


def test_a_worker_that_hangs_is_killed_where_there_are_no_groups_of_processes(monkeypatch):
    monkeypatch.delattr(os, "killpg")
    result = lga.minimize(sleeps, BOX, popsize=4, seed=0, max_evaluations=4, workers=2, timeout=0.5)
    assert failures_of(result) == {"timeout": 4}


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_an_executor_that_is_shut_down_in_mid_generation_is_replaced(kind):
    executor = ThreadPoolExecutor(1) if kind == "threads" else ProcessPoolExecutor(1, get_context("spawn"))
    timer = threading.Timer(1.0, lambda: executor.shutdown(wait=False, cancel_futures=True))
    timer.start()
    result = lga.minimize(slow_sphere, BOX, workers=executor, **SMALL | {"max_evaluations": 2000, "popsize": 400})
    timer.join()
    executor.shutdown()
    assert result.nfev == 2000
    assert sum(result.failures.values()) <= 1


def test_endless_time_is_none_on_an_executor():
    with ThreadPoolExecutor(2) as executor:
        endless = lga.minimize(sphere, BOX, workers=executor, max_seconds=float("inf"), timeout=float("inf"), **SMALL)
    assert_same(endless, lga.minimize(sphere, BOX, **SMALL))


def start(*arguments: str) -> subprocess.Popen:
    fixed = ["--bounds", "x=-5:5", "--popsize", "4", "--seed", "1", "--max-evaluations", "400", "--no-progress"]
    command = [sys.executable, "-m", "lga", "minimize", *arguments, *fixed]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def commands_of(parent: int) -> list[int]:
    return [pid for pid, words in descendants(parent).items() if "-S" in words and "sleep" in words[-3]]


@pytest.mark.usefixtures("ctrl_c_works")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_ends_commands_at_once(workers, tmp_path):
    sleeper = f"{sys.executable} -S -c 'import time; time.sleep(300)' {{x}}"
    process = start("--command", sleeper, "--workers", workers, "--checkpoint", str(tmp_path / "run"))
    wait_until(lambda: len(commands_of(process.pid)) == int(workers), 120.0)
    running = commands_of(process.pid)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    printed, complaint = process.communicate(timeout=60)
    assert time.monotonic() - begin < 15.0
    assert json.loads(printed)["message"].startswith("interrupted"), complaint
    wait_until(lambda: not any(map(is_alive, running)), 5.0)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_time_is_kept_whatever_the_commands_do(workers):
    sleeper = f"{sys.executable} -S -c 'import time; time.sleep(300)' {{x}}"
    process = start("--command", sleeper, "--workers", workers, "--max-seconds", "6")
    printed, complaint = process.communicate(timeout=60)
    assert json.loads(printed)["message"].startswith("the time is used up"), complaint


INTERRUPTED = """
import sys, time
import lga

def hangs(x):
    time.sleep(3600.0)

if __name__ == "__main__":
    print("begin", flush=True)
    lga.minimize(hangs, [(-5.0, 5.0)] * 3, popsize=4, seed=0, max_evaluations=8, workers=2, checkpoint=sys.argv[1])
"""


@pytest.mark.slow
@pytest.mark.usefixtures("ctrl_c_works")
def test_ctrl_c_pressed_again_and_again_ends_all_processes(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(INTERRUPTED)
    for number in range(12):
        process = subprocess.Popen(
            [sys.executable, str(script), str(tmp_path / f"run-{number}")],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        wait_until(lambda process=process: len(descendants(process.pid)) >= 4, 120.0)
        family = list(descendants(process.pid))
        for _ in range(6):
            process.send_signal(signal.SIGINT)
            time.sleep(0.001 * number**2)
        process.communicate(timeout=30)
        wait_until(lambda family=family: not any(map(is_alive, family)), 10.0)
