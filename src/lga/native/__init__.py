"""C++ kernels for the hot path on CPUs, and the choice between them and their JAX twins.

The lowest room: it knows arrays, not archives or operators.
"""

from lga.native.calls import (
    MOST_KEYS,
    adapt,
    bend,
    blend,
    convolve,
    fold_in,
    mutate,
    rate,
    sample,
    select,
    split,
    survive,
    uniform,
)
from lga.native.dispatch import THREEFRY, draws_numbers_of, with_kernel
from lga.native.library import KernelUnavailableError, Status, status

__all__ = [
    "MOST_KEYS",
    "THREEFRY",
    "KernelUnavailableError",
    "Status",
    "adapt",
    "bend",
    "blend",
    "convolve",
    "draws_numbers_of",
    "fold_in",
    "mutate",
    "rate",
    "sample",
    "select",
    "split",
    "status",
    "survive",
    "uniform",
    "with_kernel",
]
