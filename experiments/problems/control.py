"""Control, simulated in JAX: a pendulum is swung up, a pole is balanced, a way is found."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from experiments.problems.form import Point, Problem, reals


def in_numpy(cost: Callable[[Any], Any]) -> Callable[[Point], float]:
    """Compiled at the first call, and not when the catalogue is read."""
    program = jax.jit(cost)
    return lambda x: float(program(np.asarray(x, np.float32)))


def pendulum(torques: Any) -> Any:
    """Weak torques, each held for a fifth of a second, bring it from hanging to standing."""

    def step(state, torque):
        def hold(state, _):
            angle, speed = state
            speed = speed + 0.02 * (-9.8 * jnp.sin(angle) + torque - 0.05 * speed)
            return (angle + 0.02 * speed, speed), (1.0 + jnp.cos(angle)) + 0.01 * speed**2

        return jax.lax.scan(hold, state, None, 10)

    (angle, speed), costs = jax.lax.scan(step, (0.0, 0.0), torques)
    return jnp.mean(costs) + 5.0 * (1.0 + jnp.cos(angle)) + 0.5 * speed**2 + 1e-3 * jnp.mean(torques**2)


STARTS = np.array([[0.0, 0.0, 0.2, 0.0], [1.0, 0.0, -0.1, 0.3], [-0.5, 0.5, 0.3, -0.5]], np.float32)


def pole(gains: Any) -> Any:
    """Four gains and a dead zone of the force that balances a pole on a cart, from three starts."""

    def run(start):
        def step(state, _):
            place, speed, angle, turn = state
            wanted = jnp.dot(gains[:4], jnp.stack([place, speed, angle, turn]))
            force = jnp.clip(jnp.where(jnp.abs(wanted) < gains[4], 0.0, wanted), -10.0, 10.0)
            sine, cosine = jnp.sin(angle), jnp.cos(angle)
            push = (force + 0.05 * turn**2 * sine) / 1.1
            bend = (9.8 * sine - cosine * push) / (0.5 * (4.0 / 3.0 - 0.1 * cosine**2 / 1.1))
            drive = push - 0.05 * bend * cosine / 1.1
            after = jnp.stack([place + 0.02 * speed, speed + 0.02 * drive, angle + 0.02 * turn, turn + 0.02 * bend])
            after = jnp.clip(after, -20.0, 20.0)
            cost = jnp.minimum(angle**2, 4.0) + 0.1 * jnp.minimum(place**2, 10.0) + 1e-3 * force**2
            return after, cost

        return jnp.mean(jax.lax.scan(step, start, None, 250)[1])

    return jnp.mean(jax.vmap(run)(STARTS))


OBSTACLES = np.array([[0.25, 0.2, 0.18], [0.5, 0.62, 0.2], [0.78, 0.35, 0.15]], np.float32)


def way(turns: Any) -> Any:
    """The way of a robot with fifteen turns, around three obstacles."""
    headings = jnp.cumsum(turns)
    steps = jnp.stack([jnp.cos(headings), jnp.sin(headings)], axis=1) * 0.09
    places = jnp.cumsum(steps, axis=0)
    near = OBSTACLES[None, :, 2] - jnp.linalg.norm(places[:, None] - OBSTACLES[None, :, :2], axis=2)
    missed = jnp.linalg.norm(places[-1] - jnp.array([1.0, 0.5]))
    return 10.0 * missed + 50.0 * jnp.sum(jnp.maximum(near, 0.0)) + jnp.sum(turns[1:] ** 2)


PROBLEMS = {
    "pendulum": Problem("swing-up by twenty torques", reals(*[(-4, 4)] * 20), in_numpy(pendulum), 1.15945, 0.05, 6000),
    "pole": Problem(
        "four gains and a dead zone that balance a pole",
        reals(*[(-50, 50)] * 4, (0, 5)),
        in_numpy(pole),
        0.012019257,
        1e-4,
        1500,
    ),
    "way": Problem("fifteen turns around obstacles", reals(*[(-1.5, 1.5)] * 15), in_numpy(way), 0.23564, 0.02, 5000),
}
