"""The algorithm behind an optimiser: presets by name, compiled once for each population size, with states on the host.

Between generations a state is a tree of NumPy arrays: a state that was loaded from a file is then in nothing different
from one that was not, and meets the very same compiled program.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt32

from lga.algorithms import presets
from lga.algorithms.genetic import has_parents, with_fitness
from lga.core.compile_cache import use_compilation_cache
from lga.core.interfaces import Algorithm
from lga.core.population import Children
from lga.operators.theta import Theta
from lga.optimize.ahead import traced
from lga.optimize.bounds import PRECISION
from lga.optimize.packing import Form, Recent, form_of, packed, split_at, unpacked
from lga.weights import Weights

DEFAULT_ALGORITHM = "lga"
LEARNED = ("lga", "learned_ga")
ALGORITHMS = tuple(dict.fromkeys((DEFAULT_ALGORITHM, *presets.ALGORITHMS)))
# First mutation rates, for boxes of side 10. Evolution strategies sample all of their population with it; weights know
# what suits them.
FIRST_RATE, FIRST_RATE_OF_STRATEGIES, FIRST_RATE_WITH_SHAPE = 0.25, 2.5, 0.5
FIRST_RATES = {
    "cma_es": FIRST_RATE_OF_STRATEGIES,
    "sep_cma_es": FIRST_RATE_OF_STRATEGIES,
    "ma_es": FIRST_RATE_WITH_SHAPE,
}
# To compile takes a third of the time with these; numbers differ by rounding.
QUICK_OPTIONS = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}
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
def programs(algorithm: str | Algorithm, weights: Weights | None, num_children: int, num_dims: int) -> Programs:
    """Compiled once in a process, however many searches ask for them.

    Weights are arguments of the compiled functions: other weights need no other program.
    """
    use_compilation_cache()
    theta = None if weights is None else jax.tree.map(np.asarray, weights.theta)
    known_rate = FIRST_RATES.get(algorithm, FIRST_RATE) if isinstance(algorithm, str) else FIRST_RATE
    rate = known_rate if weights is None else weights.sigma0

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
    recent = Recent()
    named = {"algorithm": algorithm, "children": num_children, "rate": rate} if isinstance(algorithm, str) else None
    compiled = [
        host_program(function, theta, small, recent, named and named | {"function": function.__name__})
        for function in (init, ask, tell)
    ]
    return Programs(*compiled, layout=layout)


PURPOSES = ("start", "init", "ask", "tell", "whole")


def key_words(seed: int, generation: int, purpose: str) -> UInt32[np.ndarray, "2"]:
    """The random key of a step. It is made on the host, since a program that makes it takes long to compile."""
    return np.random.SeedSequence((seed, generation, PURPOSES.index(purpose))).generate_state(2)


def as_key(words):
    return jax.random.wrap_key_data(words, impl="threefry2x32")


def host_program(
    function: Callable[..., Any], theta: Theta | None, small: bool, recent: Recent, key: dict[str, Any] | None
) -> Callable[..., Any]:
    """The compiled function, from host arrays to host arrays. With a key it need be traced by one process only.

    Small programs are not worth the optimisation: to compile them takes longer than all of their runs. All arrays go in
    and come out as one: to pass each by itself takes longer than to compute with them. Double precision holds every
    number that they have.
    """
    options: Any = quick_options() if small else None
    known: dict[tuple[Form, ...], tuple[Any, list[Form]]] = {}
    weights, form_of_weights = packed(theta)
    on_device: list[Any] = []

    def prepared(forms: tuple[Form, ...]) -> tuple[Any, list[Form]]:
        def program(weights, numbers) -> tuple[Any, list[Any]]:
            args = [unpacked(form, vector) for form, vector in zip(forms, split_at(numbers, forms), strict=True)]
            found = function(unpacked(form_of_weights, weights), *args)
            # Some algorithms have plain numbers in their states.
            trees = [jax.tree.map(jnp.asarray, tree) for tree in (found if isinstance(found, tuple) else (found,))]
            return jnp.concatenate([jnp.ravel(leaf).astype(PRECISION) for leaf in jax.tree.leaves(trees)]), trees

        arguments = {"forms": [str(form) for form in (form_of_weights, *forms)]}
        call, trees = traced(program, len(weights), sum(form.size for form in forms), key and key | arguments)
        return jax.jit(call, compiler_options=options), [form_of(tree) for tree in trees]

    def call(*args):
        vectors, forms = zip(*(recent.packed(arg) for arg in args), strict=True)
        if forms not in known:
            known[forms] = prepared(forms)
        program, results = known[forms]
        # The search is in double precision whatever the objective's: an ill-conditioned function needs the digits.
        with jax.enable_x64(True):
            if not on_device:
                on_device.append(jax.device_put(weights))
            found = np.asarray(program(on_device[0], np.concatenate(vectors)))
        trees = recent.kept(list(zip(split_at(found, results), results, strict=True)))
        return trees[0] if len(trees) == 1 else trees

    return call


@cache
def quick_options() -> dict[str, Any]:
    """Those that this release of XLA knows: they come and go."""
    return {name: value for name, value in QUICK_OPTIONS.items() if is_option({name: value})}


def is_option(option: dict[str, Any]) -> bool:
    try:
        jax.jit(lambda: 0, compiler_options=option).lower().compile()
    except jax.errors.JaxRuntimeError:
        return False
    return True


def build(algorithm: str | Algorithm, theta: Theta | None, num_children: int) -> Algorithm:
    if isinstance(algorithm, Algorithm):
        return algorithm
    if algorithm in LEARNED:
        assert theta is not None
        return presets.learned_ga(theta, num_children)
    return presets.ALGORITHMS[algorithm](num_children)


def num_parents(state: Any) -> int:
    return state.parents.fitness.shape[0] if has_parents(state) else 0
