"""Antenna arrays whose beam points where it should, and nowhere else.

Twelve elements stand in a row, half a wavelength apart. Their strengths and phases are set so that the beam points in a
given direction and what is sent elsewhere is as weak as can be. Each task is a direction, with elements that were built
with small errors.
"""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from lga.core.tree import tree_dataclass
from lga.tasks.family import family

NUM_ELEMENTS = 12
ANGLES = 128
BEAM = 0.24
"""Half the width of the beam, in units of the sine of the angle: what lies within is not counted."""
BOUNDS = [(0.0, 1.0)] * (NUM_ELEMENTS // 2) + [(-1.0, 1.0)] * 2


@tree_dataclass
class Aerial:
    direction: Float[Array, "*tasks"]
    """Sine of the angle."""
    strengths: Float[Array, "*tasks elements"]
    phases: Float[Array, "*tasks elements"]


def draw(key: Key[Array, ""]) -> Aerial:
    key_direction, key_strengths, key_phases = jax.random.split(key, 3)
    shape = (NUM_ELEMENTS,)
    return Aerial(
        jax.random.uniform(key_direction, minval=-0.5, maxval=0.5),
        jnp.exp(0.05 * jax.random.normal(key_strengths, shape)),
        0.05 * jax.random.normal(key_phases, shape),
    )


def side_lobes(task: Aerial, settings: Float[Array, "n 8"]) -> Float[Array, " n"]:
    """Decibels of the strongest side lobe below the beam. Settings: six strengths, mirrored, and two phase terms."""
    half = settings[:, : NUM_ELEMENTS // 2]
    strengths = jnp.concatenate([half, half[:, ::-1]], axis=1) * task.strengths[None]
    places = jnp.arange(NUM_ELEMENTS) - 0.5 * (NUM_ELEMENTS - 1)
    # A linear phase turns the beam; a quadratic one widens it.
    linear, quadratic = settings[:, -2:].T
    phases = task.phases[None] + math.pi * (
        linear[:, None] * places[None] + quadratic[:, None] * (places[None] / NUM_ELEMENTS) ** 2
    )
    sines = jnp.linspace(-1.0, 1.0, ANGLES)
    turns = jnp.exp(1j * math.pi * places[:, None] * sines[None, :])
    power = jnp.abs((strengths * jnp.exp(1j * phases)) @ turns) ** 2
    away = jnp.abs(sines[None, :] - task.direction) > BEAM
    aim = jnp.argmin(jnp.abs(sines - task.direction))
    strongest = jnp.max(jnp.where(away, power, 0.0), axis=1)
    return 10.0 * jnp.log10((strongest + 1e-9) / (power[:, aim] + 1e-9))


arrays = family(draw, side_lobes, BOUNDS, name="antennas")
