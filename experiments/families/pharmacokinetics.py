"""Fits of a two-compartment model to the concentrations of a drug in the blood of patients.

A patient swallows a dose. It is absorbed from the gut, distributed between blood and tissue, and eliminated. The five
rates and volumes of patients differ by a third or so around what is usual; a clinic fits them to twelve samples of each
new patient, from bounds that are far wider than that, because nobody wants to exclude the unusual one.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from lga.core.tree import tree_dataclass
from lga.tasks.family import family

USUAL = jnp.array([1.2, 0.25, 0.6, 0.4, 20.0])
"""Absorption, elimination, to the tissue and back (per hour), volume (litres)."""
BETWEEN_PATIENTS = jnp.array([0.45, 0.35, 0.35, 0.35, 0.25])
BOUNDS = [(0.02, 50.0), (0.005, 5.0), (0.01, 20.0), (0.01, 20.0), (1.0, 500.0)]
DOSE = 100.0
HOURS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 24.0)
ERROR = 0.1
STEPS = 96


@tree_dataclass
class Patient:
    measured: Float[Array, "*tasks samples"]


def concentrations(parameters: Float[Array, "n 5"]) -> Float[Array, "n samples"]:
    """The linear model by the classical Runge-Kutta method, with steps that grow with time."""
    absorbed, eliminated, out, back, volume = parameters.T
    times = 24.0 * (jnp.arange(STEPS + 1) / STEPS) ** 2

    def slope(amounts):
        gut, blood, tissue = amounts
        moved = out * blood - back * tissue
        return jnp.stack([-absorbed * gut, absorbed * gut - eliminated * blood - moved, moved])

    def step(amounts, dt):
        one = slope(amounts)
        two = slope(amounts + 0.5 * dt * one)
        three = slope(amounts + 0.5 * dt * two)
        four = slope(amounts + dt * three)
        after = amounts + dt / 6.0 * (one + 2.0 * two + 2.0 * three + four)
        return after, after[1]

    start = jnp.stack([jnp.full_like(volume, DOSE), jnp.zeros_like(volume), jnp.zeros_like(volume)])
    _, blood = jax.lax.scan(step, start, jnp.diff(times))
    at = jnp.searchsorted(times[1:], jnp.array(HOURS))
    return (blood[at] / volume[None, :]).T


def draw(key: Key[Array, ""]) -> Patient:
    key_patient, key_error = jax.random.split(key)
    parameters = USUAL * jnp.exp(BETWEEN_PATIENTS * jax.random.normal(key_patient, (5,)))
    exact = concentrations(parameters[None])[0]
    return Patient(exact * jnp.exp(ERROR * jax.random.normal(key_error, exact.shape)))


def misfit(patient: Patient, parameters: Float[Array, "n 5"]) -> Float[Array, " n"]:
    """Mean squared error of the logarithms; a model that explodes is not finite, and fails."""
    predicted = jnp.maximum(concentrations(parameters), 1e-6)
    return jnp.mean((jnp.log(predicted) - jnp.log(patient.measured)[None, :]) ** 2, axis=1)


patients = family(draw, misfit, BOUNDS, log_scale=True, name="pharmacokinetics")
