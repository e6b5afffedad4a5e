"""Trees of arrays on disk: safetensors with a schema version, a description and a SHA-256. Nothing is ever unpickled.

A leaf goes by its path in the tree ("parents.fitness"), so a file says what it holds and any tree of the same shape can
be filled from it.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from lga.core.checks import require
from lga.core.files import write_atomically

SCHEMA_VERSION = 1
ENTRY = "lga"
Leaves = dict[str, np.ndarray]


class TreeFileError(ValueError):
    """A file that cannot be trusted or understood; the message says why."""


# Trees and their leaves.


def leaf_name(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".")


def named_leaves(tree: Any) -> Leaves:
    return {leaf_name(path): np.asarray(leaf) for path, leaf in jax.tree_util.tree_leaves_with_path(tree)}


def shapes(tree: Any) -> dict[str, tuple[int, ...]]:
    return {leaf_name(path): tuple(leaf.shape) for path, leaf in jax.tree_util.tree_leaves_with_path(tree)}


def filled(layout: Any, leaves: Leaves) -> Any:
    """The tree of that layout (arrays, or their shapes alone) with the given leaves, which must fit it."""
    found = {name: leaf.shape for name, leaf in leaves.items()}
    require(found == shapes(layout), f"the leaves are {summary(found)}, but must be {summary(shapes(layout))}.")
    return jax.tree_util.tree_map_with_path(lambda path, _: leaves[leaf_name(path)], layout)


def under(prefix: str, leaves: Leaves) -> Leaves:
    """The leaves of a branch, by their names within it."""
    start = f"{prefix}."
    return {name.removeprefix(start): leaf for name, leaf in leaves.items() if name.startswith(start)}


def summary(named_shapes: Mapping[str, tuple[int, ...]]) -> str:
    shown = [f"{name} {list(shape)}" for name, shape in sorted(named_shapes.items())]
    return ", ".join(shown[:6]) + (f" and {len(shown) - 6} more" if len(shown) > 6 else "") if shown else "none"


# Descriptions.


def json_form(settings: Any) -> Any:
    """Settings as they come back from a file's description: lists for tuples."""
    return json.loads(json.dumps(settings))


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Which settings differ, with both values; equal is what JSON writes alike (tuples are lists, NaN is itself)."""
    pairs = {name: (before.get(name), now.get(name)) for name in sorted(before.keys() | now.keys())}
    return {name: pair for name, pair in pairs.items() if json.dumps(pair[0]) != json.dumps(pair[1])}


def sentence(different: Mapping[str, tuple[Any, Any]]) -> str:
    return "; ".join(f"{name} was {old!r} and is {new!r} now" for name, (old, new) in different.items())


def digest(tree: Any, description: Mapping[str, Any] | None = None) -> str:
    """SHA-256 over names, types, shapes and bytes of all leaves, and over the description."""
    sha = hashlib.sha256(json.dumps(dict(description or {}), sort_keys=True).encode())
    for name, leaf in sorted(named_leaves(tree).items()):
        sha.update(f"{name} {leaf.dtype.str} {leaf.shape}".encode())
        sha.update(np.asarray(leaf, order="C").tobytes())
    return sha.hexdigest()


# Files.


def save_tree(path: str | Path, tree: Any, description: Mapping[str, Any]) -> str:
    """Writes the leaves with a JSON description and returns the SHA-256 that the file carries."""
    sha = digest(tree, description)
    # One entry: safetensors writes several in random order, and equal trees must make equal files.
    header = {"schema_version": SCHEMA_VERSION, "description": dict(description), "sha256": sha}
    contiguous = {name: np.asarray(leaf, order="C") for name, leaf in named_leaves(tree).items()}
    write_atomically(Path(path), save(contiguous, metadata={ENTRY: json.dumps(header, sort_keys=True)}))
    return sha


def load_leaves(path: str | Path) -> tuple[Leaves, dict[str, Any]]:
    """The named leaves of a file and their description, after all checks."""
    path = Path(path)
    require(path.is_file(), f"path is {str(path)!r}, but must be an existing file.")
    try:
        with safe_open(path, framework="numpy") as file:
            header = json.loads((file.metadata() or {})[ENTRY])
            # The version comes first: what else a newer file holds is not for us to read.
            version = int(header["schema_version"])
            if version > SCHEMA_VERSION:
                raise TreeFileError(
                    f"{path} has schema version {version}, but this lga reads versions up to {SCHEMA_VERSION}: "
                    "update lga."
                )
            leaves = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (the handle is no dict)
        description, expected = header["description"], header["sha256"]
    except TreeFileError:
        raise
    except KeyError as error:
        raise TreeFileError(f"{path} is damaged or was not written by lga: it has no {error} entry.") from error
    except (SafetensorError, TypeError, ValueError, OSError) as error:
        raise TreeFileError(f"{path} is damaged or was not written by lga: {error}.") from error
    if digest(leaves, description) != expected:
        raise TreeFileError(f"{path} is damaged: its content does not match its SHA-256 {expected[:12]}…")
    return leaves, description


def load_tree(path: str | Path, layout: Callable[[dict[str, Any]], Any]) -> tuple[Any, dict[str, Any]]:
    """The tree of a file and its description. `layout` says, from the description, which tree is expected."""
    leaves, description = load_leaves(path)
    try:
        return filled(layout(description), leaves), description
    except TreeFileError:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise TreeFileError(f"{path} does not hold what it should: {error}") from error
