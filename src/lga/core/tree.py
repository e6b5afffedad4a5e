"""Frozen dataclasses that JAX sees as trees of arrays."""

from dataclasses import dataclass, fields
from typing import TypeVar, dataclass_transform

import jax

T = TypeVar("T")


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
    return frozen
