"""Cells are computed once, go on where they stopped, and never take the outcome of another."""

from functools import partial

import numpy as np
import pytest

from lga.bench.cells import Cell, outcome, outcomes
from lga.core.tree_io import TreeFileError, save_tree

KEY = {"sizes": (1, 2), "seed": 0}


def cell(compute, key=KEY):
    return Cell("CMA-ES, default", key, compute)


def forbidden(checkpoint):
    raise AssertionError("computed again")


def test_a_cell_is_computed_once(tmp_path):
    values = {"gaps": np.arange(3.0)}
    outcome(cell(lambda checkpoint: values), tmp_path)
    np.testing.assert_array_equal(outcome(cell(forbidden), tmp_path)["gaps"], values["gaps"])


def test_cells_with_other_keys_have_files_of_their_own(tmp_path):
    first = outcome(cell(lambda checkpoint: {"x": np.zeros(1)}), tmp_path)
    other = outcome(cell(lambda checkpoint: {"x": np.ones(1)}, KEY | {"seed": 1}), tmp_path)
    assert (first["x"], other["x"]) == (0.0, 1.0)
    assert outcome(cell(forbidden), tmp_path)["x"] == 0.0


def test_unfinished_work_is_at_hand_again_and_gone_in_the_end(tmp_path):
    def stops(checkpoint):
        save_tree(checkpoint, {"done": np.array(4)}, {})
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        outcome(cell(stops), tmp_path)
    outcome(cell(lambda checkpoint: {"x": np.array(checkpoint.exists())}), tmp_path)
    assert outcome(cell(forbidden), tmp_path)["x"]
    assert [path.suffix for path in tmp_path.iterdir()] == [".safetensors"]


def test_a_damaged_or_foreign_file_is_named_and_not_believed(tmp_path):
    file = cell(forbidden).file(tmp_path)
    save_tree(file, {"x": np.zeros(1)}, {"another": "key"})
    with pytest.raises(ValueError, match="its name stands for .*: delete it"):
        outcome(cell(forbidden), tmp_path)
    file.write_bytes(b"nonsense")
    with pytest.raises(TreeFileError, match="damaged"):
        outcome(cell(forbidden), tmp_path)


def squared(number, checkpoint):
    return {"x": np.array(number**2)}


@pytest.mark.parametrize("workers", [1, 2])
def test_outcomes_come_in_the_order_of_their_cells_from_any_number_of_processes(tmp_path, workers):
    cells = [cell(partial(squared, number), KEY | {"number": number}) for number in range(5)]
    assert [int(leaves["x"]) for leaves in outcomes(cells, tmp_path, workers)] == [0, 1, 4, 9, 16]
    assert all(one.file(tmp_path).exists() for one in cells)
