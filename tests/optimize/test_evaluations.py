"""Every evaluation is kept: what was asked, what came back, and when."""

import csv

import numpy as np
import pytest

from lga.optimize import log
from lga.optimize.minimize import minimize

BOUNDS = [(-2.0, 2.0), (0.0, 3.0)]


def bowl(x):
    if x[0] > 1.5:
        raise RuntimeError("too far")
    return float(np.sum(x**2))


def test_every_evaluation_is_kept_with_its_value_or_its_failure():
    asked = []

    def noted(x):
        asked.append(x.copy())
        return bowl(x)

    found = minimize(noted, BOUNDS, max_evaluations=50, seed=0).evaluations
    np.testing.assert_array_equal(found.x, asked)
    failed = found.x[:, 0] > 1.5
    assert failed.any()
    assert set(found.failure[failed]) == {"exception"}
    assert set(found.failure[~failed]) == {""}
    np.testing.assert_array_equal(found.value[~failed], np.sum(found.x[~failed] ** 2, axis=1))
    assert np.isnan(found.value[failed]).all()
    assert (np.diff(found.generation) >= 0).all()
    assert (np.diff(found.seconds) >= 0).all()


def test_a_second_try_is_a_row_of_its_own():
    result = minimize(bowl, BOUNDS, max_evaluations=50, seed=0, on_error="retry")
    assert len(result.evaluations) == result.nfev == 50


def test_evaluations_do_not_depend_on_the_number_of_workers():
    one, two = (minimize(bowl, BOUNDS, max_evaluations=40, seed=0, workers=workers).evaluations for workers in (1, 2))
    for name in ("x", "value", "failure", "generation"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_a_continued_search_has_the_evaluations_from_before(tmp_path):
    options = {"max_evaluations": 60, "seed": 0}
    whole = minimize(bowl, BOUNDS, **options).evaluations
    file = tmp_path / "search"
    minimize(bowl, BOUNDS, **options, checkpoint=file, callback=lambda so_far: so_far.nit == 2)
    parts = minimize(bowl, BOUNDS, **options, checkpoint=file).evaluations
    np.testing.assert_array_equal(parts.x, whole.x)
    np.testing.assert_array_equal(parts.value, whole.value)
    assert (np.diff(parts.seconds) >= 0).all()


def test_memory_has_a_limit_beyond_which_evaluations_are_only_counted(monkeypatch):
    monkeypatch.setattr(log, "MOST_NUMBERS", 2 * 20)
    found = minimize(bowl, BOUNDS, max_evaluations=50, seed=0).evaluations
    assert (len(found), found.left_out) == (20, 30)


def test_evaluations_are_not_kept_if_that_is_said():
    found = minimize(bowl, BOUNDS, max_evaluations=50, seed=0, keep_evaluations=False).evaluations
    assert (len(found), found.left_out) == (0, 50)


@pytest.mark.parametrize("name", ["x0", "x1", "value", "seconds"])
def test_a_table_in_a_file_has_all_digits(tmp_path, name):
    found = minimize(bowl, BOUNDS, max_evaluations=50, seed=0).evaluations
    found.to_csv(tmp_path / "all.csv")
    with (tmp_path / "all.csv").open() as file:
        rows = list(csv.DictReader(file))
    columns = {"x0": found.x[:, 0], "x1": found.x[:, 1], "value": found.value, "seconds": found.seconds}
    np.testing.assert_array_equal([float(row[name]) for row in rows], columns[name])
    assert [row["failure"] for row in rows] == found.failure.tolist()
