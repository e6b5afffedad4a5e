"""A whole search as one `scan`: generations in, a trace out."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int, Key

from lga.algorithms.genetic import GeneticState
from lga.core.checks import require, require_positive_integer
from lga.core.interfaces import Algorithm, Evaluate
from lga.core.population import Archive, Children, newborn, rank_failures_last
from lga.core.tree import tree_dataclass


@tree_dataclass
class Trace:
    """One entry per generation (T of them)."""

    best_so_far: Float[Array, "*t"]
    generation_best: Float[Array, "*t"]
    mean_sigma: Float[Array, "*t"]
    failures: Int[Array, "*t"]
    records: "Record | None" = None


@tree_dataclass
class Record:
    """All that a generation did, for pictures and dissection; features and logits are functions of it."""

    parents: Archive
    offspring: Archive
    parent_index: Int[Array, "*batch n"]
    survivor_index: Int[Array, "*batch e"]
    best_before: Float[Array, "*batch"]

    @property
    def improvements(self) -> Bool[Array, "*batch e n"]:
        """Which child beats which parent."""
        return self.offspring.fitness[..., None, :] < self.parents.fitness[..., :, None]


def compiled(algorithm: Algorithm) -> Algorithm:
    """The same algorithm with compiled functions, for loops outside of `jit`.

    `ask` consumes the state that it is given: use the one that it returns.
    """

    def state_first(key, state):
        children, state = algorithm.ask(key, state)
        return state, children

    # What ask only passes on would be copied if the buffers were not handed over; JAX hands them to the first results
    # of the same shape, which must not be the children.
    ask_state_first = jax.jit(state_first, donate_argnums=1)

    def ask(key, state):
        state, children = ask_state_first(key, state)
        return children, state

    # tell gathers from the old parents into the new ones: handed-over buffers would cost it a copy.
    return algorithm._replace(init=jax.jit(algorithm.init), ask=ask, tell=jax.jit(algorithm.tell))


class Step(NamedTuple):
    """What one generation was: the state after it, its children, their fitness, and what else evaluation told."""

    state: Any
    children: Children
    fitness: Float[Array, "*batch n"]
    info: Any


def advance(keys: Any, algorithm: Algorithm, evaluate: Callable[..., tuple[Any, Any]], state: Any) -> Step:
    """THE generation: ask, evaluate, tell, with one key for each. All searches of the package take this step.

    `evaluate(key, solutions)` returns fitness and whatever else its caller wants back. Inside of `jit` or outside, for
    one run or, with functions that were mapped over runs, for many.
    """
    key_ask, key_evaluate, key_tell = keys
    children, asked = algorithm.ask(key_ask, state)
    fitness, info = evaluate(key_evaluate, children.solutions)
    return Step(algorithm.tell(key_tell, asked, children, fitness), children, fitness, info)


def check_arguments(key: Any, algorithm: Any) -> None:
    require(
        isinstance(key, jax.Array) and jnp.issubdtype(key.dtype, jax.dtypes.prng_key),
        f"key is {key!r}, but must be a random key, as jax.random.key(0) is one.",
    )
    require(
        isinstance(algorithm, Algorithm),
        f"algorithm is {algorithm!r}, but must be an Algorithm, as lga.learned_ga('lga-2', 16) is one.",
    )


def run(
    key: Key[Array, ""],
    algorithm: Algorithm,
    evaluate: Evaluate,
    solutions: Any,
    sigma: Float[Array, ""] | float,
    num_generations: int,
    *,
    record: bool = False,
    evaluate_start: bool = True,
) -> tuple[Any, Trace]:
    """Evaluates the initial solutions, then searches for the given number of generations.

    Without `evaluate_start` the initial archive is a random one that nobody has judged, as in the paper's code: every
    child of the first generation is better than the best so far, and n evaluations are spared.

    `solutions` is an array [n, d], or any pytree whose leaves have a leading axis of n; `evaluate(key, solutions)` sees
    what was given here, and the state holds flat vectors. With `record` the trace keeps every generation whole.
    """
    check_arguments(key, algorithm)
    require_positive_integer("num_generations", num_generations)
    flat, unflatten = flatten_solutions(solutions)
    key_start, key_init, key_search = jax.random.split(key, 3)
    fitness = evaluate(key_start, unflatten(flat)) if evaluate_start else None
    state = algorithm.init(key_init, flat, fitness, sigma)

    def generation(state, key):
        step = advance(jax.random.split(key, 3), algorithm, lambda k, x: (evaluate(k, unflatten(x)), None), state)
        record_now = generation_record(state, step) if record else None
        return step.state, (trace_entry(state, step), record_now)

    state, (entries, records) = jax.lax.scan(generation, state, jax.random.split(key_search, num_generations))
    return state, Trace(entries.best_so_far, entries.generation_best, entries.mean_sigma, entries.failures, records)


def trace_entry(before: Any, step: Step) -> Trace:
    """What a trace keeps of one generation."""
    return Trace(
        best_so_far=step.state.progress.best_fitness,
        generation_best=jnp.min(rank_failures_last(step.fitness)),
        mean_sigma=jnp.mean(step.children.sigma),
        failures=step.state.progress.failures - before.progress.failures,
    )


def generation_record(before: GeneticState, step: Step) -> Record:
    require(isinstance(before, GeneticState), "record is True, but only genetic algorithms have parents to record.")
    return Record(
        parents=before.parents,
        offspring=newborn(step.children, rank_failures_last(step.fitness)),
        parent_index=step.children.parent_index,
        survivor_index=step.state.survivor_index,
        best_before=before.progress.best_fitness,
    )


def flatten_solutions(solutions: Any) -> tuple[Float[Array, "n d"], Any]:
    """Solutions as rows of one matrix, and the way back to the tree that they came as."""
    leaves = jax.tree.leaves(solutions)
    sizes = {leaf.shape[0] if jnp.ndim(leaf) else 0 for leaf in leaves}
    require(
        len(sizes) == 1 and sizes != {0},
        f"solutions has leaves with {sorted(sizes)} rows, but all must have the same number, at least 1.",
    )
    _, unravel = ravel_pytree(jax.tree.map(lambda leaf: leaf[0], solutions))
    flat = jax.vmap(lambda solution: ravel_pytree(solution)[0])(solutions)
    return flat, jax.vmap(unravel)
