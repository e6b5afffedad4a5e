"""What people who know SciPy expect, and variables with names."""

import csv
import functools
import os
import subprocess
import sys

import numpy as np
import pytest

import lga
from lga.optimize.identity import content_of, differs

BOX = [(-5.0, 5.0)] * 2
SMALL = {"popsize": 8, "seed": 0}
PARTS = {"angle": (0.0, 90.0), "blades": lga.Integer(2, 7), "alloy": ["steel", "ti", "al"], "rate": lga.Log(1e-4, 1.0)}


def bowl(x):
    return float(np.sum((x - 1.0) ** 2))


def shifted(x, place, height):
    return float(np.sum((x - place) ** 2)) + height


def wheel(parts):
    penalty = {"steel": 2.0, "ti": 0.0, "al": 1.0}[parts["alloy"]]
    return abs(parts["angle"] - 30.0) + (parts["blades"] - 3) ** 2 + penalty + abs(np.log10(parts["rate"]) + 2.0)


def test_further_arguments_are_passed_on():
    result = lga.minimize(shifted, BOX, args=(2.0, 7.0), max_evaluations=400, **SMALL)
    assert result.fun == pytest.approx(7.0, abs=1e-3)


def test_all_processors_may_work():
    one, all_of_them = (lga.minimize(bowl, BOX, max_evaluations=24, workers=workers, **SMALL) for workers in (1, -1))
    np.testing.assert_array_equal(one.x, all_of_them.x)


def test_a_generator_of_numpy_draws_the_seed():
    first = lga.minimize(bowl, BOX, popsize=8, max_evaluations=16, rng=np.random.default_rng(3))
    second = lga.minimize(bowl, BOX, popsize=8, max_evaluations=16, seed=np.random.default_rng(3))
    assert first.seed == second.seed
    np.testing.assert_array_equal(first.x, second.x)
    with pytest.raises(ValueError, match="two names of one thing"):
        lga.minimize(bowl, BOX, seed=1, rng=2)


def test_evaluations_that_are_used_up_are_no_success():
    assert not lga.minimize(bowl, BOX, max_evaluations=16, **SMALL).success
    assert lga.minimize(bowl, BOX, target=1.0, max_evaluations=4000, **SMALL).success
    assert lga.minimize(lambda x: 1.0, BOX, patience=3, **SMALL).success


def test_several_points_to_start_from_are_evaluated_first():
    starts = [[1.0, 2.0], [3.0, -4.0], [0.0, 0.5]]
    result = lga.minimize(bowl, BOX, x0=starts, max_evaluations=8, **SMALL)
    np.testing.assert_array_equal(result.evaluations.x[:3], starts)
    with pytest.raises(ValueError, match="x0 has 9 points, but the first population only 8"):
        lga.minimize(bowl, BOX, x0=np.zeros((9, 2)), **SMALL)


def test_variables_with_names_are_given_and_returned_by_name():
    kinds = []

    def noted(parts):
        kinds.append({name: type(value) for name, value in parts.items()})
        return wheel(parts)

    result = lga.minimize(noted, PARTS, max_evaluations=1200, **SMALL)
    assert kinds[0] == {"angle": float, "blades": int, "alloy": str, "rate": float}
    assert result.x == {
        "angle": pytest.approx(30, abs=0.1),
        "blades": 3,
        "alloy": "ti",
        "rate": pytest.approx(0.01, rel=0.1),
    }


def test_a_table_of_variables_with_names_has_their_names_and_things(tmp_path):
    start = {"angle": 10.0, "blades": 5, "alloy": "al", "rate": 0.1}
    result = lga.minimize(wheel, PARTS, x0=start, max_evaluations=8, **SMALL)
    result.evaluations.to_csv(tmp_path / "all.csv")
    with (tmp_path / "all.csv").open() as file:
        row = next(csv.DictReader(file))
    assert (float(row["angle"]), row["blades"], row["alloy"]) == (10.0, "5", "al")


