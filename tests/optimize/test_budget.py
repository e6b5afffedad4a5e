"""The budget is exact, always: as many calls as are counted, and never more than allowed."""

import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import jax.numpy as jnp
import numpy as np
import pytest
from faulty import Faulty, assert_same, sphere

import lga

BOX = [(-5.0, 5.0)] * 3
SMALL = {"popsize": 8, "seed": 0}
BUDGETS = (1, 7, 8, 13, 40)


class Counted:
    """Counts rows; every third solution fails, one in six at its first attempt only."""

    def __init__(self, fails: bool = True):
        self.fails, self.lock, self.count = fails, threading.Lock(), 0
        self.seen: set[bytes] = set()

    def one(self, x):
        with self.lock:
            self.count += 1
            is_first = x.tobytes() not in self.seen
            self.seen.add(x.tobytes())
        turn = int(abs(x[0]) * 1e6) % 6
        bad = self.fails and (turn == 0 or (turn == 3 and is_first))
        return math.nan if bad else sphere(x)

    def many(self, x):
        return [self.one(row) for row in x]

    def many_or_none(self, x):
        """One bad row spoils the call."""
        values = self.many(x)
        if np.isnan(values).any():
            raise ValueError("a bad row")
        return values


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("on_error", ["penalize", "retry"])
@pytest.mark.parametrize("how", ["one", "many", "many_or_none", "threads", "noisy"])
def test_every_call_is_counted_and_none_is_over_the_budget(how, on_error, budget):
    counted = Counted()
    arguments = {"max_evaluations": budget, "on_error": on_error} | SMALL
    if how == "threads":
        with ThreadPoolExecutor(3) as executor:
            result = lga.minimize(counted.one, BOX, workers=executor, **arguments)
    elif how == "noisy":
        result = lga.minimize(counted.one, BOX, reevaluate=2, **arguments)
    else:
        result = lga.minimize(getattr(counted, how), BOX, vectorized=how != "one", **arguments)
    assert counted.count == result.nfev == budget


@pytest.mark.parametrize("on_error", ["penalize", "retry"])
def test_calls_in_worker_processes_are_counted(on_error, tmp_path):
    objective = Faulty(tmp_path / "log", ("raises", "nan", "dies"))
    result = lga.minimize(objective, BOX, workers=2, max_evaluations=21, on_error=on_error, **SMALL)
    assert sum(objective.counts().values()) == result.nfev == 21


def test_an_objective_that_uses_jax_is_called_no_more_often_than_others():
    calls = []

    def in_jax(x):
        calls.append(x)
        return jnp.sum((x - 0.7) ** 2)

    assert lga.minimize(in_jax, BOX, max_evaluations=8, **SMALL).nfev == len(calls) == 8


def test_a_spoilt_call_counts_for_all_of_its_rows_and_each_is_tried_alone():
    counted = Counted()
    result = lga.minimize(counted.many_or_none, BOX, vectorized=True, max_evaluations=64, **SMALL)
    assert result.nit < 8
    assert result.fun == sphere(result.x)


def test_failures_and_successes_are_all_there_is():
    values = []
    counted = Counted()

    def objective(x):
        values.append(counted.one(x))
        return values[-1]

    result = lga.minimize(objective, BOX, on_error="retry", max_evaluations=61, **SMALL)
    assert result.failures["nan"] == np.isnan(values).sum()


def test_first_attempts_count_when_time_ends_before_the_second():
    calls = []

    def fails(x):
        calls.append(1)
        time.sleep(0.05)
        return math.nan

    result = lga.minimize(fails, BOX, on_error="retry", max_seconds=0.5, popsize=8, seed=0)
    assert result.nfev == len(calls) == result.failures["nan"]


def test_a_second_attempt_that_was_interrupted_is_made_up_for(tmp_path):
    arguments = {"on_error": "retry", "max_evaluations": 60, **SMALL}
    straight = lga.minimize(Counted().one, BOX, **arguments)
    counted, interrupts = Counted(), []

    def objective(x):
        if x.tobytes() in counted.seen and not interrupts:
            interrupts.append(1)
            raise KeyboardInterrupt
        return counted.one(x)

    part = lga.minimize(objective, BOX, checkpoint=tmp_path / "run", **arguments)
    assert (part.message, part.nfev) == ("interrupted", counted.count)
    assert_same(lga.minimize(objective, BOX, checkpoint=tmp_path / "run", **arguments), straight)
    assert counted.count == 60


def test_an_empty_budget_is_refused():
    with pytest.raises(ValueError, match="max_evaluations is 0, but must be more than 0"):
        lga.minimize(sphere, BOX, max_evaluations=0)
