"""Algorithms meet neuroevolution tasks: one generation at a time, so that a run can stop and go on anywhere."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from lga.algorithms.genetic import GeneticState
from lga.algorithms.run import Step, advance
from lga.core.interfaces import Algorithm
from lga.core.population import rank_failures_last
from lga.core.tree import tree_dataclass
from lga.tasks.network_task import NeuroTask


@tree_dataclass
class Evolution:
    """All that a run is, between two generations."""

    search: Any
    task_state: Any
    elite: Float[Array, "*batch d"]
    """The best of the archive; of the last children, for a strategy that keeps no archive."""


def start(key: Key[Array, ""], algorithm: Algorithm, task: NeuroTask, sigma: Float[Array, ""] | float) -> Evolution:
    """The archive starts at zero, as in the paper."""
    key_evaluate, key_init = jax.random.split(key)
    # As many as there are children, so that the first generation does not compile the evaluation anew.
    genomes = jnp.zeros((algorithm.num_children, task.num_weights))
    fitness, task_state = task.evaluate(key_evaluate, task.init(), genomes)
    return Evolution(algorithm.init(key_init, genomes, fitness, sigma), task_state, genomes[0])


def generation(key: Key[Array, ""], algorithm: Algorithm, task: NeuroTask, evolution: Evolution) -> Evolution:
    def evaluate(key: Key[Array, ""], genomes: Float[Array, "n d"]) -> tuple[Float[Array, " n"], Any]:
        return task.evaluate(key, evolution.task_state, genomes)

    step = advance(jax.random.split(key, 3), algorithm, evaluate, evolution.search)
    return Evolution(step.state, step.info, elite(step))


def elite(step: Step) -> Float[Array, " d"]:
    if isinstance(step.state, GeneticState):
        return step.state.parents.solutions[jnp.argmin(step.state.parents.fitness)]
    return step.children.solutions[jnp.argmin(rank_failures_last(step.fitness))]


def mean_parent(search: Any) -> Float[Array, " d"]:
    """Centre of the archive, or of a strategy's distribution."""
    if isinstance(search, GeneticState):
        return jnp.mean(search.parents.solutions, axis=0)
    return search.strategy.mean


def scores_on_test(key: Key[Array, ""], task: NeuroTask, evolution: Evolution) -> Float[Array, "2"]:
    """Scores of the elite and of the mean parent, on the same fresh seeds."""
    return task.test(key, evolution.task_state, jnp.stack([evolution.elite, mean_parent(evolution.search)]))


def evolve(
    key: Key[Array, ""], algorithm: Algorithm, task: NeuroTask, sigma: Float[Array, ""] | float, num_generations: int
) -> Evolution:
    """A whole run as one program."""

    def numbered(number: Int[Array, ""], evolution: Evolution) -> Evolution:
        return generation(jax.random.fold_in(key, number), algorithm, task, evolution)

    begin = start(jax.random.fold_in(key, 0), algorithm, task, sigma)
    return jax.lax.fori_loop(1, num_generations + 1, numbered, begin)
