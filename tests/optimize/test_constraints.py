"""Constraints are kept by rules of feasibility, and the objective is asked at feasible points alone."""

import math

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint

from lga.optimize.minimize import minimize
from lga.optimize.scores import INFEASIBLE, relation, relative, score_of, violation_of

BOX = [(-5.0, 5.0)] * 2
OPTIONS = {"max_evaluations": 800, "popsize": 8, "seed": 0}


def total(x):
    return x[0] + x[1]


def outside_of_circle(x):
    return x[0] ** 2 + x[1] ** 2 - 2.0


@pytest.mark.parametrize(
    ("constraint", "best"),
    [
        (outside_of_circle, -2.0),
        (NonlinearConstraint(outside_of_circle, -np.inf, 0.0), -2.0),
        (LinearConstraint([[1.0, 1.0]], 1.0, np.inf), 1.0),
        ([LinearConstraint([[1.0, -1.0]], 2.0, np.inf), lambda x: [-3.0 - x[1]]], -4.0),
    ],
)
def test_the_optimum_on_a_constraint_is_found(constraint, best):
    result = minimize(total, BOX, constraints=constraint, **OPTIONS)
    assert result.fun == pytest.approx(best, abs=1e-3)
    assert result.constr_violation == 0.0


def test_the_objective_is_asked_at_feasible_points_alone():
    asked = []

    def noted(x):
        asked.append(outside_of_circle(x))
        return total(x)

    result = minimize(noted, BOX, constraints=outside_of_circle, **OPTIONS)
    assert max(asked) <= 1e-7
    assert len(asked) < result.nfev == 800


def test_if_nothing_is_feasible_the_least_violation_is_returned_and_said():
    result = minimize(total, BOX, constraints=lambda x: 1.0 + x[0] ** 2, **OPTIONS)
    assert result.constr_violation == pytest.approx(1.0, abs=1e-3)
    assert math.isnan(result.fun)
    assert "no feasible point was found, x violates the constraints by 1" in result.message
    assert not result.success


def test_the_rules_hold_for_maximization_too():
    result = minimize(total, BOX, constraints=outside_of_circle, direction="maximize", **OPTIONS)
    assert result.fun == pytest.approx(2.0, abs=1e-3)


def test_constraints_reach_worker_processes():
    one, two = (
        minimize(total, BOX, constraints=outside_of_circle, workers=workers, max_evaluations=40, popsize=8, seed=0)
        for workers in (1, 2)
    )
    np.testing.assert_array_equal(one.x, two.x)


def test_what_is_no_constraint_is_refused():
    with pytest.raises(ValueError, match="constraint 1 is 'x > 0', but must be"):
        minimize(total, BOX, constraints=[outside_of_circle, "x > 0"], **OPTIONS)
    with pytest.raises(ValueError, match="constraints are for single solutions, but vectorized is True"):
        minimize(total, BOX, constraints=outside_of_circle, vectorized=True, **OPTIONS)


def test_a_constraint_without_numbers_is_a_failure_and_not_a_violation():
    result = minimize(total, BOX, constraints=lambda x: math.nan, **OPTIONS)
    assert result.failures["nan"] == result.nfev == 800


def test_scores_order_feasible_points_before_violations_before_failures():
    scores = np.array([3.0, score_of(0.5), -1.0, score_of(1e-6), math.nan, 1e30])
    told = relative(scores, *relation(scores, -1.0))
    assert np.argsort(told).tolist() == [2, 0, 5, 3, 1, 4]


@pytest.mark.parametrize("violation", [1e-8, 0.3, 1.0, 1e6])
def test_a_score_tells_its_violation(violation):
    assert score_of(violation) >= INFEASIBLE
    assert violation_of(score_of(violation)) == pytest.approx(violation, rel=1e-6)
    assert violation_of(5.0) == 0.0
