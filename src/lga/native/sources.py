"""What the library is built from. `setup.py` runs this file alone, so it imports nothing of lga."""

import hashlib
from pathlib import Path

FOLDER = Path(__file__).parent
# Arithmetic, compiled once for each instruction set.
KERNELS = "kernels.cc"
# What stands between it and XLA.
HANDLERS = ("instruction_sets.cc", "random_handlers.cc", "handlers.cc")
ARITHMETIC_HEADERS = ("vector.h", "threefry.h", "scratch.h", "products.h", "operator_features.h", "attention.h")
ARITHMETIC_HEADERS += ("selection.h", "readout.h", "blend.h", "mutation.h", "shape.h", "survival.h", "convolution.h")
HANDLER_HEADERS = ("instruction_sets.h", "shared_work.h", "operands.h")
SOURCES = ("kernels.h", *ARITHMETIC_HEADERS, KERNELS, *HANDLER_HEADERS, *HANDLERS)


def source_digest() -> str:
    """The library carries it, so that one that is older than its sources is noticed."""
    return hashlib.sha256(b"".join((FOLDER / name).read_bytes() for name in SOURCES)).hexdigest()[:16]
