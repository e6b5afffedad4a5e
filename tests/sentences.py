"""Errors as users meet them: in tests jaxtyping checks shapes and types before our own checks do, so a process without
it is asked."""

import subprocess
import sys
from collections.abc import Sequence

PROGRAM = """
{preparation}
cases = [
{cases}
]
for case in cases:
    try:
        case()
        print("no error")
    except ValueError as error:
        print(str(error).replace(chr(10), " | "))
"""


def sentences_of(preparation: str, cases: Sequence[str]) -> list[str]:
    """What each of the expressions is answered with."""
    lines = "\n".join(f"    lambda: {code}," for code in cases)
    program = PROGRAM.replace("{preparation}", preparation).replace("{cases}", lines)
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.splitlines()


def assert_clear(sentence: str, expected: str) -> None:
    assert expected in sentence
    assert sentence.endswith(".")
    assert "|" not in sentence
