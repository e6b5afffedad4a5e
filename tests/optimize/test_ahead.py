"""Programs that an earlier process has traced are found, are the same, and are done without where they are damaged."""

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lga.core.compile_cache import SWITCH
from lga.core.population import Archive
from lga.core.tree import UnknownTreeError, from_outline, outline
from lga.optimize import ahead
from lga.optimize.packing import Recent, form_of, packed, unpacked

TREE = (Archive(jnp.zeros((3, 2)), jnp.ones(3), jnp.ones(3), jnp.arange(3)), None, jnp.zeros((), jnp.uint32))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(SWITCH, raising=False)
    return tmp_path / "lga" / "traced"


def doubled(weights, numbers):
    found = jnp.concatenate([2.0 * weights, numbers])
    return found, [(found[:1], None, found[1:])]


def never(weights, numbers):
    raise AssertionError("it was traced")


def ended(function, key):
    call, results = ahead.traced(function, 2, 3, key)
    with jax.enable_x64(True):
        return np.asarray(jax.jit(call)(np.arange(2.0), np.arange(3.0))), [form_of(tree) for tree in results]


def test_what_one_process_has_traced_another_need_not(folder):
    first, second = ended(doubled, {"name": "doubled"}), ended(never, {"name": "doubled"})
    np.testing.assert_array_equal(first[0], [0.0, 2.0, 0.0, 1.0, 2.0])
    np.testing.assert_array_equal(second[0], first[0])
    assert first[1] == second[1]


@pytest.mark.parametrize("other", [{"name": "other"}, None], ids=["another key", "no key"])
def test_something_else_is_traced(folder, other):
    ended(doubled, {"name": "doubled"})
    with pytest.raises(AssertionError, match="it was traced"):
        ended(never, other)


def test_a_damaged_file_is_made_anew(folder):
    ended(doubled, {"name": "doubled"})
    (path,) = folder.iterdir()
    path.write_bytes(path.read_bytes()[:-7] + b"damaged")
    with pytest.raises(AssertionError, match="it was traced"):
        ended(never, {"name": "doubled"})
    ended(doubled, {"name": "doubled"})
    ended(never, {"name": "doubled"})


def test_without_a_cache_nothing_is_written(folder, monkeypatch):
    monkeypatch.setenv(SWITCH, "0")
    ended(doubled, {"name": "doubled"})
    assert not folder.exists()


def test_a_state_that_has_no_name_here_is_not_kept(folder):
    ended(lambda weights, numbers: (numbers, [{"a": numbers}]), {"name": "nameless"})
    assert list(folder.iterdir()) == []


def test_outlines_hold_shapes_and_classes():
    found = from_outline(outline(TREE))
    assert form_of(found) is form_of(TREE)
    with pytest.raises(UnknownTreeError):
        from_outline({"class": "os.system", "parts": {}})


def test_packing_keeps_every_number():
    host = jax.device_get(TREE)
    numbers, form = packed(host)
    for one, other in zip(jax.tree.leaves(unpacked(form, numbers)), jax.tree.leaves(host), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def test_a_tree_that_comes_back_as_it_went_in_is_the_same_object():
    recent = Recent()
    vectors = packed(jax.device_get(TREE))
    (tree,) = recent.kept([vectors])
    assert recent.packed(tree) is vectors
    assert recent.kept([(vectors[0].copy(), vectors[1])])[0] is tree


@pytest.mark.parametrize("algorithm", ["lga", "cma_es", "samr_ga"])
def test_a_search_does_not_depend_on_what_is_found(tmp_path, algorithm):
    code = f"""
import lga
result = lga.minimize(lambda x: sum(x**4 - x), [(-5, 5)] * 3, max_evaluations=60, seed=1, algorithm={algorithm!r})
print(result.x.tobytes().hex(), result.population.tobytes().hex())
"""
    environments = [{"XDG_CACHE_HOME": str(tmp_path)}] * 2 + [{SWITCH: "0"}]
    told = [
        subprocess.run([sys.executable, "-c", code], env=os.environ | one, check=True, capture_output=True).stdout
        for one in environments
    ]
    assert told[0] == told[1] == told[2]
    assert any((tmp_path / "lga" / "traced").iterdir())
