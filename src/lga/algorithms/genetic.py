"""A genetic algorithm is four operators over an archive of parents; a mutation has a rate and a shape."""

import math
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, Int, Key

from lga import native
from lga.core.checks import require, require_positive_integer
from lga.core.interfaces import Algorithm, Crossover, MutationRate, MutationShape, Sampling, Screening, Selection, Steps
from lga.core.population import (
    Archive,
    Children,
    Progress,
    WithProgress,
    advance_progress,
    initial_fitness,
    newborn,
    rank_failures_last,
    start_progress,
    take,
)
from lga.core.random import split
from lga.core.tree import tree_dataclass
from lga.operators.mutation_rate import fixed_rate, within_floats
from lga.operators.sampling import uniform_sampling
from lga.operators.selection import truncation_selection
from lga.operators.shape import isotropic


@tree_dataclass
class GeneticState(WithProgress):
    parents: Archive
    rate_state: Any
    shape_memory: Any
    survivor_index: Int[Array, "*batch e"]
    """Where in `[children; parents]` each parent was found when it was last selected."""
    progress: Progress
    past: Any = ()
    """What screening remembers."""


def has_parents(state: Any) -> bool:
    """Whether it is the state of a genetic algorithm; strategies keep no archive."""
    return isinstance(state, GeneticState)


def with_fitness(state: Any, parent_fitness: Float[Array, " e"], best_fitness: Float[Array, ""]) -> Any:
    """The state with other values for its parents (if it has parents) and for the best so far."""
    state = replace(state, progress=replace(state.progress, best_fitness=best_fitness))
    return replace(state, parents=replace(state.parents, fitness=parent_fitness)) if has_parents(state) else state


def genetic_algorithm(
    num_children: int,
    num_parents: int,
    *,
    sample: Sampling | None = None,
    cross: Crossover | None = None,
    rate: MutationRate | None = None,
    shape: MutationShape | None = None,
    select: Selection | None = None,
    screen: Screening | None = None,
) -> Algorithm:
    """Assembles the operators; those that are not given are the hand-designed ones of a Gaussian GA.

    With `screen` there are many candidates for each child, made like children, and it chooses from them.
    """
    require_positive_integer("num_children", num_children)
    require_positive_integer("num_parents", num_parents)
    sample = sample or uniform_sampling()
    rate = rate or fixed_rate()
    shape = shape or isotropic()
    select = select or truncation_selection()
    num_candidates = num_children * (1 if screen is None else screen.num_candidates)

    def init(
        key: Key[Array, ""],
        solutions: Float[Array, "n d"],
        fitness: Float[Array, " n"] | None,
        sigma: Float[Array, ""] | float,
    ) -> GeneticState:
        check_start(solutions, fitness, sigma)
        known = initial_fitness(solutions, fitness)
        sigma = jnp.asarray(sigma, solutions.dtype)
        # The best of the given solutions; fewer than the archive holds are repeated.
        founders = jnp.argsort(known)[jnp.arange(num_parents) % known.shape[0]]
        parents = Archive(
            solutions=solutions[founders],
            fitness=known[founders],
            sigma=jnp.full(num_parents, sigma),
            age=jnp.zeros(num_parents, jnp.int32),
        )
        itself = num_children + jnp.arange(num_parents, dtype=jnp.int32)
        progress = start_progress(solutions, None if fitness is None else known)
        past = () if screen is None else screen.init(solutions, known)
        return GeneticState(parents, rate.init(sigma), shape.init(solutions), itself, progress, past)

    def breed(key: Key[Array, ""], state: GeneticState) -> Children:
        key_sample, key_cross, key_rate, key_noise = split(key, 4)
        parents, progress = state.parents, state.progress
        parent_index = sample(key_sample, parents, num_candidates, progress)
        sampled_parents = take(parents, parent_index)
        if cross is None:
            start, start_index = parents.solutions, parent_index
        else:
            start, inherited = cross(key_cross, parents, parent_index, progress)
            start_index = jnp.arange(num_candidates, dtype=jnp.int32)
            sampled_parents = replace(sampled_parents, sigma=inherited)
        sigma = finite_rate(rate.propose(key_rate, state.rate_state, sampled_parents, progress), sampled_parents.sigma)
        mutated, noise = shape.mutate(key_noise, state.shape_memory, start, start_index, sigma)
        # Without the barrier XLA draws the noise again for every reader of solutions, if ask and tell are one program.
        mutated, noise = jax.lax.optimization_barrier((mutated, noise))
        return Children(mutated, sigma, parent_index, noise)

    def choose(state: GeneticState, candidates: Children) -> Children:
        if screen is None:
            return candidates
        chosen = screen.choose(state.past, candidates.solutions, num_children)
        return jax.tree.map(lambda leaf: leaf[chosen], candidates)

    def ask(key: Key[Array, ""], state: GeneticState) -> tuple[Children, GeneticState]:
        return choose(state, breed(key, state)), state

    def tell(key: Key[Array, ""], state: GeneticState, children: Children, fitness: Float[Array, " n"]) -> GeneticState:
        require(
            fitness.shape == (num_children,),
            f"fitness has shape {fitness.shape}, but must be ({num_children},): one value for each child.",
        )
        check_children(children, (num_children, state.best_solution.shape[-1]))
        key_select, key_rate = split(key)
        parents = state.parents
        offspring = newborn(children, rank_failures_last(fitness))
        survivor_index = select(key_select, parents, offspring, state.progress)
        sampled_parents = take(parents, children.parent_index)
        next_parents, progress = succession(survivor_index, offspring, parents, state.progress)
        shape_memory, factor = shape.update(state.shape_memory, children, offspring.fitness)
        if factor is not None:
            next_parents = replace(next_parents, sigma=finite_rate(factor * next_parents.sigma, next_parents.sigma))
        return GeneticState(
            parents=next_parents,
            rate_state=rate.update(key_rate, state.rate_state, sampled_parents, offspring),
            shape_memory=shape_memory,
            survivor_index=survivor_index,
            progress=progress,
            past=() if screen is None else screen.update(state.past, children.solutions, offspring.fitness),
        )

    return Algorithm(init, ask, tell, num_children, num_parents, None if screen is None else Steps(breed, choose))


