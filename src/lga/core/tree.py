"""Frozen dataclasses that JAX sees as trees of arrays."""

from dataclasses import dataclass, fields
from typing import Any, TypeVar, dataclass_transform

import jax
import numpy as np

T = TypeVar("T")
TREES: dict[str, type] = {}
"""All such classes that were imported, by name."""


@dataclass_transform(frozen_default=True)
def tree_dataclass(cls: type[T]) -> type[T]:
    """A frozen dataclass whose fields are the children of a pytree node.

    JAX rebuilds trees with placeholders for leaves, so unflattening goes around `__init__`, where tests check shapes.
    """
    frozen = dataclass(frozen=True)(cls)
    names = tuple(field.name for field in fields(frozen))  # pyright: ignore[reportArgumentType]

    def flatten(node):
        return [getattr(node, name) for name in names], None

    def flatten_with_keys(node):
        return [(jax.tree_util.GetAttrKey(name), getattr(node, name)) for name in names], None

    def unflatten(_, children):
        node = object.__new__(frozen)
        for name, child in zip(names, children, strict=True):
            object.__setattr__(node, name, child)
        return node

    jax.tree_util.register_pytree_with_keys(frozen, flatten_with_keys, unflatten, flatten)
    TREES[name_of(frozen)] = frozen
    return frozen


def name_of(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


class UnknownTreeError(ValueError):
    """A tree of things that have no name here."""


def outline(tree: Any) -> Any:
    """What a tree is made of, as JSON holds it: shapes and types of its arrays, in tuples and in our own classes."""
    if tree is None:
        return None
    if hasattr(tree, "dtype"):
        return {"shape": list(tree.shape), "kind": np.dtype(tree.dtype).name}
    if type(tree) is tuple:
        return [outline(part) for part in tree]
    if TREES.get(name_of(type(tree))) is not type(tree):
        raise UnknownTreeError(f"{type(tree)} is no tree of ours.")
    parts = {field.name: outline(getattr(tree, field.name)) for field in fields(tree)}
    return {"class": name_of(type(tree)), "parts": parts}


def from_outline(told: Any) -> Any:
    """The tree, with shapes in place of arrays."""
    if told is None:
        return None
    if isinstance(told, list):
        return tuple(from_outline(part) for part in told)
    if "class" not in told:
        return jax.ShapeDtypeStruct(tuple(told["shape"]), np.dtype(told["kind"]))
    if told["class"] not in TREES:
        raise UnknownTreeError(f"{told['class']} is no tree of ours.")
    cls: Any = TREES[told["class"]]
    node = object.__new__(cls)
    for field in fields(cls):
        object.__setattr__(node, field.name, from_outline(told["parts"][field.name]))
    return node
