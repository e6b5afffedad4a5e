"""Trees of arrays as one vector: what goes to a compiled program and comes from it."""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import numpy as np

from lga.optimize.bounds import PRECISION

Shapes = tuple[tuple[tuple[int, ...], np.dtype], ...]


LEAF = jax.tree.structure(0)


class Place(NamedTuple):
    """Where in a vector the numbers of an array are."""

    begin: int
    end: int
    shape: tuple[int, ...]
    kind: np.dtype


class Form:
    """A kind of tree: its structure, and the shapes and types of its arrays. There is one object for each."""

    def __init__(self, tree: Any, shapes: Shapes):
        ends = np.cumsum([0, *(math.prod(shape) for shape, _ in shapes)]).tolist()
        self.tree, self.size = tree, ends[-1]
        self.shapes = shapes
        self.places = [Place(*rest) for rest in zip(ends[:-1], ends[1:], *zip(*shapes, strict=True), strict=True)]

    def __str__(self) -> str:
        return f"{self.tree} {self.shapes}"


@lru_cache(maxsize=1024)
def form(tree: Any, shapes: Shapes) -> Form:
    return Form(tree, shapes)


def form_of(tree: Any) -> Form:
    leaves, structure = jax.tree.flatten(tree)
    return form(structure, tuple((np.shape(leaf), np.dtype(leaf.dtype)) for leaf in leaves))


def packed(tree: Any) -> tuple[np.ndarray, Form]:
    if type(tree) is np.ndarray:
        return tree.ravel().astype(PRECISION), form(LEAF, ((tree.shape, tree.dtype),))
    leaves, structure = jax.tree.flatten(tree)
    arrays = [np.asarray(leaf) for leaf in leaves]
    own = form(structure, tuple((array.shape, array.dtype) for array in arrays))
    return np.concatenate([np.zeros(0), *(array.ravel() for array in arrays)], dtype=PRECISION), own


def unpacked(own: Form, numbers: Any) -> Any:
    """The tree of arrays, of NumPy or of JAX as the vector is. Those of the vector's own type are views of it."""
    arrays = (numbers[begin:end].reshape(shape) for begin, end, shape, _ in own.places)
    pairs = zip(arrays, own.places, strict=True)
    same = numbers.dtype
    leaves = [array if place.kind == same else array.astype(place.kind) for array, place in pairs]
    return jax.tree.unflatten(own.tree, leaves)


def split_at(numbers: Any, forms: Sequence[Form]) -> list[Any]:
    """The vectors that were put together, one for each form."""
    ends = [0]
    for own in forms:
        ends.append(ends[-1] + own.size)
    return [numbers[begin:end] for begin, end in pairwise(ends)]


class Recent:
    """The vectors of the trees that came last from the programs of a search: most go into the next as they are."""

    def __init__(self):
        self.trees: tuple[tuple[Any, tuple[np.ndarray, Form]], ...] = ()

    def packed(self, tree: Any) -> tuple[np.ndarray, Form]:
        for one, known in self.trees:
            if one is tree:
                return known
        return packed(tree)

    def kept(self, vectors: Sequence[tuple[np.ndarray, Form]]) -> tuple[Any, ...]:
        trees = tuple(self.unpacked(*vector) for vector in vectors)
        self.trees = tuple(zip(trees, vectors, strict=True))
        return trees

    def unpacked(self, numbers: np.ndarray, own: Form) -> Any:
        """A tree that went in and came out as it was is the same one."""
        for tree, (before, form_before) in self.trees:
            if form_before is own and before.tobytes() == numbers.tobytes():
                return tree
        return unpacked(own, numbers)
