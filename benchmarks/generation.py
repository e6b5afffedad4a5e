"""Time of one generation (ask + tell) of a learned GA, side by side with evosax's LearnedGA.

The time to draw the Gaussian noise alone is the floor that no generation on the same generator can pass. Runs on one
core unless told otherwise; the sizes are those of a BBOB study, of an MNIST network and of a MinAtar network.
"""

import os

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import json
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import tyro
from evosax.algorithms import LearnedGA
from rich.console import Console
from rich.table import Table

import lga
from lga.algorithms.run import compiled
from timing import interleaved_medians

SIZES = ((32, 20), (128, 11_274), (256, 50_000))


@dataclass(frozen=True)
class Settings:
    json: Path | None = None
    """Also write the figures to this file."""
    seconds: float = 12.0
    """Measuring time for each size."""
    cores: int = 1
    """Processor cores to use; 0 means all."""


def our_generation(num_children: int, num_dims: int):
    algorithm = compiled(lga.learned_ga(lga.init_theta(jax.random.key(0)), num_children))
    solutions, fitness = start(num_children, num_dims)
    key = jax.random.key(1)
    state = algorithm.init(key, solutions, fitness, 0.1)

    def generation():
        nonlocal state
        children, state = algorithm.ask(key, state)
        state = algorithm.tell(key, state, children, fitness)
        return state

    return generation


def evosax_generation(num_children: int, num_dims: int):
    algorithm = LearnedGA(num_children, jnp.zeros(num_dims))
    solutions, fitness = start(num_children, num_dims)
    settings = algorithm.default_params
    key = jax.random.key(1)
    state = algorithm.init(key, solutions, fitness, settings)

    def generation():
        nonlocal state
        children, state = algorithm.ask(key, state, settings)
        state, _ = algorithm.tell(key, children, fitness, state, settings)
        return state

    return generation


def noise_alone(num_children: int, num_dims: int):
    draw = jax.jit(lambda key: jax.random.normal(key, (num_children, num_dims)))
    key = jax.random.key(2)
    return lambda: draw(key)


def start(num_children: int, num_dims: int):
    solutions = jax.random.normal(jax.random.key(3), (num_children, num_dims))
    return solutions, jnp.arange(float(num_children))


def main(settings: Settings) -> None:
    if settings.cores:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-settings.cores :])
    table = Table("N", "D", "noise alone, ms", "lga, ms", "evosax, ms", "lga / evosax", "lga / noise")
    rows = []
    for num_children, num_dims in SIZES:
        contestants = [build(num_children, num_dims) for build in (noise_alone, our_generation, evosax_generation)]
        noise, ours, theirs = (1e3 * seconds for seconds in interleaved_medians(contestants, settings.seconds))
        table.add_row(
            str(num_children), str(num_dims), *(f"{t:.3g}" for t in (noise, ours, theirs, ours / theirs, ours / noise))
        )
        rows.append({"N": num_children, "D": num_dims, "noise_ms": noise, "lga_ms": ours, "evosax_ms": theirs})
    Console().print(table)
    if settings.json:
        settings.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main(tyro.cli(Settings, description=__doc__))
