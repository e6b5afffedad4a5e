"""What a genetic algorithm holds: an archive of parents, a generation of children, and the progress of the search.

Shapes: E parents, N children, D dimensions. Leading batch axes come from `vmap` and `scan` only.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from lga.core.tree import tree_dataclass


@tree_dataclass
class Archive:
    """Evaluated individuals. `age` counts the generations that an individual has survived."""

    solutions: Float[Array, "*batch n d"]
    fitness: Float[Array, "*batch n"]
    sigma: Float[Array, "*batch n"]
    age: Int[Array, "*batch n"]


@tree_dataclass
class Children:
    """Individuals that wait for their evaluation."""

    solutions: Float[Array, "*batch n d"]
    sigma: Float[Array, "*batch n"]
    parent_index: Int[Array, "*batch n"]
    noise: Float[Array, "*batch n d"] | None = None
    """The random numbers behind the solutions, where the shape of mutation learns from them."""


@tree_dataclass
class Progress:
    """What a search has seen so far; every algorithm keeps one."""

    best_solution: Float[Array, "*batch d"]
    best_fitness: Float[Array, "*batch"]
    generation: Int[Array, "*batch"]
    evaluations: Int[Array, "*batch"]
    failures: Int[Array, "*batch"]


class WithProgress:
    """State of an algorithm that keeps its progress: the best of it, under the names that all states have."""

    progress: Progress

    @property
    def best_solution(self) -> Float[Array, "*batch d"]:
        return self.progress.best_solution

    @property
    def best_fitness(self) -> Float[Array, "*batch"]:
        return self.progress.best_fitness


def take(archive: Archive, index: Int[Array, " k"]) -> Archive:
    return jax.tree.map(lambda leaf: leaf[index], archive)


def newborn(children: Children, fitness: Float[Array, " n"]) -> Archive:
    """Children once they are evaluated: individuals of age zero."""
    return Archive(children.solutions, fitness, children.sigma, jnp.zeros_like(children.parent_index))


def start_progress(solutions: Float[Array, "n d"], fitness: Float[Array, " n"] | None) -> Progress:
    """Of a search from these solutions; None where they were not evaluated."""
    none = jnp.zeros((), jnp.int32)
    if fitness is None:
        return Progress(solutions[0], jnp.asarray(FAILED, solutions.dtype), none, none, none)
    best = jnp.argmin(fitness)
    count = jnp.asarray(fitness.shape[0], jnp.int32)
    return Progress(solutions[best], fitness[best], none, count, count_failures(fitness))


def advance_progress(progress: Progress, solutions: Float[Array, "n d"], fitness: Float[Array, " n"]) -> Progress:
    """The progress after one more generation. The best so far is replaced only by something better."""
    candidate = jnp.argmin(fitness)
    better = fitness[candidate] < progress.best_fitness
    return Progress(
        best_solution=jnp.where(better, solutions[candidate], progress.best_solution),
        best_fitness=jnp.where(better, fitness[candidate], progress.best_fitness),
        generation=progress.generation + 1,
        evaluations=progress.evaluations + fitness.shape[0],
        failures=progress.failures + count_failures(fitness),
    )


# A failed evaluation is worse than any value that succeeded, and still finite, so that no arithmetic on it makes a NaN.
FAILED = float(jnp.finfo(jnp.float32).max)


def rank_failures_last(raw_fitness: Float[Array, " n"]) -> Float[Array, " n"]:
    """Clean data once, at the edge: NaN and infinities become `FAILED` (minus infinity is an error, no triumph)."""
    return jnp.where(jnp.isfinite(raw_fitness), jnp.clip(raw_fitness, -FAILED, FAILED), FAILED)


def initial_fitness(solutions: Float[Array, "n d"], fitness: Float[Array, " n"] | None) -> Float[Array, " n"]:
    """What an archive holds of initial solutions: those that were not evaluated (None) are worse than any child."""
    if fitness is None:
        return jnp.full(solutions.shape[0], FAILED, solutions.dtype)
    return rank_failures_last(fitness)


def count_failures(fitness: Float[Array, " n"]) -> Int[Array, ""]:
    return jnp.sum(fitness >= FAILED, dtype=jnp.int32)
