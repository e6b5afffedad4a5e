"""Random functions in a box that look like the tuning of a model, though no model is behind them.

Variables are numbers, whole numbers or switches; some count for much, some for nothing, and the scale of some is bent.
A value is a sum of one valley for each variable, whose bottom may be flat and often lies on a wall, of waves that make
variables depend on each other, and of a cliff that some settings fall from. It is measured with noise, and counted in
steps, as accuracies are. The range of values, at random points, is about one.
"""

import math
from dataclasses import replace

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from lga.core.box import to_unit
from lga.core.random import standard_normal
from lga.core.tree import tree_dataclass

NUM_WAVES = 24
NUM_PROBES = 512
"""Random points that say what the range of a task's values is."""
EXPONENTS = (0.5, 1.0, 2.0)
FREQUENCIES = (2.0, 4.0, 8.0)
WAVE_SHARES = (0.2, 0.6, 1.5)
NOISES = (0.0, 0.01, 0.03)
STEPS = (30.0, 100.0, 1000.0)
SKEWS = (1.0, 1.5, 3.0)


@tree_dataclass
class TuningTask:
    levels: Float[Array, "*tasks d"]
    """Steps between the values that a variable may take: 1 for a switch, 0 for a number."""
    power: Float[Array, "*tasks d"]
    """How the scale of a variable is bent."""
    weight: Float[Array, "*tasks d"]
    centre: Float[Array, "*tasks d"]
    exponent: Float[Array, "*tasks d"]
    radius: Float[Array, "*tasks d"]
    waves: Float[Array, "*tasks w d"]
    phases: Float[Array, "*tasks w"]
    heights: Float[Array, "*tasks w"]
    cliff: Float[Array, "*tasks d"]
    """One for the variable that has it."""
    edge: Float[Array, "*tasks"]
    drop: Float[Array, "*tasks"]
    noise: Float[Array, "*tasks"]
    steps: Float[Array, "*tasks"]
    skew: Float[Array, "*tasks"]
    low: Float[Array, "*tasks"]
    high: Float[Array, "*tasks"]


def sample_tuning_task(key: Key[Array, ""], num_dims: int) -> TuningTask:
    (key_columns, key_valleys, key_waves, key_cliff, key_measure, key_probe) = jax.random.split(key, 6)
    levels, power = columns(key_columns, num_dims)
    weight, centre, exponent, radius = valleys(key_valleys, num_dims)
    waves, phases, heights = ripples(key_waves, weight)
    cliff, edge, drop = precipice(key_cliff, num_dims)
    key_noise, key_steps, key_skew = jax.random.split(key_measure, 3)
    task = TuningTask(
        *(levels, power, weight, centre, exponent, radius, waves, phases, heights, cliff, edge, drop),
        noise=one_of(key_noise, NOISES),
        steps=one_of(key_steps, STEPS),
        skew=one_of(key_skew, SKEWS),
        low=jnp.zeros(()),
        high=jnp.ones(()),
    )
    values = landscape(task, jax.random.uniform(key_probe, (NUM_PROBES, num_dims)))
    low, high = jnp.min(values), jnp.max(values)
    # A search that is any good goes below the best of the probes: there is room for it.
    low = low - 0.1 * (high - low)
    return replace(task, low=low, high=jnp.maximum(high, low + 1e-6))


def columns(key: Key[Array, ""], num_dims: int) -> tuple[Float[Array, " d"], Float[Array, " d"]]:
    key_kind, key_levels, key_bent, key_power = jax.random.split(key, 4)
    kind = jax.random.uniform(key_kind, (num_dims,))
    whole = jnp.round(jnp.exp(jax.random.uniform(key_levels, (num_dims,), minval=math.log(3.0), maxval=math.log(30.0))))
    # Few variables are hardly ever switches.
    switches = 0.35 if num_dims > 3 else 0.0
    levels = jnp.where(kind < switches, 1.0, jnp.where(kind < switches + 0.2, whole, 0.0))
    bent = jax.random.uniform(key_bent, (num_dims,)) < 0.4
    power = jnp.exp(-jnp.abs(standard_normal(key_power, 1, num_dims)[0]))
    return levels, jnp.where(bent, power, 1.0)


