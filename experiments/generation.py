"""Time of one generation (ask + tell) of a learned GA with both kernels, side by side with evosax's LearnedGA.

`jax.random.normal` alone is the floor that no generation on JAX's own generator can pass. Contestants live in processes
of their own on one core.
"""

from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
from rich.console import Console
from rich.table import Table

import lga
from experiments.form import Experiment, Outcome
from experiments.timing import Contestant, process_medians
from lga.algorithms.run import compiled
from lga.core.interfaces import Algorithm


@dataclass(frozen=True)
class Settings:
    sizes: tuple[tuple[int, int], ...] = ((32, 20), (24, 200), (128, 11_274), (256, 50_000))
    """Children and dimensions: those of a BBOB study, of the largest matrix, of an MNIST and of a MinAtar network."""
    rounds: int = 5
    """Turns that each contestant gets for each size."""
    seconds: float = 0.3
    """Length of a turn; at least one generation."""


def our_generation(num_children: int, num_dims: int):
    return generation_of(lga.learned_ga(lga.init_theta(jax.random.key(0)), num_children), num_children, num_dims)


def generation_with_shape(num_children: int, num_dims: int):
    """Sampling, blending, jitter and the shape beside the paper's operators."""
    return generation_of(lga.learned_ga("lga-2", num_children), num_children, num_dims)


def generation_of(algorithm: Algorithm, num_children: int, num_dims: int):
    algorithm = compiled(algorithm)
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
    # Here, because its import starts JAX, which must be told about the cores first.
    from evosax.algorithms import LearnedGA

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


CONTESTANTS = {
    "noise_ms": Contestant(noise_alone),
    "lga_ms": Contestant(our_generation, kernel="native"),
    "lga_jax_ms": Contestant(our_generation, kernel="jax"),
    "lga_shape_ms": Contestant(generation_with_shape, kernel="native"),
    "evosax_ms": Contestant(evosax_generation),
}


def run(settings: Settings, out: Path, console: Console) -> Outcome:
    table = Table(
        "N", "D", "noise in JAX, ms", "lga native, ms", "lga JAX, ms", "lga-2, ms", "evosax, ms", "evosax / lga"
    )
    rows = []
    for num_children, num_dims in settings.sizes:
        medians = process_medians(CONTESTANTS, (num_children, num_dims), settings.rounds, settings.seconds)
        times = {name: 1e3 * seconds for name, seconds in medians.items()}
        figures = [*times.values(), times["evosax_ms"] / times["lga_ms"]]
        table.add_row(str(num_children), str(num_dims), *(f"{figure:.3g}" for figure in figures))
        rows.append({"N": num_children, "D": num_dims, **times})
    return Outcome(rows, table)


EXPERIMENT = Experiment(
    "time of one generation (ask + tell) of a learned GA with both kernels, beside evosax",
    {"smoke": Settings(rounds=1, seconds=0.01, sizes=((32, 20),)), "paper": Settings()},
    run,
)
