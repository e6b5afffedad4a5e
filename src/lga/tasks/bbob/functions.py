"""The 24 noiseless BBOB functions, each as its gap f(x) - f_opt, and the table that describes them.

A gap is a function of the task and of `offset` = x - x_opt for a set of points, one per column, zero in padded
coordinates. Constants that BBOB's formulas add and subtract (10 D, 418.98, Weierstrass' f0, ...) are cancelled by hand,
so a gap keeps its relative precision near the optimum. A new function is one gap and one row of the table.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from lga.tasks.bbob import geometry
from lga.tasks.bbob.geometry import (
    PeakSet,
    condition,
    conditioned_rotated,
    constant,
    corners,
    first_and_others,
    per_dimension,
    rotated,
    rotated_conditioned_rotated,
    second_rotated,
    sign,
    stretched,
)
from lga.tasks.bbob.task import Frame, Task
from lga.tasks.bbob.transforms import asymmetric, log_abs, oscillate, sin, sin_pi, total

Offsets = Float[Array, "d n"]
Gaps = Float[Array, "n"]


def ripples(z: Float[Array, "d n"]) -> Float[Array, "d n"]:
    """Rastrigin's 10 (1 - cos(2 pi z))."""
    return 20 * sin_pi(z) ** 2


def over_pairs(task: Task, terms: Float[Array, "pairs n"]) -> Gaps:
    """The sum over neighbouring coordinates that are both active."""
    return total(jnp.where(task.mask[1:, None], terms, 0.0))


def rosenbrock_terms(w: Float[Array, "d n"]) -> Float[Array, "d-1 n"]:
    """100 (z_i^2 - z_{i+1})^2 + (z_i - 1)^2 with z = w + 1."""
    return 100 * (2 * w[:-1] + w[:-1] ** 2 - w[1:]) ** 2 + w[:-1] ** 2


def sphere(task: Task, offset: Offsets) -> Gaps:
    return total(offset**2)


def ellipsoid_separable(task: Task, offset: Offsets) -> Gaps:
    return task.scale @ oscillate(offset) ** 2


def rastrigin_separable(task: Task, offset: Offsets) -> Gaps:
    z = task.scale[:, None] * asymmetric(0.2, task.ramp, oscillate(offset))
    return total(z**2 + ripples(z))


def bueche_rastrigin(task: Task, offset: Offsets) -> Gaps:
    y = oscillate(offset)
    odd = (jnp.arange(y.shape[0]) % 2 == 0)[:, None]  # BBOB counts coordinates from one.
    z = task.scale[:, None] * jnp.where(odd & (y > 0), 10 * y, y)
    return total(z**2 + ripples(z))


def linear_slope(task: Task, offset: Offsets) -> Gaps:
    return task.scale @ jnp.maximum(-sign(task.x_opt)[:, None] * offset, 0.0)


def attractive_sector(task: Task, offset: Offsets) -> Gaps:
    z = task.inner @ offset
    s = jnp.where(z * task.x_opt[:, None] > 0, 100.0, 1.0)
    value = oscillate(total((s * z) ** 2))
    return value * jnp.exp(-0.1 * log_abs(value))  # value^0.9


def step_ellipsoid(task: Task, offset: Offsets) -> Gaps:
    z_hat = task.inner @ offset
    z_tilde = jnp.where(jnp.abs(z_hat) > 0.5, jnp.floor(z_hat + 0.5), jnp.floor(10 * z_hat + 0.5) / 10)
    z = task.outer @ z_tilde
    # The slope along the first coordinate is COCO's; ioh 0.3.22 is flat where all coordinates round to zero.
    return 0.1 * jnp.maximum(jnp.abs(z_hat[0]) / 1e4, task.scale @ z**2)


def rosenbrock(task: Task, offset: Offsets) -> Gaps:
    return over_pairs(task, rosenbrock_terms(task.scale[:, None] * offset))


def rosenbrock_rotated(task: Task, offset: Offsets) -> Gaps:
    return over_pairs(task, rosenbrock_terms(task.inner @ offset))


def ellipsoid(task: Task, offset: Offsets) -> Gaps:
    return task.scale @ oscillate(task.inner @ offset) ** 2


def bent_cigar(task: Task, offset: Offsets) -> Gaps:
    z = task.outer @ asymmetric(0.5, task.ramp, task.inner @ offset)
    return task.scale @ z**2


def sharp_ridge(task: Task, offset: Offsets) -> Gaps:
    z = task.inner @ offset
    return z[0] ** 2 + 100 * jnp.sqrt(total(z[1:] ** 2))


def different_powers(task: Task, offset: Offsets) -> Gaps:
    z = task.inner @ offset
    return jnp.sqrt(total(jnp.exp((2 + 4 * task.ramp)[:, None] * log_abs(z))))


def rastrigin(task: Task, offset: Offsets) -> Gaps:
    z = task.outer @ asymmetric(0.2, task.ramp, oscillate(task.inner @ offset))
    return total(z**2 + ripples(z))


