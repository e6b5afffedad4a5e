"""What one BBOB task is made of."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from lga.core.tree import tree_dataclass


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


@jax.tree_util.register_static
@dataclass(frozen=True)
class Branches:
    """The functions and noise models that a task's indices choose from: static, part of the type of a task."""

    functions: tuple[str, ...]
    noise_models: tuple[str, ...]


@tree_dataclass
class Task:
    """One function with its optimum, rotations and noise model, padded to D >= `num_dims` coordinates.

    Tasks with the same branches have leaves of the same shapes, so they can be stacked.
    """

    function_index: Int[Array, "*tasks"]
    noise_index: Int[Array, "*tasks"]
    num_dims: Int[Array, "*tasks"]  # number of active coordinates
    ramp: Float[Array, "*tasks d"]
    x_opt: Float[Array, "*tasks d"]
    f_opt: Float[Array, "*tasks"]  # what COCO adds to the gap
    inner: Float[Array, "*tasks d d"]  # linear map before the nonlinear transformations
    outer: Float[Array, "*tasks d d"]  # linear map after them
    scale: Float[Array, "*tasks d"]  # conditioning of the coordinates
    peaks: Peaks
    branches: Branches

    @property
    def mask(self) -> Bool[Array, "d"]:
        """Which coordinates are active."""
        return jnp.arange(self.x_opt.shape[-1]) < self.num_dims
