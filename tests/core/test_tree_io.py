import json
import re
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

import lga
from lga.core import files, tree_io
from lga.core.files import write_atomically
from lga.core.tree_io import TreeFileError, load_leaves, save_tree

TENSORS = {"b": np.arange(6, dtype=np.float32).reshape(2, 3), "a": np.array([1, -2], np.int32)}
DESCRIPTION = {"kind": "test", "provenance": {"seed": 3, "note": "naïve", "nested": [1, {"x": None}]}}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "tensors.safetensors"
    save_tree(path, TENSORS, DESCRIPTION)
    return path


def same_content(path) -> bool:
    tensors, description = load_leaves(path)
    return (
        description == DESCRIPTION
        and list(tensors) == sorted(TENSORS)
        and all(tensors[name].dtype == TENSORS[name].dtype for name in TENSORS)
        and all(np.array_equal(tensors[name], TENSORS[name]) for name in TENSORS)
    )


def test_tensors_and_description_come_back_exactly(path):
    assert same_content(path)


def test_a_tensor_that_is_not_contiguous_is_saved_as_it_is_seen(tmp_path):
    path = tmp_path / "transposed.safetensors"
    save_tree(path, {"t": TENSORS["b"].T}, {})
    np.testing.assert_array_equal(load_leaves(path)[0]["t"], TENSORS["b"].T)


def test_equal_content_makes_equal_files(path, tmp_path):
    other = tmp_path / "other.safetensors"
    sha = save_tree(other, dict(reversed(TENSORS.items())), dict(reversed(DESCRIPTION.items())))
    assert other.read_bytes() == path.read_bytes()
    assert sha in other.read_text(errors="ignore")


def test_any_damaged_byte_is_noticed(path):
    """Every byte in turn: the load fails with a sentence, or the damage changed nothing that can be read."""
    content = path.read_bytes()
    sentences = []
    for position in range(len(content)):
        damaged = bytearray(content)
        damaged[position] ^= 1 << position % 8
        path.write_bytes(damaged)
        try:
            assert same_content(path), position
        except TreeFileError as error:
            sentences.append(str(error))
    assert len(sentences) > 0.95 * len(content)
    assert all(sentence.startswith(str(path)) for sentence in sentences)


@pytest.mark.parametrize("kept", [0, 4, 60, -1])
def test_a_truncated_file_is_noticed(path, kept):
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(TreeFileError, match=r"is damaged or was not written by lga: .+\.$"):
        load_leaves(path)


def test_a_newer_file_asks_for_an_update_whatever_else_it_holds(path):
    metadata = {tree_io.ENTRY: json.dumps({"schema_version": tree_io.SCHEMA_VERSION + 1, "unheard": "of"})}
    save_file(TENSORS, path, metadata=metadata)
    with pytest.raises(TreeFileError, match=r"has schema version 2, but .* up to 1: update lga\.$"):
        load_leaves(path)


@pytest.mark.parametrize("metadata", [None, {"format": "np"}, {tree_io.ENTRY: "no json"}, {tree_io.ENTRY: "[1]"}])
def test_a_foreign_file_is_told_apart(path, metadata):
    save_file(TENSORS, path, metadata=metadata)
    with pytest.raises(TreeFileError, match="was not written by lga"):
        load_leaves(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"path is '.*nowhere', but must be an existing file\."):
        load_leaves(tmp_path / "nowhere")


def test_a_write_that_fails_leaves_the_old_file_and_no_other(path, monkeypatch):
    before = path.read_bytes()

    def full_disk(descriptor):
        raise OSError("no space left")

    monkeypatch.setattr(files.os, "fsync", full_disk)
    with pytest.raises(OSError, match="no space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_nothing_in_the_package_can_unpickle_a_file():
    package = Path(lga.__file__).parent
    sources = {str(source.relative_to(package)): source.read_text() for source in package.rglob("*.py")}
    assert len(sources) > 20
    # Processes of one program send each other objectives: memory to memory, in a module that opens no file.
    sends = sources.pop("core/parcel.py")
    assert not re.search(r"pickle\.load\b|Unpickler|\bopen\(|\bread_|\bPath\b", sends)
    loads = re.compile(
        r"import pickle|pickle\.load|Unpickler|allow_pickle\s*=\s*True|torch\.load"
        r"|(import|from) (dill|cloudpickle|joblib)"
    )
    assert [name for name, text in sources.items() if loads.search(text)] == []


def test_differences_ignore_lists_for_tuples_and_know_nan():
    before, now = {"a": (1, 2), "b": 3, "c": float("nan")}, {"a": [1, 2], "b": 4, "c": float("nan")}
    assert tree_io.differences(before, now) == {"b": (3, 4)}


def test_leaves_of_another_shape_do_not_fill_a_tree():
    with pytest.raises(ValueError, match=r"the leaves are a \[2\], but must be a \[3\]"):
        tree_io.filled({"a": np.zeros(3)}, {"a": np.zeros(2)})