def weierstrass(task: Task, offset: Offsets) -> Gaps:
    z = task.outer @ oscillate(task.inner @ offset)
    # 1 - cos(2 pi 3^k z) = 2 sin^2(pi 3^k z), and sin^2(3t) = sin^2(t) (3 - 4 sin^2(t))^2.
    square = sin_pi(z) ** 2
    waves = jnp.zeros_like(z)
    for k in range(12):
        waves += 2 * 0.5**k * square
        square = square * (3 - 4 * square) ** 2
    return 10 * (total(waves) / task.num_dims) ** 3


def schaffers_f7(task: Task, offset: Offsets) -> Gaps:
    z = task.outer @ asymmetric(0.5, task.ramp, task.inner @ offset)
    s = jnp.sqrt(z[:-1] ** 2 + z[1:] ** 2)
    waves = sin(50 * jnp.exp(0.2 * log_abs(s))) ** 2
    return (over_pairs(task, jnp.sqrt(s) * (1 + waves)) / (task.num_dims - 1)) ** 2


def griewank_rosenbrock(task: Task, offset: Offsets) -> Gaps:
    s = rosenbrock_terms(task.inner @ offset)
    return 10 * over_pairs(task, s / 4000 + 2 * sin(s / 2) ** 2) / (task.num_dims - 1)


SCHWEFEL_OPTIMUM = 4.2096874637 / 2


def schwefel(task: Task, offset: Offsets) -> Gaps:
    z_opt = 200 * SCHWEFEL_OPTIMUM
    r_opt = math.sqrt(z_opt)
    y = 2 * sign(task.x_opt)[:, None] * offset
    step = 100 * task.scale[:, None] * (y + 0.25 * jnp.concatenate([jnp.zeros_like(y[:1]), y[:-1]]))
    z = z_opt + step
    # z_opt sin(r_opt) - z sin(r) with r = r_opt + 2a = sqrt|z|, in terms of a, which is small near the optimum.
    a = 0.5 * jnp.where(z > 0, step, -step - 2 * z_opt) / (jnp.sqrt(jnp.abs(z)) + r_opt)
    sin_a, cos_a = sin(a), sin(a + math.pi / 2)
    sin_r = math.sin(r_opt) * (1 - 2 * sin_a**2) + math.cos(r_opt) * 2 * sin_a * cos_a
    cos_middle = math.cos(r_opt) * cos_a - math.sin(r_opt) * sin_a
    terms = -step * sin_r - 2 * z_opt * cos_middle * sin_a
    excess = jnp.maximum(jnp.abs(z) - 500, 0.0) ** 2
    return 0.01 * total(jnp.where(task.mask[:, None], terms / task.num_dims + excess, 0.0))


def gallagher(task: Task, offset: Offsets) -> Gaps:
    heights = task.peaks.heights[:, None]
    distances = (task.inner @ offset)[None, :, :] - task.peaks.centers[:, :, None]
    forms = jnp.sum(task.peaks.scales[:, :, None] * distances**2, axis=1)
    # 10 - height * exp(-q), without cancellation at the optimum, whose height is 10.
    gaps = (10 - heights) - heights * jnp.expm1(-0.5 * forms / task.num_dims)
    return oscillate(jnp.min(gaps, axis=0)) ** 2


def katsuura(task: Task, offset: Offsets) -> Gaps:
    z = task.inner @ offset
    ruggedness = jnp.zeros_like(z)
    for k in range(1, 33):
        multiple = 2.0**k * z
        ruggedness += jnp.abs(multiple - jnp.round(multiple)) / 2.0**k
    log_product = total(jnp.log1p(jnp.arange(1, z.shape[0] + 1)[:, None] * ruggedness))
    return 10 / task.num_dims**2 * jnp.expm1(10 / task.num_dims**1.2 * log_product)


def lunacek_bi_rastrigin(task: Task, offset: Offsets) -> Gaps:
    mu0 = 2.5
    s = 1 - 1 / (2 * jnp.sqrt(task.num_dims + 20.0) - 8.2)
    mu1 = -jnp.sqrt((mu0**2 - 1) / s)
    y = 2 * sign(task.x_opt)[:, None] * offset  # x_hat - mu0
    first = total(y**2)
    second = task.num_dims + s * total(jnp.where(task.mask[:, None], (y + mu0 - mu1) ** 2, 0.0))
    return jnp.minimum(first, second) + total(ripples(task.inner @ y))


class Function(NamedTuple):
    """One row of the table; `family` is the smallest of the paper's families that has it, None if it is held out."""

    id: int
    name: str
    group: str
    gap: Callable[[Task, Array], Array]
    family: str | None = None
    inner: Callable[[Frame], Any] | None = None
    outer: Callable[[Frame], Any] | None = None
    scale: Callable[[Frame], Any] | None = None
    penalty: Callable[[Any], Any] | None = None
    optimum: Callable[[Any], Any] = geometry.anywhere
    coco_optimum: Callable[[int, Frame], Any] = geometry.coco_box
    coco_seed: int | None = None
    peaks: PeakSet | None = None
    min_dims: int = 2


