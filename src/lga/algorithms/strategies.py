"""Algorithms of evosax behind the same init / ask / tell, to compare with: evolution strategies, and its learned GA."""

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from lga.algorithms.genetic import check_children, check_start, parents_for
from lga.core.checks import require, require_positive_integer
from lga.core.interfaces import Algorithm
from lga.core.population import (
    Children,
    Progress,
    WithProgress,
    advance_progress,
    initial_fitness,
    rank_failures_last,
    start_progress,
)
from lga.core.tree import tree_dataclass


@tree_dataclass
class StrategyState(WithProgress):
    strategy: Any
    settings: Any
    progress: Progress


def evolution_strategy(name: str, num_children: int) -> Algorithm:
    """A strategy by its evosax name. It starts from the centroid of the initial solutions."""
    require_positive_integer("num_children", num_children)
    require(num_children >= 4, f"num_children is {num_children}, but {name} needs at least 4.")

    def begin(implementation: Any, key: Key[Array, ""], solutions, fitness, settings) -> Any:
        return implementation.init(key, jnp.mean(solutions, axis=0), settings)

    def build(num_dims: int) -> Any:
        return evosax_algorithm(name)(num_children, jnp.zeros(num_dims))

    return from_evosax(name, build, num_children, 1, begin, lambda asked: asked.std)


ADAM_RATE = 0.01
"""Of OpenAI's strategy: what its authors and their followers use."""


def open_es(num_children: int) -> Algorithm:
    """OpenAI's evolution strategy with its usual settings: mirrored noise of a fixed rate, centred ranks, Adam."""
    require_positive_integer("num_children", num_children)
    require(num_children % 2 == 0, f"num_children is {num_children}, but must be even: open_es samples mirrored pairs.")

    def begin(implementation: Any, key: Key[Array, ""], solutions, fitness, settings) -> Any:
        return implementation.init(key, jnp.mean(solutions, axis=0), settings)

    def build(num_dims: int) -> Any:
        import optax

        return with_fixed_rate(evosax_algorithm("Open_ES"))(
            num_children, jnp.zeros(num_dims), optimizer=optax.adam(ADAM_RATE)
        )

    return from_evosax("Open_ES", build, num_children, 1, begin, lambda asked: asked.std)


def with_fixed_rate(strategy: Any) -> Any:
    """evosax's strategy with the rate among its settings, as others have it; there it is a schedule of the program."""
    from flax import struct

    @struct.dataclass
    class Settings:
        std_init: Any = 1.0

    class FixedRate(strategy):
        @property
        def _default_params(self) -> Settings:
            return Settings()

        def _init(self, key, params):
            return super()._init(key, params).replace(std=params.std_init)

        def _tell(self, key, population, fitness, state, params):
            return super()._tell(key, population, fitness, state, params).replace(std=params.std_init)

    return FixedRate


# evosax's arithmetic does not survive infinities: worse than any value of a benchmark, yet its squares are finite.
NOT_EVALUATED = 1e15


def evosax_learned_ga(num_children: int, elite_ratio: float = 1.0) -> Algorithm:
    """evosax's own LearnedGA, with evosax's weights."""
    num_parents = parents_for(elite_ratio, num_children)

    def build(num_dims: int) -> Any:
        implementation = evosax_algorithm("LearnedGA")(num_children, jnp.zeros(num_dims))
        # It rounds down.
        implementation.elite_ratio = (num_parents + 0.5) / num_children
        return implementation

    def begin(implementation: Any, key: Key[Array, ""], solutions, fitness, settings) -> Any:
        fitness = jnp.minimum(initial_fitness(solutions, fitness), NOT_EVALUATED)
        founders = jnp.argsort(fitness)[:num_parents]
        return implementation.init(key, solutions[founders], fitness[founders], settings)

    return from_evosax("LearnedGA", build, num_children, num_parents, begin, lambda asked: asked.std_C)


def evosax_algorithm(name: str) -> Any:
    try:
        from evosax import algorithms
    except ImportError as error:
        raise ImportError(f"{name} comes with evosax: pip install 'lga[bench]'.") from error
    return getattr(algorithms, name)


def from_evosax(
    name: str,
    build: Callable[[int], Any],
    num_children: int,
    num_parents: int,
    begin: Callable[..., Any],
    rates: Callable[[Any], Float[Array, "*n"]],
) -> Algorithm:
    """`build(num_dims)` makes evosax's algorithm, `begin(algorithm, key, solutions, fitness, settings)` its state;
    `rates` are those of the children that it holds.
    """

    @cache
    def strategy(num_dims: int) -> Any:
        # It holds arrays and outlives the trace that first asks for it, so they must be values and not tracers.
        with jax.ensure_compile_time_eval():
            return build(num_dims)

    def init(
        key: Key[Array, ""],
        solutions: Float[Array, "n d"],
        fitness: Float[Array, " n"] | None,
        sigma: Float[Array, ""] | float,
    ) -> StrategyState:
        check_start(solutions, fitness, sigma)
        require(solutions.shape[1] >= 1, f"solutions has shape {solutions.shape}, but evosax needs a dimension.")
        implementation = strategy(solutions.shape[1])
        settings = implementation.default_params.replace(std_init=jnp.asarray(sigma, solutions.dtype))
        state = begin(implementation, key, solutions, fitness, settings)
        known = None if fitness is None else rank_failures_last(fitness)
        return StrategyState(state, settings, start_progress(solutions, known))

    def ask(key: Key[Array, ""], state: StrategyState) -> tuple[Children, StrategyState]:
        implementation = strategy(state.best_solution.shape[0])
        solutions, asked = implementation.ask(key, state.strategy, state.settings)
        sigma = jnp.broadcast_to(rates(asked), (num_children,))
        children = Children(solutions, sigma, jnp.zeros(num_children, jnp.int32))
        return children, StrategyState(asked, state.settings, state.progress)

    def tell(
        key: Key[Array, ""], state: StrategyState, children: Children, fitness: Float[Array, " n"]
    ) -> StrategyState:
        require(
            fitness.shape == (num_children,),
            f"fitness has shape {fitness.shape}, but must be ({num_children},): one value for each child.",
        )
        check_children(children, (num_children, state.best_solution.shape[-1]))
        fitness = rank_failures_last(fitness)
        implementation = strategy(children.solutions.shape[1])
        told, _ = implementation.tell(key, children.solutions, fitness, state.strategy, state.settings)
        # A generation in which everything failed teaches a strategy nothing, and must not teach it NaN.
        kept = jax.tree.map(
            lambda new, old: jnp.where(jnp.isfinite(new), new, old) if jnp.issubdtype(new.dtype, jnp.floating) else new,
            told,
            state.strategy,
        )
        return StrategyState(kept, state.settings, advance_progress(state.progress, children.solutions, fitness))

    return Algorithm(init, ask, tell, num_children, num_parents)
