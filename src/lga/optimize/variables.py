"""Objectives that want more than numbers: names, further arguments. Workers import this: no JAX here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lga.core.checks import require


@dataclass(frozen=True)
class Integer:
    """A variable that is a whole number."""

    low: int
    high: int
    log: bool = False


@dataclass(frozen=True)
class Log:
    """A variable that is searched in its logarithm."""

    low: float
    high: float


@dataclass(frozen=True)
class Names:
    """The variables in their order; those that are one of several things have a list of these, others None."""

    names: tuple[str, ...]
    integer: tuple[bool, ...]
    things: tuple[tuple[Any, ...] | None, ...]

    def by_name(self, x: Any) -> dict[str, Any]:
        """Numbers of Python's own kinds, and things themselves."""
        rows = zip(self.names, self.integer, self.things, np.asarray(x).tolist(), strict=True)
        return {name: shown(whole, things, value) for name, whole, things, value in rows}

    def numbers(self, given: Any) -> list[float]:
        """The other way: a point that is given by name."""
        require(
            isinstance(given, Mapping) and set(given) == set(self.names),
            f"x0 is {given!r}, but must be a dictionary with a value for each of: {', '.join(self.names)}.",
        )
        return [
            float(given[name]) if things is None else place_of(name, things, given[name])
            for name, things in zip(self.names, self.things, strict=True)
        ]


def shown(whole: bool, things: tuple[Any, ...] | None, value: float) -> Any:
    if things is not None:
        return things[int(value)]
    return int(value) if whole else value


def place_of(name: str, things: tuple[Any, ...], thing: Any) -> float:
    require(thing in things, f"x0 has {thing!r} for {name}, but that must be one of: {', '.join(map(str, things))}.")
    return float(things.index(thing))


class ByName:
    """An objective of a dictionary, for a search that has numbers."""

    def __init__(self, fun: Callable[[dict[str, Any]], Any], names: Names):
        self.fun, self.names = fun, names

    def __call__(self, x: Any) -> Any:
        return self.fun(self.names.by_name(x))


class WithArgs:
    """An objective of a point and further arguments."""

    def __init__(self, fun: Any, args: tuple[Any, ...]):
        self.fun, self.args = fun, args

    def __call__(self, x: Any) -> Any:
        return self.fun(x, *self.args)


def parse(bounds: Mapping[str, Any]) -> tuple[Names, dict[str, Any]]:
    """The names, and the options of a search that has numbers in their order."""
    require(len(bounds) > 0, "bounds is an empty dictionary, but there must be at least one variable.")
    kinds = {name: kind_of(name, given) for name, given in bounds.items()}
    names = Names(
        tuple(map(str, kinds)),
        tuple(kind["integer"] for kind in kinds.values()),
        tuple(kind["things"] for kind in kinds.values()),
    )
    rows = kinds.values()
    return names, {
        "bounds": [row["ends"] for row in rows],
        "integrality": [row["integer"] for row in rows],
        "log_scale": [row["log"] for row in rows],
        "categories": [row["things"] is not None and len(row["things"]) > 2 for row in rows],
        "names": list(names.names),
    }


def kind_of(name: str, given: Any) -> dict[str, Any]:
    if isinstance(given, Integer):
        return {"ends": (given.low, given.high), "integer": True, "log": given.log, "things": None}
    if isinstance(given, Log):
        return {"ends": (given.low, given.high), "integer": False, "log": True, "things": None}
    if isinstance(given, tuple) and len(given) == 2:
        return {"ends": given, "integer": False, "log": False, "things": None}
    require(
        isinstance(given, list) and len(given) > 0,
        f"bounds of {name!r} is {given!r}, but must be a pair (low, high), an Integer(low, high), a Log(low, high) or "
        "a list of things to choose from.",
    )
    return {"ends": (0, len(given) - 1), "integer": True, "log": False, "things": tuple(given)}