SEPARABLE = "separable"
MODERATE = "moderate"
ILL_CONDITIONED = "ill-conditioned"
MULTI_MODAL = "multi-modal"
WEAK_STRUCTURE = "weak structure"

_TABLE = (
    Function(1, "sphere", SEPARABLE, sphere, "small", min_dims=1),
    Function(2, "ellipsoid_separable", SEPARABLE, ellipsoid_separable, scale=condition(1e6)),
    Function(3, "rastrigin_separable", SEPARABLE, rastrigin_separable, scale=condition(10**0.5)),
    Function(
        4,
        "bueche_rastrigin",
        SEPARABLE,
        bueche_rastrigin,
        "large",
        scale=condition(10**0.5),
        penalty=constant(100.0),
        optimum=geometry.positive_odd_coordinates,
        coco_seed=3,
    ),
    Function(5, "linear_slope", SEPARABLE, linear_slope, scale=condition(10.0), optimum=corners(5.0)),
    Function(6, "attractive_sector", MODERATE, attractive_sector, "large", inner=rotated_conditioned_rotated(10.0)),
    Function(
        7,
        "step_ellipsoid",
        MODERATE,
        step_ellipsoid,
        inner=conditioned_rotated(10.0),
        outer=rotated,
        scale=condition(100.0),
        penalty=constant(1.0),
    ),
    Function(
        8,
        "rosenbrock",
        MODERATE,
        rosenbrock,
        "medium",
        scale=geometry.stretch,
        coco_optimum=geometry.coco_three_quarters,
    ),
    Function(
        9, "rosenbrock_rotated", MODERATE, rosenbrock_rotated, inner=stretched, coco_optimum=geometry.coco_unit_point
    ),
    Function(10, "ellipsoid", ILL_CONDITIONED, ellipsoid, inner=rotated, scale=condition(1e6)),
    Function(11, "discus", ILL_CONDITIONED, ellipsoid, "medium", inner=rotated, scale=first_and_others(1e6, 1.0)),
    Function(
        12,
        "bent_cigar",
        ILL_CONDITIONED,
        bent_cigar,
        inner=rotated,
        outer=rotated,
        scale=first_and_others(1.0, 1e6),
        coco_optimum=geometry.coco_bent_cigar,
    ),
    Function(13, "sharp_ridge", ILL_CONDITIONED, sharp_ridge, inner=rotated_conditioned_rotated(10.0)),
    Function(14, "different_powers", ILL_CONDITIONED, different_powers, inner=rotated),
    Function(15, "rastrigin", MULTI_MODAL, rastrigin, "medium", inner=rotated, outer=rotated_conditioned_rotated(10.0)),
    Function(
        16,
        "weierstrass",
        MULTI_MODAL,
        weierstrass,
        "large",
        inner=rotated,
        outer=rotated_conditioned_rotated(0.01),
        penalty=per_dimension(10.0),
    ),
    Function(
        17,
        "schaffers_f7",
        MULTI_MODAL,
        schaffers_f7,
        "large",
        inner=rotated,
        outer=conditioned_rotated(10.0),
        penalty=constant(10.0),
    ),
    Function(
        18,
        "schaffers_f7_ill_conditioned",
        MULTI_MODAL,
        schaffers_f7,
        inner=rotated,
        outer=conditioned_rotated(1000.0),
        penalty=constant(10.0),
        coco_seed=17,
    ),
    Function(
        19,
        "griewank_rosenbrock",
        MULTI_MODAL,
        griewank_rosenbrock,
        "large",
        inner=stretched,
        coco_optimum=geometry.coco_unit_point,
    ),
    Function(
        20,
        "schwefel",
        WEAK_STRUCTURE,
        schwefel,
        "medium",
        scale=condition(10**0.5),
        optimum=corners(SCHWEFEL_OPTIMUM),
        coco_optimum=geometry.coco_uniform_signs,
    ),
    Function(
        21,
        "gallagher_101",
        WEAK_STRUCTURE,
        gallagher,
        inner=second_rotated,
        penalty=constant(1.0),
        coco_optimum=geometry.coco_first_peak(10.0),
        peaks=PeakSet(count=101, width=10.0, condition=1000**0.5),
    ),
    Function(
        22,
        "gallagher_21",
        WEAK_STRUCTURE,
        gallagher,
        inner=second_rotated,
        penalty=constant(1.0),
        coco_optimum=geometry.coco_first_peak(9.8),
        peaks=PeakSet(count=21, width=9.8, condition=1000.0),
    ),
    Function(
        23,
        "katsuura",
        WEAK_STRUCTURE,
        katsuura,
        inner=rotated_conditioned_rotated(100.0),
        penalty=constant(1.0),
    ),
    Function(
        24,
        "lunacek_bi_rastrigin",
        WEAK_STRUCTURE,
        lunacek_bi_rastrigin,
        inner=rotated_conditioned_rotated(100.0),
        penalty=constant(1e4),
        optimum=corners(1.25),
        coco_optimum=geometry.coco_normal_signs,
    ),
)
FUNCTIONS: dict[str, Function] = {function.name: function for function in _TABLE}
