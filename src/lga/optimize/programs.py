"""The algorithm behind an optimiser: presets by name, compiled once for each population size, with states on the host.

Between generations a state is a tree of NumPy arrays: a state that was loaded from a file is then in nothing different
from one that was not, and meets the very same compiled program.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float, UInt32

from lga.algorithms import presets
from lga.algorithms.genetic import GeneticState
from lga.core.compile_cache import use_compilation_cache
from lga.core.interfaces import Algorithm
from lga.core.population import Children
from lga.operators.theta import Theta
from lga.optimize.bounds import PRECISION
from lga.weights import Weights

DEFAULT_ALGORITHM = "lga"
LEARNED = ("lga", "learned_ga")
ALGORITHMS = tuple(dict.fromkeys((DEFAULT_ALGORITHM, *presets.ALGORITHMS)))
# First mutation rates, for boxes of side 10. Evolution strategies sample all of their population with it; weights know
# what suits them.
FIRST_RATE, FIRST_RATE_OF_STRATEGIES = 0.25, 2.5
STRATEGIES = ("cma_es", "sep_cma_es")
# Numbers in the largest matrix of a generation, up to which compilation is the greater part of the time.
LARGEST_SMALL = 16384


class Programs(NamedTuple):
    """Compiled functions of host arrays. A key is two words from `key_words`."""

    init: Callable[..., Any]
    """(key, coordinates [n, d], fitness [n]) -> state"""
    ask: Callable[..., tuple[Children, Any]]
    """(key, state) -> (children, state)"""
    tell: Callable[..., Any]
    """(key, state, children, coordinates [n, d], fitness [n], fitness of the parents [e], best fitness) -> state"""
    layout: Callable[[], tuple[Any, Children]]
    """() -> shapes of state and children"""


@lru_cache(maxsize=64)
def programs(algorithm: str, weights: Weights | None, num_children: int, num_dims: int) -> Programs:
    """Compiled once in a process, however many searches ask for them.

    Weights are arguments of the compiled functions: other weights need no other program.
    """
    use_compilation_cache()
    theta = None if weights is None else jax.tree.map(np.asarray, weights.theta)
    rate = FIRST_RATE_OF_STRATEGIES if algorithm in STRATEGIES else FIRST_RATE
    rate = rate if weights is None else weights.sigma0

    def init(theta, key, coordinates: Float[Array, "n d"], fitness: Float[Array, " n"]):
        return build(algorithm, theta, num_children).init(as_key(key), coordinates, fitness, rate)

    def ask(theta, key, state):
        return build(algorithm, theta, num_children).ask(as_key(key), state)

    def tell(theta, key, state, children, coordinates, fitness, parent_fitness, best_fitness):
        state = with_fitness(state, parent_fitness, best_fitness)
        children = replace(children, solutions=coordinates)
        return build(algorithm, theta, num_children).tell(as_key(key), state, children, fitness)

    def layout() -> tuple[Any, Children]:
        key = jax.ShapeDtypeStruct((2,), np.uint32)
        start, fitness = (jax.ShapeDtypeStruct((num_children, *rest), PRECISION) for rest in ((num_dims,), ()))
        with jax.enable_x64(True):
            state = jax.eval_shape(init, theta, key, start, fitness)
            children, state = jax.eval_shape(ask, theta, key, state)
        return state, children

    small = num_children * max(num_children, num_dims) <= LARGEST_SMALL
    compiled = [host_program(function, theta, small) for function in (init, ask, tell)]
    return Programs(*compiled, layout=layout)


PURPOSES = ("start", "init", "ask", "tell")


def key_words(seed: int, generation: int, purpose: str) -> UInt32[np.ndarray, "2"]:
    """The random key of a step. It is made on the host, since a program that makes it takes long to compile."""
    return np.random.SeedSequence((seed, generation, PURPOSES.index(purpose))).generate_state(2)


def as_key(words):
    return jax.random.wrap_key_data(words, impl="threefry2x32")


def host_program(function: Callable[..., Any], theta: Theta | None, small: bool) -> Callable[..., Any]:
    """The compiled function, from host arrays to host arrays.

    Small programs are not worth the optimisation: to compile them takes longer than all of their runs.
    """
    program = jax.jit(function, compiler_options={"xla_backend_optimization_level": 0} if small else None)

    def call(*args):
        # The search is in double precision whatever the objective's: an ill-conditioned function needs the digits.
        with jax.enable_x64(True):
            return jax.device_get(program(theta, *args))

    return call


def build(algorithm: str, theta: Theta | None, num_children: int) -> Algorithm:
    if algorithm in LEARNED:
        assert theta is not None
        return presets.learned_ga(theta, num_children)
    return presets.ALGORITHMS[algorithm](num_children)


def with_fitness(state: Any, parent_fitness: Float[Array, " e"], best_fitness: Float[Array, ""]) -> Any:
    """The state with other values for its parents (if it has parents) and for the best so far."""
    state = replace(state, progress=replace(state.progress, best_fitness=best_fitness))
    return replace(state, parents=replace(state.parents, fitness=parent_fitness)) if has_parents(state) else state


def has_parents(state: Any) -> bool:
    return isinstance(state, GeneticState)


def num_parents(state: Any) -> int:
    return state.parents.fitness.shape[0] if has_parents(state) else 0
