"""The shapes of things: what an operator and an algorithm must offer."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

from jaxtyping import Array, Float, Int, Key

from lga.core.population import Archive, Children, Progress


@runtime_checkable
class Sampling(Protocol):
    """Which parent each child descends from."""

    def __call__(
        self, key: Key[Array, ""], parents: Archive, num_children: int, progress: Progress
    ) -> Int[Array, " n"]: ...


class Origins(NamedTuple):
    """Where each child starts from, before it is mutated, and the rate that it inherits."""

    solutions: Float[Array, "n d"]
    sigma: Float[Array, " n"]


@runtime_checkable
class Crossover(Protocol):
    """Origins of the children of the sampled parents."""

    def __call__(
        self, key: Key[Array, ""], parents: Archive, parent_index: Int[Array, " n"], progress: Progress
    ) -> Origins: ...


class MutationRate(NamedTuple):
    """How far each child is mutated. Some rules learn from the outcome, so a rule has a state and an update."""

    init: Callable[[Float[Array, ""]], Any]
    """(sigma0) -> rate_state"""
    propose: Callable[[Key[Array, ""], Any, Archive, Progress], Float[Array, " n"]]
    """(key, rate_state, sampled_parents, progress) -> sigma per child"""
    update: Callable[[Key[Array, ""], Any, Archive, Archive], Any]
    """(key, rate_state, sampled_parents, offspring) -> rate_state"""


class MutationShape(NamedTuple):
    """In which directions children are moved. Some shapes learn from the noise that did well, so they have a memory."""

    init: Callable[[Float[Array, "n d"]], Any]
    """(solutions) -> memory"""
    mutate: Callable[..., tuple[Float[Array, "n d"], Float[Array, "n d"] | None]]
    """(key, memory, solutions [e, d], index [n], sigma [n]) -> (children [n, d], their noise)"""
    update: Callable[[Any, Children, Float[Array, " n"]], tuple[Any, Float[Array, ""] | None]]
    """(memory, children, fitness) -> (memory, what all mutation rates are multiplied by; None is 1)"""


@runtime_checkable
class Selection(Protocol):
    """Which individuals of `[offspring; parents]` are the next parents."""

    def __call__(
        self, key: Key[Array, ""], parents: Archive, offspring: Archive, progress: Progress
    ) -> Int[Array, " e"]: ...


class Screening(NamedTuple):
    """Which of many candidates become children. It remembers what was evaluated."""

    num_candidates: int
    """For each child."""
    init: Callable[[Float[Array, "n d"], Float[Array, " n"]], Any]
    """(solutions, fitness) -> memory"""
    choose: Callable[[Any, Float[Array, "k d"], int], Int[Array, " n"]]
    """(memory, candidates, num_children) -> their indices"""
    update: Callable[[Any, Float[Array, "n d"], Float[Array, " n"]], Any]
    """(memory, solutions, fitness) -> memory"""


class Steps(NamedTuple):
    """Both halves of an ask that screens. Who knows which places can be evaluated moves candidates to them between."""

    breed: Callable[[Key[Array, ""], Any], Children]
    """(key, state) -> candidates"""
    choose: Callable[[Any, Children], Children]
    """(state, candidates) -> children"""


class Algorithm(NamedTuple):
    """Pure functions, so `jit`, `vmap`, `scan` and `shard_map` work on them."""

    init: Callable[..., Any]
    """(key, solutions [n, d], fitness [n], sigma) -> state; fitness is None if the solutions were not evaluated"""
    ask: Callable[..., tuple[Children, Any]]
    """(key, state) -> (children, state)"""
    tell: Callable[..., Any]
    """(key, state, children, fitness [n]) -> state"""
    num_children: int
    num_parents: int
    steps: Steps | None = None
    """Of ask, if it screens."""


Evaluate = Callable[[Key[Array, ""], Any], Float[Array, " n"]]
"""(key, solutions) -> fitness; the key is for noisy objectives."""