def valleys(key: Key[Array, ""], num_dims: int) -> tuple[Float[Array, " d"], ...]:
    key_weight, key_matters, key_centre, key_wall, key_exponent, key_radius, key_flat = jax.random.split(key, 7)
    matters = jax.random.uniform(key_matters, (num_dims,)) > 0.25
    weight = jnp.exp(1.2 * jax.random.normal(key_weight, (num_dims,))) * matters
    weight = weight / jnp.maximum(jnp.max(weight), 1e-6)
    wall, anywhere = (jax.random.uniform(k, (num_dims,)) for k in (key_wall, key_centre))
    centre = jnp.where(wall < 0.25, 0.0, jnp.where(wall < 0.5, 1.0, anywhere))
    exponent = jnp.asarray(EXPONENTS)[jax.random.randint(key_exponent, (num_dims,), 0, len(EXPONENTS))]
    flat = jax.random.uniform(key_flat, (num_dims,)) < 0.4
    return weight, centre, exponent, jnp.where(flat, 0.3 * jax.random.uniform(key_radius, (num_dims,)), 0.0)


def ripples(key: Key[Array, ""], weight: Float[Array, " d"]) -> tuple[Float[Array, "w d"], Array, Array]:
    key_waves, key_frequency, key_phases, key_heights, key_share = jax.random.split(key, 5)
    directions = jax.random.normal(key_waves, (NUM_WAVES, weight.shape[0]))
    waves = directions * weight[None, :] * one_of(key_frequency, FREQUENCIES)
    phases = jax.random.uniform(key_phases, (NUM_WAVES,), maxval=2.0 * math.pi)
    # Valleys of the variables that matter have a deviation of about a quarter.
    size = 0.25 * one_of(key_share, WAVE_SHARES) * jnp.sqrt(2.0 / NUM_WAVES)
    return waves, phases, size * jax.random.normal(key_heights, (NUM_WAVES,))


def precipice(key: Key[Array, ""], num_dims: int) -> tuple[Float[Array, " d"], Array, Array]:
    key_which, key_edge, key_there = jax.random.split(key, 3)
    cliff = jax.nn.one_hot(jax.random.randint(key_which, (), 0, num_dims), num_dims)
    edge = jax.random.uniform(key_edge, minval=0.6, maxval=0.95)
    return cliff, edge, jnp.where(jax.random.bernoulli(key_there), 0.75, 0.0)


def one_of(key: Key[Array, ""], values: tuple[float, ...]) -> Float[Array, ""]:
    return jnp.asarray(values)[jax.random.randint(key, (), 0, len(values))]


def landscape(task: TuningTask, points: Float[Array, "n d"]) -> Float[Array, " n"]:
    """Undisturbed values at points of the unit box."""
    # Rows of points meet one number for each variable.
    levels, centre, radius = task.levels[None, :], task.centre[None, :], task.radius[None, :]
    stepped = jnp.where(levels > 0.0, jnp.round(points * levels) / jnp.maximum(levels, 1.0), points)
    bent = stepped ** task.power[None, :]
    away = jnp.maximum(jnp.abs(bent - centre) - radius, 0.0) ** task.exponent[None, :]
    valley = jnp.matmul(away, task.weight, precision="highest") / jnp.maximum(jnp.linalg.norm(task.weight), 1e-6)
    angles = jnp.matmul(bent, task.waves.T, precision="highest") + task.phases[None, :]
    wave = jnp.matmul(jnp.cos(angles), task.heights, precision="highest")
    fallen = jnp.matmul(bent, task.cliff, precision="highest") > task.edge
    return valley + wave + jnp.where(fallen, task.drop, 0.0)


def observe_tuning(
    key: Key[Array, ""], task: TuningTask, solutions: Float[Array, "n d"]
) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    """The true value, and what is measured of it. Beyond its walls the box is seen in a mirror."""
    height = (landscape(task, to_unit(solutions)) - task.low) / (task.high - task.low)
    true = jnp.sign(height) * jnp.abs(height) ** task.skew
    noisy = true + task.noise * jax.random.normal(key, true.shape)
    return true, jnp.round(noisy * task.steps) / task.steps


def evaluate_tuning(key: Key[Array, ""], task: TuningTask, solutions: Float[Array, "n d"]) -> Float[Array, " n"]:
    """What an optimiser sees of `observe_tuning`."""
    return observe_tuning(key, task, solutions)[1]
