"""Errors that name the argument, its value and what is allowed."""

from collections.abc import Iterable


def require(condition: bool, sentence: str) -> None:
    if not condition:
        raise ValueError(sentence)


def require_known(argument: str, value: str, allowed: Iterable[str]) -> None:
    names = sorted(allowed)
    require(value in names, f"{argument} is {value!r}, but must be one of: {', '.join(names)}.")


def require_positive_integer(argument: str, value: int) -> None:
    require(
        isinstance(value, int) and not isinstance(value, bool) and value >= 1,
        f"{argument} is {value!r}, but must be a whole number of at least 1.",
    )
