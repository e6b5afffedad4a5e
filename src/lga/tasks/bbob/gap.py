"""The scale that gaps are compared on: orders of magnitude, down to COCO's last target."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

SMALLEST_GAP = 1e-8


def log10_gap(gaps: Any, floor: float = SMALLEST_GAP) -> Any:
    """log10 of gaps; those below the floor count as the floor. NumPy's arrays stay NumPy's, JAX's stay JAX's."""
    numpy = jnp if isinstance(gaps, jax.Array) else np
    return numpy.log10(numpy.maximum(gaps, floor))