def native_succession(
    survivor_index: Int[Array, " e"], offspring: Archive, parents: Archive, progress: Progress
) -> tuple[Archive, Progress]:
    *archive, best_solution, best_fitness, failures = native.survive(
        survivor_index,
        offspring.solutions,
        offspring.fitness,
        offspring.sigma,
        parents.solutions,
        parents.fitness,
        parents.sigma,
        parents.age,
        progress.best_solution,
        progress.best_fitness,
    )
    return Archive(*archive), Progress(
        best_solution=best_solution,
        best_fitness=best_fitness,
        generation=progress.generation + 1,
        evaluations=progress.evaluations + offspring.fitness.shape[0],
        failures=progress.failures + failures,
    )


@native.with_kernel(native_succession)
def succession(
    survivor_index: Int[Array, " e"], offspring: Archive, parents: Archive, progress: Progress
) -> tuple[Archive, Progress]:
    """The next parents, and the progress after one more generation. Offspring are newborn: of age zero."""
    next_parents = survivors(offspring, parents, survivor_index)
    return next_parents, advance_progress(progress, offspring.solutions, offspring.fitness)


def survivors(offspring: Archive, parents: Archive, survivor_index: Int[Array, " e"]) -> Archive:
    """The members of `[offspring; parents]` at the indices; parents among them are one generation older."""
    union = jax.tree.map(lambda child, parent: jnp.concatenate([child, parent]), offspring, older(parents))
    return take(union, survivor_index)


def older(parents: Archive) -> Archive:
    return Archive(parents.solutions, parents.fitness, parents.sigma, parents.age + 1)


def finite_rate(proposed: Float[Array, " n"], inherited: Float[Array, " n"]) -> Float[Array, " n"]:
    return within_floats(jnp.where(jnp.isfinite(proposed), proposed, inherited))


def check_start(
    solutions: Float[Array, "n d"], fitness: Float[Array, " n"] | None, sigma: Float[Array, ""] | float
) -> None:
    require(
        solutions.ndim == 2 and solutions.shape[0] >= 1,
        f"solutions has shape {solutions.shape}, but must be [number of solutions, dimensions].",
    )
    given = solutions.shape[:1] if fitness is None else fitness.shape
    require(
        given == solutions.shape[:1],
        f"fitness has shape {given}, but must be ({solutions.shape[0]},): one value for each solution.",
    )
    require(
        jnp.issubdtype(solutions.dtype, jnp.floating),
        f"solutions has type {solutions.dtype}, but must hold floating-point numbers.",
    )
    require(np.ndim(sigma) == 0, f"sigma has shape {np.shape(sigma)}, but must be one number for all solutions.")
    if not isinstance(sigma, Tracer):
        require(0.0 < float(sigma) < math.inf, f"sigma is {sigma}, but must be more than 0 and finite.")


def check_children(children: Children, shape: tuple[int, int]) -> None:
    for name, expected in (("solutions", shape), ("sigma", shape[:1]), ("parent_index", shape[:1])):
        given = getattr(children, name).shape
        require(given == expected, f"children.{name} has shape {given}, but must be {expected}, as asked for.")
    noise = shape if children.noise is None else children.noise.shape
    require(noise == shape, f"children.noise has shape {noise}, but must be {shape}, as asked for.")


def parents_for(elite_ratio: float, num_children: int) -> int:
    """E = ceil(rho N); a ratio of 0 means one parent."""
    require(0.0 <= elite_ratio <= 1.0, f"elite_ratio is {elite_ratio}, but must lie between 0 and 1.")
    require_positive_integer("num_children", num_children)
    # Rounded first: 0.15 * 20 is a little more than 3 in binary.
    return max(1, math.ceil(round(elite_ratio * num_children, 9)))
