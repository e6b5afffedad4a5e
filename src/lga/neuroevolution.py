"""Algorithms meet neuroevolution tasks: one generation at a time, so that a run can stop and go on anywhere."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from lga.algorithms.genetic import GeneticState, has_parents, with_fitness
from lga.algorithms.run import Step, advance
from lga.core.checks import require
from lga.core.interfaces import Algorithm
from lga.core.population import Children, rank_failures_last
from lga.core.tree import tree_dataclass
from lga.tasks.network_task import NeuroTask


@dataclass(frozen=True)
class Judging:
    """How a search is kept from being led by luck, for the fitness of a network is a draw.

    A parent that was lucky once would stay for ever; and where values differ by luck alone, rates shrink for no reason.
    Strategies that keep no parents are the same in every case.
    """

    again: bool = False
    """Parents are evaluated again in every generation, by the seeds or the batch of the children. It costs as many
    evaluations as there are parents."""
    forget: float = 0.0
    """Share of its lead over the median of the children that a parent loses in every generation."""

    least_rate: float = 0.0
    """Share of the initial rate that no rate falls below."""

    def __post_init__(self) -> None:
        for name in ("forget", "least_rate"):
            share = getattr(self, name)
            require(0.0 <= share <= 1.0, f"{name} is {share}, but must lie between 0 and 1.")

    def evaluations(self, algorithm: Algorithm, keeps_parents: bool) -> int:
        """In a generation."""
        return algorithm.num_children + (algorithm.num_parents if self.again and keeps_parents else 0)


ONCE = Judging()
RATES_KEPT_UP = Judging(least_rate=0.3)
"""What learned weights are used with on networks."""


@tree_dataclass
class Evolution:
    """All that a run is, between two generations."""

    search: Any
    task_state: Any
    elite: Float[Array, "*batch d"]
    """The best of the archive; of the last children, for a strategy that keeps no archive."""
    fitness: Float[Array, "*batch n"]
    """Of the last children."""
    sigma0: Float[Array, "*batch"]
    """The initial rate."""


def start(
    key: Key[Array, ""],
    algorithm: Algorithm,
    task: NeuroTask,
    sigma: Float[Array, ""] | float,
    centre: Float[Array, " d"] | None = None,
) -> Evolution:
    """The archive starts at one place: at zero, as in the paper, if it is not told."""
    key_evaluate, key_init = jax.random.split(key)
    origin = jnp.zeros(task.num_weights) if centre is None else centre
    # As many as there are children, so that the first generation does not compile the evaluation anew.
    genomes = jnp.tile(origin, (algorithm.num_children, 1))
    fitness, task_state = task.evaluate(key_evaluate, task.init(), genomes)
    search = algorithm.init(key_init, genomes, fitness, sigma)
    return Evolution(search, task_state, genomes[0], fitness, jnp.asarray(sigma, jnp.float32))


def generation(
    key: Key[Array, ""], algorithm: Algorithm, task: NeuroTask, evolution: Evolution, judging: Judging = ONCE
) -> Evolution:
    def evaluate(key: Key[Array, ""], genomes: Float[Array, "m d"]) -> tuple[Float[Array, " m"], Any]:
        return task.evaluate(key, evolution.task_state, genomes)

    if judging != ONCE and has_parents(evolution.search):
        algorithm = with_judging(algorithm, judging, judging.least_rate * evolution.sigma0)
    step = advance(jax.random.split(key, 3), algorithm, evaluate, evolution.search)
    return Evolution(step.state, step.info, elite(step), step.fitness[: algorithm.num_children], evolution.sigma0)


class Judged(NamedTuple):
    """Children, and all that are evaluated with them."""

    solutions: Float[Array, "m d"]
    children: Children


def with_judging(algorithm: Algorithm, judging: Judging, least_rate: Float[Array, ""]) -> Algorithm:
    """The genetic algorithm whose parents have a new fitness before they meet the children, and rates that are kept up.

    What is not asked for is left alone, so that a search is the same with and without it.
    """

    def ask(key: Key[Array, ""], state: GeneticState) -> tuple[Judged, GeneticState]:
        children, asked = algorithm.ask(key, state)
        both = (children.solutions, asked.parents.solutions)
        return Judged(jnp.concatenate(both) if judging.again else children.solutions, children), asked

    def rejudged(state: GeneticState, fitness: Float[Array, " n"], again: Float[Array, " e"]) -> GeneticState:
        parents = state.parents
        of_parents = rank_failures_last(again) if judging.again else parents.fitness
        lead = jnp.median(rank_failures_last(fitness)) - of_parents
        of_parents = jnp.where(lead > 0, of_parents + judging.forget * lead, of_parents)
        best = jnp.argmin(of_parents)
        state = with_fitness(state, of_parents, of_parents[best])
        return replace(state, progress=replace(state.progress, best_solution=parents.solutions[best]))

    def tell(key: Key[Array, ""], state: GeneticState, judged: Judged, values: Float[Array, " m"]) -> GeneticState:
        fitness, again = values[: algorithm.num_children], values[algorithm.num_children :]
        if judging.again or judging.forget:
            state = rejudged(state, fitness, again)
        told = algorithm.tell(key, state, judged.children, fitness)
        rates = jnp.maximum(told.parents.sigma, least_rate)
        return replace(told, parents=replace(told.parents, sigma=rates))

    return algorithm._replace(ask=ask, tell=tell)


def elite(step: Step) -> Float[Array, " d"]:
    if has_parents(step.state):
        return step.state.parents.solutions[jnp.argmin(step.state.parents.fitness)]
    return step.children.solutions[jnp.argmin(rank_failures_last(step.fitness))]


def mean_parent(search: Any) -> Float[Array, " d"]:
    """Centre of the archive, or of a strategy's distribution."""
    if has_parents(search):
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
