"""The table of tasks."""

import jax
import numpy as np
import pytest

from lga.tasks import bbob, registry

GROUP_ENDS = {"separable": 5, "moderate": 9, "ill-conditioned": 14, "multi-modal": 19, "weak structure": 24}


def test_every_coco_function_has_one_row_in_its_group():
    rows = registry.bbob_rows()[:24]
    assert [row.number for row in rows] == list(range(1, 25))
    start = 1
    for group, end in GROUP_ENDS.items():
        assert [row.number for row in rows if row.group == group] == list(range(start, end + 1))
        start = end + 1


def test_training_functions_are_those_of_the_large_family():
    train = [row.name for row in registry.bbob_rows() if row.split == "train"]
    assert train == list(bbob.FAMILIES["large"])
    assert len(train) == 10
    assert {row.split for row in registry.bbob_rows()} == {"train", "hold-out"}


def test_a_row_is_found_by_name_and_by_number():
    assert registry.row("schwefel") == registry.row("20")
    assert registry.row("20").families == ("medium", "large", "all")


def test_an_unknown_task_is_named_in_the_error():
    with pytest.raises(ValueError, match=r"name must be one of .* not 'f25'"):
        registry.row("f25")


@pytest.mark.parametrize("suite", registry.SUITES)
def test_every_suite_has_tasks_that_can_be_searched(suite):
    problem = registry.SUITES[suite].example(jax.random.key(0))
    solutions = jax.random.normal(jax.random.key(1), (5, problem.num_dims))
    values = problem.evaluate(jax.random.key(2), solutions)
    assert values.shape == (5,)
    assert np.isfinite(np.asarray(values)).all()
    np.testing.assert_array_equal(values, problem.evaluate(jax.random.key(2), solutions))
    assert registry.SUITES[suite].rows()
