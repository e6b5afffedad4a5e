"""Where evaluations run never changes the search."""

import math
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from faulty import DiesUnlessMarked, assert_same, failures_of, sphere

import lga
from lga.core.parcel import ObjectiveError
from lga.optimize.processes import ProcessPool
from processes import is_alive, wait_until

BOX = [(-5.0, 5.0)] * 3
SMALL = {"popsize": 8, "seed": 0, "max_evaluations": 60}


@pytest.fixture(scope="module")
def alone():
    return lga.minimize(sphere, BOX, **SMALL)


@pytest.mark.parametrize("workers", [2, 4])
def test_the_number_of_processes_does_not_matter(workers, alone):
    assert_same(lga.minimize(sphere, BOX, workers=workers, **SMALL), alone)


def test_threads_and_time_limits_do_not_matter(alone):
    with ThreadPoolExecutor(3) as executor:
        assert_same(lga.minimize(sphere, BOX, workers=executor, timeout=60.0, **SMALL), alone)
    assert_same(lga.minimize(sphere, BOX, timeout=60.0, **SMALL), alone)


def test_closures_reach_workers(alone):
    shift = 0.7
    assert_same(lga.minimize(lambda x: float(np.sum((x - shift) ** 2)), BOX, workers=2, **SMALL), alone)


def test_a_hanging_evaluation_on_an_executor_times_out():
    def hangs_at_times(x):
        if x[0] > 2.0:
            time.sleep(5.0)
        return sphere(x)

    with ThreadPoolExecutor(8) as executor:
        result = lga.minimize(hangs_at_times, BOX, popsize=8, seed=0, max_evaluations=16, workers=executor, timeout=0.2)
    assert result.failures["timeout"] > 0
    assert result.x[0] <= 2.0


def assert_same_but_for_what_was_lost(result, alone):
    """What was evaluated for nothing counts, and is evaluated again: so far as the budget goes it is the same."""
    assert result.nfev == alone.nfev
    lost = result.failures["dead_worker"]
    # Until the executor notices, the worker that is left goes on with the generation: how far is a matter of luck.
    assert 1 <= lost == sum(result.failures.values()) <= SMALL["popsize"]
    for name in ("best", "generation_best"):
        np.testing.assert_array_equal(result.history[name], alone.history[name][: result.nit])
    np.testing.assert_array_equal(result.history["evaluations"], alone.history["evaluations"][: result.nit] + lost)


def test_a_broken_executor_is_replaced_and_the_innocent_are_not_blamed(tmp_path, alone):
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        result = lga.minimize(DiesUnlessMarked(tmp_path / "mark"), BOX, workers=executor, **SMALL)
    assert (tmp_path / "mark").exists()
    assert_same_but_for_what_was_lost(result, alone)


def test_an_executor_that_is_shut_down_in_mid_run_is_replaced(alone):
    executor = ThreadPoolExecutor(2)

    def shut_down(so_far):
        if so_far.nit == 3:
            executor.shutdown()

    assert_same(lga.minimize(sphere, BOX, workers=executor, callback=shut_down, **SMALL), alone)


@pytest.mark.slow
def test_loky_does_not_matter(tmp_path, alone):
    from loky import get_reusable_executor

    executor = get_reusable_executor(2)
    assert_same(lga.minimize(sphere, BOX, workers=executor, **SMALL), alone)
    dying = lga.minimize(DiesUnlessMarked(tmp_path / "mark"), BOX, workers=executor, **SMALL)
    assert_same_but_for_what_was_lost(dying, alone)
    executor.shutdown(kill_workers=True)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::Warning")
def test_a_dask_cluster_does_not_matter_nor_does_its_death(alone):
    from dask.distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        assert_same(lga.minimize(sphere, BOX, workers=client.get_executor(), **SMALL), alone)

        def close(so_far):
            if so_far.nit == 3:
                cluster.close()

        dying = lga.minimize(sphere, BOX, workers=client.get_executor(), callback=close, **SMALL)
    assert_same(dying, alone)


def test_workers_do_not_import_jax():
    code = "import sys, lga, lga.optimize.worker, lga.optimize.processes; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def dies(x):
    os._exit(5)


