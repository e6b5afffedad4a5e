"""Meta-optimisers by name: evosax's strategies behind one small interface."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from lga.meta.config import MetaConfig


class MetaOptimizer(NamedTuple):
    init: Callable[[Key[Array, ""], Float[Array, " w"]], Any]
    """(key, start) -> state, with the centre at the start"""
    ask: Callable[[Key[Array, ""], Any], tuple[Float[Array, "m w"], Any]]
    """(key, state) -> (candidates, state)"""
    tell: Callable[[Key[Array, ""], Any, Float[Array, "m w"], Float[Array, " m"]], Any]
    """(key, state, candidates, fitness) -> state"""
    centre: Callable[[Any], Float[Array, " w"]]
    """(state) -> the weights to validate and to keep"""


class Averaged(NamedTuple):
    """A strategy's state, and the running average of its mean: the mean itself jumps about with its noisy updates."""

    inner: Any
    average: Float[Array, " w"]


def meta_optimizer(config: MetaConfig, num_weights: int) -> MetaOptimizer:
    try:
        import evosax  # noqa: F401
    except ImportError as error:
        raise ImportError("Meta-training uses the strategies of evosax: pip install 'lga[train]'.") from error
    return (
        population_based(config, num_weights) if config.optimizer == "ga" else distribution_based(config, num_weights)
    )


def distribution_based(config: MetaConfig, num_weights: int) -> MetaOptimizer:
    strategy = build_strategy(config, num_weights)
    settings = strategy.default_params
    if hasattr(settings, "std_init"):
        settings = settings.replace(std_init=config.meta_sigma)

    def init(key: Key[Array, ""], start: Float[Array, " w"]) -> Any:
        return Averaged(strategy.init(key, start, settings), start)

    def ask(key: Key[Array, ""], state: Any) -> tuple[Float[Array, "m w"], Any]:
        candidates, inner = strategy.ask(key, state.inner, settings)
        return candidates, Averaged(inner, state.average)

    def tell(key: Key[Array, ""], state: Any, candidates: Float[Array, "m w"], fitness: Float[Array, " m"]) -> Any:
        inner, _ = strategy.tell(key, candidates, fitness, state.inner, settings)
        inner = inner.replace(mean=(1.0 - config.mean_decay) * inner.mean)
        return Averaged(inner, config.averaging * state.average + (1.0 - config.averaging) * inner.mean)

    return MetaOptimizer(init, ask, tell, lambda state: state.average)


def build_strategy(config: MetaConfig, num_weights: int) -> Any:
    import optax
    from evosax import algorithms

    def decaying(start: float, decay: float, final: float):
        return optax.exponential_decay(start, transition_steps=1, decay_rate=decay, end_value=final)

    adam = optax.adam(decaying(config.learning_rate, config.learning_rate_decay, config.learning_rate_final))
    size, layout = config.meta_population, jnp.zeros(num_weights)
    match config.optimizer:
        case "open_es":
            sigma = decaying(config.meta_sigma, config.meta_sigma_decay, config.meta_sigma_final)
            return algorithms.Open_ES(size, layout, optimizer=adam, std_schedule=sigma)
        case "pgpe":
            return algorithms.PGPE(size, layout, optimizer=adam)
        case "snes":
            return algorithms.SNES(size, layout)
        case "sep_cma_es":
            return algorithms.Sep_CMA_ES(size, layout)
        case _:
            return algorithms.CMA_ES(size, layout)


def population_based(config: MetaConfig, num_weights: int) -> MetaOptimizer:
    """A GA that evolves GAs. Its centre is the best member of the last generation."""
    import optax
    from evosax import algorithms

    sigma = optax.exponential_decay(
        config.meta_sigma, transition_steps=1, decay_rate=config.meta_sigma_decay, end_value=config.meta_sigma_final
    )
    strategy = algorithms.SimpleGA(config.meta_population, jnp.zeros(num_weights), std_schedule=sigma)
    settings = strategy.default_params

    def init(key: Key[Array, ""], start: Float[Array, " w"]) -> Any:
        population = jnp.tile(start, (config.meta_population, 1))
        return strategy.init(key, population, jnp.zeros(config.meta_population), settings)

    def ask(key: Key[Array, ""], state: Any) -> tuple[Float[Array, "m w"], Any]:
        return strategy.ask(key, state, settings)

    def tell(key: Key[Array, ""], state: Any, candidates: Float[Array, "m w"], fitness: Float[Array, " m"]) -> Any:
        return strategy.tell(key, candidates, fitness, state, settings)[0]

    return MetaOptimizer(init, ask, tell, lambda state: state.population[jnp.argmin(state.fitness)])
