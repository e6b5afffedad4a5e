"""Tables as pages hold them."""

from collections.abc import Iterable


def markdown_table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [header, ["---" for _ in header], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
