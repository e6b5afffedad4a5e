"""The table of tasks."""

import pytest

from lga.tasks import bbob, registry

GROUP_ENDS = {"separable": 5, "moderate": 9, "ill-conditioned": 14, "multi-modal": 19, "weak structure": 24}


def test_every_coco_function_has_one_row_in_its_group():
    rows = registry.rows()
    assert [row.number for row in rows] == list(range(1, 25))
    start = 1
    for group, end in GROUP_ENDS.items():
        assert [row.number for row in rows if row.group == group] == list(range(start, end + 1))
        start = end + 1


def test_training_functions_are_those_of_the_large_family():
    train = [row.name for row in registry.rows() if row.split == "train"]
    assert train == list(bbob.FAMILIES["large"])
    assert len(train) == 10
    assert {row.split for row in registry.rows()} == {"train", "hold-out"}


def test_a_row_is_found_by_name_and_by_number():
    assert registry.row("schwefel") == registry.row("20")
    assert registry.row("20").families == ("medium", "large", "all")


def test_an_unknown_task_is_named_in_the_error():
    with pytest.raises(ValueError, match=r"name must be one of .* not 'f25'"):
        registry.row("f25")