@pytest.mark.parametrize(
    ("bounds", "options", "complaint"),
    [
        ({"a": 3}, {}, "bounds of 'a' is 3, but must be a pair"),
        ({}, {}, "bounds is an empty dictionary"),
        (PARTS, {"x0": {"angle": 1.0}}, "x0 is .*, but must be a dictionary with a value for each of: angle, blades"),
        (PARTS, {"x0": {"angle": 1, "blades": 2, "alloy": "au", "rate": 0.1}}, "x0 has 'au' for alloy"),
        (PARTS, {"vectorized": True}, "bounds have names, .* but vectorized is True"),
        (PARTS, {"integrality": True}, "bounds have names: say Integer"),
    ],
)
def test_wrong_names_are_explained(bounds, options, complaint):
    with pytest.raises(ValueError, match=complaint):
        lga.minimize(wheel, bounds, **options)


def test_a_finished_search_goes_on_with_a_larger_budget(tmp_path):
    whole = lga.minimize(bowl, BOX, max_evaluations=60, **SMALL)
    for budget in (20, 33, 60):
        parts = lga.minimize(bowl, BOX, max_evaluations=budget, checkpoint=tmp_path / "run", **SMALL)
        assert parts.nfev == budget
    np.testing.assert_array_equal(parts.evaluations.x, whole.evaluations.x)


def test_a_smaller_budget_returns_what_was_found(tmp_path):
    lga.minimize(bowl, BOX, max_evaluations=60, checkpoint=tmp_path / "run", **SMALL)
    again = lga.minimize(bowl, BOX, max_evaluations=20, checkpoint=tmp_path / "run", **SMALL)
    assert (again.nfev, again.status) == (60, 1)


def made(place):
    """Two functions of one name: of other code for another place."""
    names: dict = {"np": np}
    exec(f"def cost(x):\n    return float(np.sum((x - {place}) ** 2))", names)
    names["cost"].__module__ = __name__
    return names["cost"]


def test_a_checkpoint_knows_the_code_of_its_objective(tmp_path):
    arguments = {"max_evaluations": 16, "checkpoint": tmp_path / "run", **SMALL}
    lga.minimize(made(1.0), BOX, **arguments)
    with pytest.raises(ValueError, match=r"the code of .*cost has changed.*checkpoint_objective=\"ignore\""):
        lga.minimize(made(2.0), BOX, **arguments)
    assert lga.minimize(made(2.0), BOX, checkpoint_objective="ignore", **arguments).nfev == 16


def test_code_is_known_by_what_it_does():
    assert content_of(made(1.0)) == content_of(made(1.0)) != content_of(made(2.0))
    assert content_of(functools.partial(shifted, place=1.0)) == content_of(shifted)
    assert content_of(np.sum) is None or not differs(None, content_of(np.sum))
    assert not differs("Python 3.1: a", "Python 3.2: b")


def test_code_with_a_set_of_words_is_the_same_in_every_process():
    program = (
        "from lga.optimize.identity import content_of\n"
        "print(content_of(lambda x: x in {'one', 'two', 'three', 'four', 'five'}))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1


def test_a_mended_objective_may_go_on_with_the_checkpoint_of_its_mistake(tmp_path):
    def cost(x):
        return undefined

    arguments = {"max_evaluations": 40, "checkpoint": tmp_path / "run", **SMALL}
    assert lga.minimize(cost, BOX, **arguments).status == 7
    mended = made(1.0)
    mended.__qualname__ = cost.__qualname__
    assert lga.minimize(mended, BOX, **arguments).nfev == 40


def test_a_mistake_in_the_objective_ends_the_search_after_one_generation():
    result = lga.minimize(lambda x: undefined, BOX, max_evaluations=6000, **SMALL)
    assert (result.nfev, result.status, result.success) == (8, 7, False)
    assert "name 'undefined' is not defined" in result.message
    assert result.chosen == "nothing succeeded"


def test_failures_that_differ_are_no_mistake():
    def moody(x):
        raise RuntimeError(f"no value at {x}")

    assert lga.minimize(moody, BOX, max_evaluations=40, **SMALL).nfev == 40


def test_a_target_alone_is_not_searched_for_forever():
    assert lga.minimize(lambda x: 1.0, BOX, target=0.0, **SMALL).nfev == 2000
