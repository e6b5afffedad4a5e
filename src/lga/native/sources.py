"""What the library is built from. `setup.py` runs this file alone, so it imports nothing of lga."""

import hashlib
from pathlib import Path

FOLDER = Path(__file__).parent
SOURCES = ("kernels.h", "vector.h", "threefry.h", "kernels.cc", "handlers.cc")


def source_digest() -> str:
    """The library carries it, so that one that is older than its sources is noticed."""
    return hashlib.sha256(b"".join((FOLDER / name).read_bytes() for name in SOURCES)).hexdigest()[:16]
