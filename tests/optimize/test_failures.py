"""Whatever an objective does, the search survives it and counts it."""

import logging
import math

import numpy as np
import pytest
from faulty import HARMLESS_FATES, Faulty, failures_of, misbehave, sphere

import lga
from lga.optimize.loop import EvaluationError
from lga.optimize.worker import judge

BOX = [(-5.0, 5.0)] * 3
SMALL = {"popsize": 8, "seed": 0}
HARMLESS = HARMLESS_FATES


@pytest.mark.parametrize(
    ("value", "failure"),
    [
        (1, None),
        (np.float32(2.5), None),
        (np.array([3.0]), None),
        (True, None),
        (math.nan, "nan"),
        (np.array(math.inf), "plus_inf"),
        (-math.inf, "minus_inf"),
        ("1.0", "wrong_type"),
        (b"1.0", "wrong_type"),
        (None, "wrong_type"),
        (np.zeros(2), "wrong_type"),
        ([], "wrong_type"),
        (1 + 2j, "wrong_type"),
        ({"value": 1.0}, "wrong_type"),
        (10**400, "wrong_type"),
    ],
)
def test_only_one_finite_number_is_a_value(value, failure):
    assert judge(value).failure == failure


def test_failures_are_counted_by_kind(tmp_path):
    objective = Faulty(tmp_path / "log", HARMLESS)
    result = lga.minimize(objective, BOX, max_evaluations=240, **SMALL)
    assert failures_of(result) == objective.failures()
    assert set(failures_of(result)) == {"exception", "nan", "plus_inf", "minus_inf", "wrong_type"}
    assert result.nfev == sum(objective.counts().values()) == 240
    assert math.isfinite(result.fun)
    assert any("bad mood" in example for example in result.failure_examples)


def test_time_outs_and_deaths_are_counted_and_blamed_on_the_right_solution(tmp_path):
    objective = Faulty(tmp_path / "log")
    result = lga.minimize(objective, BOX, max_evaluations=48, workers=2, timeout=3.0, **SMALL)
    assert failures_of(result) == objective.failures()
    assert result.failures["timeout"] == result.failures["dead_worker"] == 2
    assert result.nfev == 48
    assert result.fun == sphere(result.x)


@pytest.mark.slow
def test_two_hundred_generations_of_every_failure_there_is(tmp_path):
    objective = Faulty(tmp_path / "log")
    stop = {"callback": lambda so_far: so_far.nit == 200, "max_evaluations": 100_000}
    result = lga.minimize(objective, BOX, workers=2, timeout=2.0, **stop, **SMALL)
    print(f"\n{result.nfev} calls in {result.nit} generations, failures {result.failures}, best {result.fun}")
    counts = objective.counts()
    assert result.nit == 200
    assert all(counts.values())
    assert failures_of(result) == objective.failures()
    assert result.nfev == sum(counts.values())
    assert sum(result.failures.values()) == result.nfev // 3
    assert result.fun == sphere(result.x) < 1e-2


def test_failures_are_retried_once_and_both_attempts_count():
    calls: dict[bytes, int] = {}

    def at_second_attempt(x):
        calls[x.tobytes()] = calls.get(x.tobytes(), 0) + 1
        return sphere(x) if calls[x.tobytes()] == 2 else math.nan

    result = lga.minimize(at_second_attempt, BOX, on_error="retry", max_evaluations=64, **SMALL)
    assert set(calls.values()) == {2}
    assert result.nfev == 64
    assert failures_of(result) == {"nan": 32}
    assert math.isfinite(result.fun)


def test_retries_stay_within_the_budget():
    calls = []
    result = lga.minimize(lambda x: calls.append(1) or math.nan, BOX, on_error="retry", max_evaluations=21, **SMALL)
    assert len(calls) == result.nfev == result.failures["nan"] == 21


def test_errors_can_be_raised():
    with pytest.raises(EvaluationError, match="bad mood"):
        lga.minimize(lambda x: misbehave("raises", x), BOX, on_error="raise", **SMALL)
    with pytest.raises(ValueError, match="on_error is 'ignore'"):
        lga.minimize(sphere, BOX, on_error="ignore")


def test_if_nothing_ever_succeeds_the_message_says_so():
    result = lga.minimize(lambda x: misbehave("raises", x), BOX, max_evaluations=24, **SMALL)
    assert not result.success
    assert result.x is None
    assert math.isnan(result.fun)
    assert "no evaluation succeeded" in result.message
    assert "bad mood" in result.message


def test_an_exit_of_the_objective_is_an_exception():
    def leaves(x):
        raise SystemExit(3)

    assert failures_of(lga.minimize(leaves, BOX, max_evaluations=8, **SMALL)) == {"exception": 8}


def test_the_first_failure_of_a_kind_is_logged_as_a_warning(caplog):
    with caplog.at_level(logging.DEBUG, "lga.optimize"):
        lga.minimize(lambda x: math.nan, BOX, max_evaluations=16, **SMALL)
    levels = [record.levelname for record in caplog.records if record.name == "lga.optimize"]
    assert levels == ["WARNING"] + ["DEBUG"] * 15


def test_an_objective_may_spoil_its_argument():
    def spoils(x):
        value = sphere(x)
        x[:] = math.nan
        return value

    clean, spoilt = (lga.minimize(fun, BOX, max_evaluations=40, **SMALL) for fun in (sphere, spoils))
    np.testing.assert_array_equal(clean.x, spoilt.x)
