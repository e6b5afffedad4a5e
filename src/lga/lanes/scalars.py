"""Straight-line programs of scalars: what the compiler of lanes sees when all arrays are taken apart.

A scalar is a `Scalar`, known when the program runs, or a NumPy number, known already; arrays are NumPy's, of either.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

KINDS = {"f": np.float32, "i": np.int32, "u": np.uint32, "b": np.bool_}
"""By letter: float, signed and unsigned whole number, truth value."""


class LanesUnavailableError(RuntimeError):
    """A program of lanes cannot be made; the message says why."""


@dataclass(frozen=True, slots=True)
class Scalar:
    number: int
    kind: str


@dataclass
class Operation:
    """One line: `result = name(arguments)`."""

    name: str
    result: Scalar
    arguments: tuple[Any, ...]


@dataclass
class Loop:
    """The body, so many times, or while a carried truth value holds for any lane.

    What is carried has a name before and after it, and a value at its end.
    """

    length: int | None
    going: Scalar | None
    carried: list[Scalar]
    begin: list[Any]
    body: "Block"
    end: list[Any]


@dataclass
class Memory:
    """Numbers that lie end to end in an array of the program's, from some place on."""

    name: str
    start: int


@dataclass
class Call:
    """A function of arrays: each is a place in memory, or scalars that are put into memory before."""

    name: str
    results: list[Scalar]
    arrays: list[Memory | list[Any]]
    settings: tuple[int, ...]


Line = Operation | Loop | Call


@dataclass
class Block:
    lines: list[Line] = field(default_factory=list)
    known: dict[tuple, Scalar] = field(default_factory=dict)
    """Operations of this block and of those around it, so that none is done twice."""


class Program:
    """Lines are written at the end of the innermost open block."""

    def __init__(self) -> None:
        self.blocks = [Block()]
        self.count = 0
        self.loads: dict[Scalar, tuple[str, int]] = {}
        """Where scalars lie that are as they came."""

    def new(self, kind: str) -> Scalar:
        self.count += 1
        return Scalar(self.count, kind)

    def apply(self, name: str, kind: str, *arguments: Any) -> Scalar:
        """The result of an operation: a new line, unless the same one was written before."""
        asked = (name, kind, *((each if isinstance(each, Scalar) else constant_key(each)) for each in arguments))
        for block in self.blocks:
            if asked in block.known:
                return block.known[asked]
        result = self.new(kind)
        self.blocks[-1].known[asked] = result
        self.blocks[-1].lines.append(Operation(name, result, arguments))
        return result

    def load(self, kind: str, name: str, place: int) -> Scalar:
        """A word of one of the program's arrays."""
        scalar = self.apply(f"{kind}_word_{name}", kind, np.int32(place))
        self.loads[scalar] = (name, place)
        return scalar

    def loop(self, length: int | None, begin: list[Any], kinds: list[str], body: Any) -> list[Scalar]:
        """`body` maps what is carried to what is carried on. Without a length, the last of it says who goes on."""
        carried = [self.new(kind) for kind in kinds]
        self.blocks.append(Block())
        end = body(carried)
        block = self.blocks.pop()
        going = carried[-1] if length is None else None
        self.blocks[-1].lines.append(Loop(length, going, carried, begin, block, end))
        return carried

    def call(self, name: str, kinds: list[str], arrays: list[Memory | list[Any]], *settings: int) -> list[Scalar]:
        results = [self.new(kind) for kind in kinds]
        self.blocks[-1].lines.append(Call(name, results, arrays, settings))
        return results


def constant_key(value: Any) -> tuple[str, bytes]:
    return kind_of(value), np.asarray(value).tobytes()


def kind_of(value: Any) -> str:
    if isinstance(value, Scalar):
        return value.kind
    return kind_of_type(np.asarray(value).dtype)


def kind_of_type(dtype: Any) -> str:
    for kind, numpy_type in KINDS.items():
        if dtype == numpy_type:
            return kind
    raise LanesUnavailableError(f"lanes have no values of type {dtype}.")


def live_lines(lines: list[Line], wanted: set[int]) -> list[Line]:
    """Those that the wanted scalars depend on, in their order; `wanted` grows by what they need from before."""
    kept: list[Line] = []
    for line in reversed(lines):
        if isinstance(line, Operation):
            if line.result.number in wanted:
                wanted.update(numbers(line.arguments))
                kept.append(line)
        elif isinstance(line, Call):
            if any(scalar.number in wanted for scalar in line.results):
                wanted.update(number for array in line.arrays if isinstance(array, list) for number in numbers(array))
                kept.append(line)
        elif any(scalar.number in wanted for scalar in line.carried):
            kept.append(live_loop(line, wanted))
    return kept[::-1]


def live_loop(loop: Loop, wanted: set[int]) -> Loop:
    """Without what is carried for nobody: neither wanted after the loop nor needed by what is."""
    needed = {scalar.number for scalar in loop.carried if scalar.number in wanted or scalar == loop.going}
    while True:
        rows = [row for row, scalar in enumerate(loop.carried) if scalar.number in needed]
        inside = set(numbers(loop.end[row] for row in rows))
        body = live_lines(loop.body.lines, inside)
        more = {scalar.number for scalar in loop.carried if scalar.number in inside} - needed
        if not more:
            break
        needed |= more
    wanted |= inside | set(numbers(loop.begin[row] for row in rows))
    carried, begin, end = ([part[row] for row in rows] for part in (loop.carried, loop.begin, loop.end))
    return Loop(loop.length, loop.going, carried, begin, Block(body), end)


def numbers(values: Any) -> list[int]:
    return [value.number for value in values if isinstance(value, Scalar)]