def test_a_pool_of_workers_that_all_die_ends():
    result = lga.minimize(dies, BOX, popsize=4, seed=0, max_evaluations=6, workers=2)
    assert failures_of(result) == {"dead_worker": 6}
    assert "no evaluation succeeded" in result.message


def leaves_a_child_behind(x):
    if os.fork() == 0:
        time.sleep(60.0)
    os._exit(5)


def test_a_death_is_noticed_even_if_the_pipe_stays_open():
    result = lga.minimize(leaves_a_child_behind, BOX, popsize=4, seed=0, max_evaluations=2, workers=2)
    assert failures_of(result) == {"dead_worker": 2}


class CannotBeUnpacked:
    def __call__(self, x):
        return 0.0

    def __reduce__(self):
        return sphere, ()


def test_an_objective_that_cannot_be_loaded_is_refused():
    with pytest.raises(ObjectiveError, match="cannot load the objective"):
        lga.minimize(CannotBeUnpacked(), BOX, workers=2, **SMALL)


def test_an_objective_that_cannot_be_sent_is_refused_with_what_to_do():
    lock = threading.Lock()
    with pytest.raises(ObjectiveError, match="top level of a module"):
        lga.minimize(lambda x: float(lock.locked()), BOX, workers=2, **SMALL)
    with (
        ProcessPoolExecutor(1, get_context("spawn")) as executor,
        pytest.raises(ObjectiveError, match="top level of a module"),
    ):
        lga.minimize(lambda x: 0.0, BOX, workers=executor, **SMALL)


def test_a_script_without_a_main_guard_is_told_so(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import lga\ndef f(x):\n    return float(x @ x)\n"
        "lga.minimize(f, [(-1, 1)] * 2, popsize=4, max_evaluations=8, workers=2)\n"
    )
    ended = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300)
    assert ended.returncode != 0
    assert "if __name__ == '__main__':" in ended.stderr.splitlines()[-1]
    assert "the script starts its search again when a worker imports it" in ended.stderr
    assert ended.stderr.count("Traceback") == 1


def test_workers_end_with_their_parent(tmp_path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from functools import partial; from pathlib import Path\n"
        "from faulty import slow_and_recorded\n"
        "from lga.optimize.processes import ProcessPool\n"
        "if __name__ == '__main__':\n"
        "    pool = ProcessPool(partial(slow_and_recorded, folder=Path(sys.argv[2])), 2)\n"
        "    import numpy as np\n"
        "    pool(np.zeros((2, 3)), lambda *_: None, None)\n"
    )
    script = tmp_path / "parent.py"
    script.write_text(code)
    folder = tmp_path / "pids"
    folder.mkdir()
    parent = subprocess.Popen([sys.executable, str(script), str(Path(__file__).parent), str(folder)])
    wait_until(lambda: len(list(folder.iterdir())) == 2)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    wait_until(lambda: not any(is_alive(int(path.name)) for path in folder.iterdir()))


def test_time_is_kept_with_workers():
    result = lga.minimize(never_ends, BOX, popsize=4, workers=2, max_seconds=2.0)
    assert result.message.startswith("the time is used up")
    assert math.isnan(result.fun)


def never_ends(x):
    time.sleep(3600.0)


def test_a_pool_can_be_used_again_after_it_ran_out_of_time():
    pool = ProcessPool(sphere, 2)
    outcomes = {}
    pool(np.zeros((4, 3)), outcomes.__setitem__, time.monotonic())
    pool(np.zeros((4, 3)), outcomes.__setitem__, None)
    pool.close()
    assert {outcome.value for outcome in outcomes.values()} == {sphere(np.zeros(3))}
    assert len(outcomes) == 4


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"workers": 0}, "workers is 0"),
        ({"workers": "two"}, "executor with a submit method"),
        ({"timeout": -1.0}, "timeout is -1.0"),
        ({"vectorized": True, "workers": 2}, "one call"),
        ({"jit": True, "timeout": 1.0}, "one call"),
    ],
)
def test_mistakes_are_named(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        lga.minimize(sphere, BOX, **SMALL | arguments)
