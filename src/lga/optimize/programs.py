"""The algorithm behind an optimiser: presets by name, compiled once for each population size, with states on the host.

Between generations a state is a tree of NumPy arrays: a state that was loaded from a file is then in nothing different
from one that was not, and meets the very same compiled program.
"""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Float, Int, UInt32

from lga.algorithms.genetic import GeneticState
from lga.algorithms.presets import PRESETS, preset
from lga.core.checks import require, require_known
from lga.core.interfaces import Algorithm
from lga.core.population import Children
from lga.operators.theta import Theta, installed_weights, load_theta, load_weights, named_leaves

DEFAULT_ALGORITHM, DEFAULT_WEIGHTS = "lga", "lga-1"
LEARNED = ("lga", "learned_ga")
ALGORITHMS = tuple(dict.fromkeys((DEFAULT_ALGORITHM, *PRESETS)))
# First mutation rates, for boxes of side 10. Evolution strategies sample all of their population with it.
FIRST_RATE, FIRST_RATE_OF_STRATEGIES = 0.25, 2.5
STRATEGIES = ("cma_es", "sep_cma_es")
CACHE_VARIABLE = "LGA_COMPILE_CACHE"


@dataclass(frozen=True)
class Weights:
    """Weights that know themselves by their content."""

    digest: str
    theta: Theta = field(compare=False, repr=False)


def find_weights(weights: str | Path | Theta | None) -> Weights:
    """Weights by installed name, from a file, or as they are."""
    if weights is None:
        weights = DEFAULT_WEIGHTS
    if isinstance(weights, Theta):
        theta = weights
    elif str(weights) in installed_weights():
        theta = load_weights(str(weights))
    else:
        known = ", ".join(installed_weights())
        require(Path(weights).is_file(), f"weights is {str(weights)!r}, but must be a file or one of: {known}.")
        theta = load_theta(weights)[0]
    sha = hashlib.sha256()
    for name, leaf in named_leaves(theta).items():
        sha.update(f"{name} {leaf.shape} {leaf.dtype}".encode() + leaf.tobytes())
    return Weights(sha.hexdigest(), theta)


class Programs(NamedTuple):
    """Compiled functions of host arrays. `seed` and `count` (of the generation) make all random numbers."""

    init: Callable[..., Any]
    """(seed, count, coordinates [n, d], fitness [n]) -> state"""
    ask: Callable[..., tuple[Children, Any]]
    """(seed, count, state) -> (children, state)"""
    tell: Callable[..., Any]
    """(seed, count, state, children, fitness [n]) -> state"""
    layout: Callable[[int, int], tuple[Any, Children]]
    """(num_dims, num_solutions) -> shapes of state and children"""


@lru_cache(maxsize=64)
def programs(algorithm: str, weights: Weights | None, num_children: int) -> Programs:
    """Compiled once in a process, however many searches ask for them."""
    use_compile_cache()
    made = build(algorithm, weights, num_children)
    rate = np.float32(FIRST_RATE_OF_STRATEGIES if algorithm in STRATEGIES else FIRST_RATE)

    def keys(seed: UInt32[np.ndarray, "2"], count: Int[np.ndarray, ""]):
        return jax.random.split(jax.random.fold_in(jax.random.wrap_key_data(seed, impl="threefry2x32"), count))

    def init(seed, count, coordinates: Float[np.ndarray, "n d"], fitness: Float[np.ndarray, " n"]):
        return made.init(keys(seed, count)[0], coordinates, fitness, rate)

    def ask(seed, count, state):
        return made.ask(keys(seed, count)[0], state)

    def tell(seed, count, state, children, fitness: Float[np.ndarray, " n"]):
        return made.tell(keys(seed, count)[1], state, children, fitness)

    def layout(num_dims: int, num_solutions: int) -> tuple[Any, Children]:
        seed, count = np.zeros(2, np.uint32), np.int32(0)
        start = np.zeros((num_solutions, num_dims), np.float32), np.zeros(num_solutions, np.float32)
        with jax.enable_x64(False):
            children, state = jax.eval_shape(lambda: ask(seed, count, init(seed, count, *start)))
        return state, children

    return Programs(on_host(init), on_host(ask), on_host(tell), layout)


def on_host(function: Callable[..., Any]) -> Callable[..., Any]:
    program = jax.jit(function)

    def call(*args):
        # The search is in float32 whatever the objective's precision.
        with jax.enable_x64(False):
            return jax.device_get(program(*args))

    return call


def build(algorithm: str, weights: Weights | None, num_children: int) -> Algorithm:
    require_known("algorithm", algorithm, ALGORITHMS)
    if algorithm in LEARNED:
        require(weights is not None, "weights must be given for a learned algorithm.")
        return preset("learned_ga", weights.theta, num_children)  # pyright: ignore[reportOptionalMemberAccess]
    return preset(algorithm, num_children)


def with_fitness(state: Any, fitness: Float[np.ndarray, " e"] | None, best_fitness: float) -> Any:
    """The state with other values for its parents (if it has parents) and for the best so far."""
    progress = replace(state.progress, best_fitness=np.asarray(best_fitness, np.float32))
    if fitness is None:
        return replace(state, progress=progress)
    return replace(state, parents=replace(state.parents, fitness=fitness), progress=progress)


def has_parents(state: Any) -> bool:
    return isinstance(state, GeneticState)


def use_compile_cache() -> None:
    """Programs are kept on disk for later processes, unless the variable says 0 or JAX was told where to keep them."""
    if os.environ.get(CACHE_VARIABLE, "1") == "0" or jax.config.jax_compilation_cache_dir:
        return
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "lga" / "compiled"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    if os.access(folder, os.W_OK):
        jax.config.update("jax_compilation_cache_dir", str(folder))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)
