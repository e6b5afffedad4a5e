"""These tests need the compiled kernels, and say so where they are missing."""

import os
from pathlib import Path

import pytest

from lga.native import library

# Another build of the same sources, as the tests with sanitizers make one.
if given := os.environ.get("LGA_TESTED_LIBRARY"):
    library.LIBRARY = Path(given)


@pytest.fixture(scope="session", autouse=True)
def _kernels():
    try:
        library.load()
    except library.KernelUnavailableError as error:
        pytest.skip(f"the native kernels are not there: {error}")


def instruction_sets() -> list[str]:
    try:
        load = library.load()
    except library.KernelUnavailableError:
        return ["none"]
    before = load.lga_instruction_set()
    known = [name for name in ("avx512", "avx2", "baseline") if load.lga_use_instruction_set(name.encode())]
    load.lga_use_instruction_set(before)
    return known


@pytest.fixture(params=instruction_sets())
def instruction_set(request):
    """Every instruction set that this processor has."""
    load = library.load()
    before = load.lga_instruction_set()
    load.lga_use_instruction_set(request.param.encode())
    yield request.param
    load.lga_use_instruction_set(before)
