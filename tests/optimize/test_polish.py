"""A local method may have the last evaluations: counted, kept, and the same after an interruption."""

import numpy as np
import pytest

from lga.optimize.minimize import minimize

BOX = [(-5.0, 5.0)] * 2
OPTIONS = {"popsize": 8, "seed": 0}
PLACE = np.array([np.pi, np.e])


def bowl(x):
    return float(np.sum((x - PLACE) ** 2))


def test_the_last_digits_are_found():
    plain, polished = (minimize(bowl, BOX, max_evaluations=300, polish=polish, **OPTIONS) for polish in (False, True))
    assert polished.fun < plain.fun
    assert polished.nfev <= 300
    assert len(polished.evaluations) == polished.nfev


def test_ten_digits_are_there_without_it_too():
    result = minimize(bowl, BOX, max_evaluations=2000, **OPTIONS)
    np.testing.assert_allclose(result.x, PLACE, rtol=1e-10)


def test_whole_numbers_stay_as_they_are():
    result = minimize(bowl, BOX, max_evaluations=300, polish=True, integrality=[False, True], **OPTIONS)
    assert result.x[1] == 3.0
    assert result.x[0] == pytest.approx(np.pi, rel=1e-6)


def test_polishing_goes_on_after_an_interruption_as_if_there_was_none(tmp_path):
    calls = []

    def interrupted(x):
        calls.append(1)
        if len(calls) == 270:
            raise KeyboardInterrupt
        return bowl(x)

    interrupted.__qualname__, interrupted.__module__ = bowl.__qualname__, bowl.__module__
    file = {"checkpoint": tmp_path / "run", "checkpoint_objective": "ignore"}
    whole = minimize(bowl, BOX, max_evaluations=300, polish=True, **OPTIONS)
    minimize(interrupted, BOX, max_evaluations=300, polish=True, **file, **OPTIONS)
    parts = minimize(bowl, BOX, max_evaluations=300, polish=True, **file, **OPTIONS)
    np.testing.assert_array_equal(parts.evaluations.x, whole.evaluations.x)
    assert parts.fun == whole.fun


def test_many_variables_are_polished_with_differences():
    def valley(x):
        return float(np.sum(np.arange(1, 13) * (x - 1.0) ** 2))

    plain, polished = (
        minimize(valley, [(-5.0, 5.0)] * 12, max_evaluations=600, polish=polish, popsize=8, seed=0).fun
        for polish in (False, True)
    )
    assert polished < plain
