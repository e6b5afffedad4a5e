"""The table of all tasks, for listings and for tests that walk it."""

from typing import NamedTuple

from lga.tasks import bbob


class Row(NamedTuple):
    """One line of `lga tasks list`."""

    name: str
    benchmark: str
    number: int
    group: str
    families: tuple[str, ...]
    split: str  # "train" or "hold-out"


def rows() -> list[Row]:
    return [
        Row(
            name=function.name,
            benchmark="bbob",
            number=function.id,
            group=function.group,
            families=tuple(family for family, names in bbob.FAMILIES.items() if function.name in names),
            split="train" if function.name in bbob.FAMILIES["large"] else "hold-out",
        )
        for function in bbob.FUNCTIONS.values()
    ]


def row(name: str) -> Row:
    """The row of one task, by name or by number."""
    for candidate in rows():
        if name in (candidate.name, str(candidate.number)):
            return candidate
    raise ValueError(
        f"name must be one of {[candidate.name for candidate in rows()]} or a number of theirs, not {name!r}."
    )
