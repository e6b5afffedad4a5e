"""What one BBOB task is made of."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array


class Frame(NamedTuple):
    """What the maps of a function are built from. Arrays are NumPy's for COCO instances, JAX's for random tasks."""

    R: Any  # [D, D] rotation, zero outside of the active block
    Q: Any  # [D, D] a second, independent rotation
    ramp: Any  # [D] (i - 1) / (d - 1) for i = 1..d, then zero
    stretch: Any  # [] max(1, sqrt(d) / 8), the scale of the Rosenbrock functions


class Peaks(NamedTuple):
    """The peaks of Gallagher's functions; the first is the optimum. Families without such functions have none."""

    centers: Any  # [P, D] rotated, relative to the rotated optimum
    scales: Any  # [P, D] diagonals of the peaks' quadratic forms
    heights: Any  # [P] 10 for the optimum, zero for absent peaks


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Task:
    """One function with its optimum, rotations and noise model, padded to D >= `num_dims` coordinates.

    All tasks of a family have leaves of the same shapes, so they can be stacked. `family` and `noise_models` are static:
    they name the branches that `function_index` and `noise_index` choose from.
    """

    function_index: Array  # [] into `family`
    noise_index: Array  # [] into `noise_models`
    num_dims: Array  # [] number of active coordinates
    ramp: Array  # [D]
    x_opt: Array  # [D]
    f_opt: Array  # [] what COCO adds to the gap
    inner: Array  # [D, D] linear map before the nonlinear transformations
    outer: Array  # [D, D] linear map after them
    scale: Array  # [D] conditioning of the coordinates
    peaks: Peaks
    family: tuple[str, ...] = field(metadata={"static": True})
    noise_models: tuple[str, ...] = field(metadata={"static": True})

    @property
    def mask(self) -> Array:
        """[D] which coordinates are active."""
        return jnp.arange(self.x_opt.shape[-1]) < self.num_dims
