"""The peaks of Gallagher's functions, as COCO places them and at random."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key
from numpy import ndarray

from lga.tasks.bbob import coco
from lga.tasks.bbob.geometry import PeakSet
from lga.tasks.bbob.task import Peaks

LARGEST_CONDITION = 1000.0


def no_peaks(max_dims: int) -> Peaks:
    return Peaks(np.zeros((0, max_dims)), np.zeros((0, max_dims)), np.zeros(0))


def coco_peaks(peak_set: PeakSet, seed: int, rotation: Float[ndarray, "d d"], x_opt: Float[ndarray, "d"]) -> Peaks:
    count, num_dims = peak_set.count, len(x_opt)
    level = np.argsort(coco.uniform_numbers(count - 1, seed), kind="stable") / (count - 2)
    conditions = np.append(peak_set.condition, LARGEST_CONDITION**level)
    exponents = [
        np.argsort(coco.uniform_numbers(num_dims, seed + 1000 * peak), kind="stable") / (num_dims - 1) - 0.5
        for peak in range(count)
    ]
    positions = peak_set.width * (coco.uniform_numbers(count * num_dims, seed).reshape(count, num_dims) - 0.5)
    positions[0] = x_opt
    return Peaks(
        centers=(positions - x_opt) @ rotation.T,
        scales=conditions[:, None] ** np.array(exponents),
        heights=np.append(10.0, 1.1 + 8.0 * np.arange(count - 1) / (count - 2)),
    )


def random_ranks(key: Key[Array, ""], active: Bool[Array, "*shape"]) -> Int[Array, "*shape"]:
    """A random permutation of the ranks 0, 1, ... of the active entries along the last axis; the others come last."""
    draws = jnp.where(active, jax.random.uniform(key, active.shape), jnp.inf)
    return jnp.argsort(jnp.argsort(draws, axis=-1), axis=-1)


def random_peaks(
    key: Key[Array, ""],
    peak_sets: tuple[PeakSet, ...],
    index: Int[Array, ""],
    rotation: Float[Array, "d d"],
    x_opt: Float[Array, "d"],
    mask: Bool[Array, "d"],
) -> Peaks:
    """The peaks of `peak_sets[index]`, distributed as COCO's, padded to the largest set with peaks of height zero."""
    key_level, key_exponent, key_position = jax.random.split(key, 3)
    count, width, condition = jnp.array(peak_sets)[index]
    largest = max(peak_set.count for peak_set in peak_sets)
    others = jnp.arange(1, largest) < count
    active = jnp.broadcast_to(mask, (largest, len(mask)))

    level = random_ranks(key_level, others) / (count - 2)
    conditions = jnp.append(condition, LARGEST_CONDITION ** jnp.where(others, level, 0.0))
    exponents = random_ranks(key_exponent, active) / (jnp.sum(mask) - 1) - 0.5
    positions = width * (jax.random.uniform(key_position, (largest, len(mask))) - 0.5)
    positions = jnp.where(active, positions, 0.0).at[0].set(x_opt)
    return Peaks(
        centers=(positions - x_opt[None, :]) @ rotation.T,
        scales=jnp.where(active, conditions[:, None] ** exponents, 0.0),
        heights=jnp.append(10.0, jnp.where(others, 1.1 + 8.0 * jnp.arange(largest - 1) / (count - 2), 0.0)),
    )
