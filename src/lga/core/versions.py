"""Which versions an outcome was computed with."""

import platform
from importlib.metadata import version

PACKAGES = ("lga", "jax", "jaxlib", "numpy", "scipy")


def versions() -> dict[str, str]:
    return {"python": platform.python_version()} | {name: version(name) for name in PACKAGES}
