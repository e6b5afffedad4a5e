"""Programs that an earlier process has traced.

To trace a function with JAX takes longer than many a search. What comes of it, a module of StableHLO, is kept in a file
of the user's cache, whose name is a digest of all that it depends on: our code, the versions and settings of JAX, the
algorithm, and the shapes of what goes in. A process that finds it has nothing to trace; one that does not runs the same
module all the same, so that a search never depends on what is found.
"""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import export

from lga.core.compile_cache import own_folder
from lga.core.tree import UnknownTreeError, from_outline, outline
from lga.core.tree_io import TreeFileError, digest, json_form, load_leaves, save_tree
from lga.native.library import HANDLERS, status

SOURCES = ("algorithms", "core", "native", "operators", "optimize")
"""The parts of the package that programs are made of."""
OWN_CALLS = [export.DisabledSafetyCheck.custom_call(f"lga_{name}") for name in HANDLERS]
"""Calls that JAX knows nothing of: what they do may change with our sources, which the name of a file depends on."""

Function = Callable[[Any, Any], tuple[Any, list[Any]]]
Traced = tuple[Callable[[Any, Any], Any], list[Any]]


def traced(
    function: Callable[[Any, Any], tuple[Any, list[Any]]],
    num_weights: int,
    num_numbers: int,
    key: dict[str, Any] | None,
) -> Traced:
    """A function of two vectors, traced: now, or by an earlier process.

    It returns a vector and the trees, of whatever arrays, that the vector is made of. Here these are shapes. What has
    no key is nobody else's.
    """
    own = {**(key or {}), "weights": num_weights, "numbers": num_numbers, **surroundings()}
    folder = None if key is None else own_folder("traced")
    path = None if folder is None else folder / f"{digest({}, json_form(own))}.safetensors"
    with jax.enable_x64(True):
        found = None if path is None else kept(path, num_weights, num_numbers)
        return found or traced_now(function, num_weights, num_numbers, path)


def traced_now(function: Function, num_weights: int, num_numbers: int, path: Path | None) -> Traced:
    trees: list[Any] = []

    def vector(weights, numbers):
        found, trees[:] = function(weights, numbers)
        return found

    exported = exported_of(vector, num_weights, num_numbers)
    results = [jax.eval_shape(lambda tree=tree: tree) for tree in trees]
    if path is not None:
        module = np.frombuffer(exported.mlir_module_serialized, np.uint8)
        size = exported.out_avals[0].shape[0]
        # A state that only its own algorithm knows, or a full disk: the next process has to trace it again.
        with suppress(UnknownTreeError, OSError):
            save_tree(path, {"module": module}, {"size": size, "results": [outline(tree) for tree in results]})
    return exported.call, results


def kept(path: Path, num_weights: int, num_numbers: int) -> Traced | None:
    """What a file holds; None if there is none, or a damaged one."""
    if not path.is_file():
        return None
    try:
        leaves, told = load_leaves(path)
        results = [from_outline(one) for one in told["results"]]
    except (TreeFileError, UnknownTreeError):
        return None

    # JAX's own files need one more package, so a program of the same name and shapes lends everything but its module.
    def vector(weights, numbers):
        return jnp.zeros(told["size"])

    lent = exported_of(vector, num_weights, num_numbers)
    return replace(lent, mlir_module_serialized=leaves["module"].tobytes()).call, results


def exported_of(function: Callable[[Any, Any], Any], num_weights: int, num_numbers: int) -> export.Exported:
    sizes = (jax.ShapeDtypeStruct((number,), np.float64) for number in (num_weights, num_numbers))
    return export.export(jax.jit(function, keep_unused=True), disabled_checks=OWN_CALLS)(*sizes)


@cache
def source_digest() -> str:
    """Of all that may have a say in what is traced."""
    root = Path(__file__).parents[1]
    sha = hashlib.sha256()
    for path in sorted(path for part in SOURCES for path in (root / part).glob("*.py")):
        sha.update(f"{path.relative_to(root)} {path.stat().st_size}\n".encode())
        sha.update(path.read_bytes())
    return sha.hexdigest()


def surroundings() -> dict[str, Any]:
    """What else the module depends on."""
    settings = {name: str(value) for name, value in jax.config.values.items()}
    return {
        "sources": source_digest(),
        "versions": [jax.__version__, version("jaxlib")],
        "platform": jax.default_backend(),
        "kernel": status().kernel,
        "settings": settings,
    }
