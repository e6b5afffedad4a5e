"""Weights of small networks, to be fitted to random curves: what neuroevolution looks like, in few variables.

A task is a smooth curve of one variable, at random points. Solutions are the weights of a network with one hidden
layer; a value is the mean squared error, which is 1 for a network that always says the mean.
"""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from lga.core.tree import tree_dataclass

NUM_POINTS = 24
NUM_WAVES = 6


@tree_dataclass
class CurveTask:
    inputs: Float[Array, "*tasks p"]
    targets: Float[Array, "*tasks p"]
    blank: Float[Array, "*tasks d"]
    """As many zeros as there are weights: a task knows how long its solutions are."""


def num_hidden(num_dims: int) -> int:
    """Hidden units of the largest network with at most so many weights: in, bias and out for each, and one bias."""
    return max((num_dims - 1) // 3, 1)


def sample_curve(key: Key[Array, ""], num_dims: int) -> CurveTask:
    key_inputs, key_phases, key_heights = jax.random.split(key, 3)
    inputs = jnp.sort(jax.random.uniform(key_inputs, (NUM_POINTS,), minval=-1.0, maxval=1.0))
    frequencies = jnp.arange(1, NUM_WAVES + 1) * (0.5 * math.pi)
    heights = jax.random.normal(key_heights, (NUM_WAVES,)) / frequencies
    phases = jax.random.uniform(key_phases, (NUM_WAVES,), maxval=2.0 * math.pi)
    waves = jnp.cos(inputs[:, None] * frequencies[None, :] + phases[None, :])
    curve = jnp.matmul(waves, heights, precision="highest")
    return CurveTask(inputs, (curve - jnp.mean(curve)) / jnp.std(curve), jnp.zeros(num_dims))


def observe_curve(
    key: Key[Array, ""], task: CurveTask, solutions: Float[Array, "n d"]
) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    hidden = num_hidden(solutions.shape[1])
    slope, shift, height = (solutions[:, part * hidden : (part + 1) * hidden] for part in range(3))
    units = jnp.tanh(slope[:, None, :] * task.inputs[None, :, None] + shift[:, None, :])
    said = jnp.sum(units * height[:, None, :], axis=-1) + solutions[:, -1:]
    error = jnp.mean((said - task.targets[None, :]) ** 2, axis=1)
    return error, error
