"""How the frame of a task (rotations, optimum) enters a function: linear maps, scales, optima and penalties.

Everything here works on NumPy arrays, for COCO instances in float64, and on JAX arrays, for random tasks.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lga.tasks.bbob import coco
from lga.tasks.bbob.task import Frame


def sign(x: Any) -> Any:
    """-1 or 1, never 0."""
    return 2.0 * (x >= 0) - 1.0


# Linear maps and scales.
def condition(number: float) -> Callable[[Frame], Any]:
    return lambda frame: number**frame.ramp


def first_and_others(first: float, others: float) -> Callable[[Frame], Any]:
    return lambda frame: np.where(np.arange(len(frame.ramp)) == 0, first, others) + 0.0 * frame.ramp


def rotated(frame: Frame) -> Any:
    return frame.R


def second_rotated(frame: Frame) -> Any:
    return frame.Q  # COCO draws the only rotation of some functions from the seed of Q.


def stretched(frame: Frame) -> Any:
    return frame.stretch * frame.Q


def stretch(frame: Frame) -> Any:
    return frame.stretch + 0.0 * frame.ramp


def conditioned_rotated(number: float) -> Callable[[Frame], Any]:
    """Lambda^number Q."""
    return lambda frame: (number ** (frame.ramp / 2))[:, None] * frame.Q


def rotated_conditioned_rotated(number: float) -> Callable[[Frame], Any]:
    """R Lambda^number Q."""
    return lambda frame: frame.R @ conditioned_rotated(number)(frame)


# Where the optimum may lie, given a point of the box, and which point COCO takes.
def anywhere(x: Any) -> Any:
    return x


def corners(radius: float) -> Callable[[Any], Any]:
    return lambda x: radius * sign(x)


def positive_odd_coordinates(x: Any) -> Any:
    odd = np.arange(x.shape[0]) % 2 == 0
    return abs(x) * odd + x * ~odd


def coco_box(seed: int, frame: Frame) -> Any:
    return coco.box_optimum(seed, len(frame.ramp))


def coco_three_quarters(seed: int, frame: Frame) -> Any:
    return 0.75 * coco_box(seed, frame)


def coco_bent_cigar(seed: int, frame: Frame) -> Any:
    return coco_box(seed + 1000000, frame)


def coco_unit_point(seed: int, frame: Frame) -> Any:
    """Where stretch * Q x + 1/2 is one in all coordinates."""
    return frame.Q.T @ np.full(len(frame.ramp), 0.5) / frame.stretch


def coco_uniform_signs(seed: int, frame: Frame) -> Any:
    return coco.uniform_numbers(len(frame.ramp), seed) - 0.5


def coco_normal_signs(seed: int, frame: Frame) -> Any:
    return coco.normal_numbers(len(frame.ramp), seed)


def coco_first_peak(width: float) -> Callable[[int, Frame], Any]:
    return lambda seed, frame: 0.8 * width * coco_uniform_signs(seed, frame)


def constant(weight: float) -> Callable[[Any], Any]:
    return lambda num_dims: weight


def per_dimension(weight: float) -> Callable[[Any], Any]:
    return lambda num_dims: weight / num_dims


class PeakSet(NamedTuple):
    """Gallagher's peaks: how many, the width of their box, and the condition number of the highest."""

    count: int
    width: float
    condition: float
