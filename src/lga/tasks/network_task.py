"""What a neuroevolution task offers: pure functions from genomes to fitness, with a state of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
from jaxtyping import Array, Bool, Float, Int, Key

from lga.core.checks import require, require_positive_integer


@dataclass(frozen=True)
class TaskSize:
    """How much a fitness value costs."""

    num_evaluations: int
    """Episodes, or images in a batch, that each member of a generation is judged by."""
    num_tests: int
    """Episodes or test images of a test score; a classifier is tested on all images if there are fewer."""
    num_steps: int = 500
    """Length of an episode, unless the environment ends it."""
    full_episode_sum: bool = False
    """Rewards count to the last step, also after an episode has ended."""
    second_filter: int = 5
    """Width of the second convolution for 28 x 28 images: 5 gives the paper's 11,274 weights, its table says 3."""
    memory_gib: float = 2.0
    """Budget of the members that are evaluated at once."""

    def __post_init__(self) -> None:
        for name in ("num_evaluations", "num_tests", "num_steps", "second_filter"):
            require_positive_integer(name, getattr(self, name))
        require(self.memory_gib > 0, f"memory_gib is {self.memory_gib}, but must be more than 0.")


class NeuroTask(NamedTuple):
    """All members of a generation see the same seeds or batch, those of the key. The state goes into checkpoints."""

    num_weights: int
    init: Callable[[], Any]
    """() -> task_state"""
    evaluate: Callable[[Key[Array, ""], Any, Float[Array, "n d"]], tuple[Float[Array, " n"], Any]]
    """(key, task_state, genomes) -> (fitness to minimise, task_state)"""
    test: Callable[[Key[Array, ""], Any, Float[Array, "n d"]], Float[Array, " n"]]
    """(key, task_state, genomes) -> scores; more is better"""
    score: str
    """What the test measures."""
    note: str = ""
    """What a reader of results must know."""
    show: "Callable[[Key[Array, ''], Any, Float[Array, ' d']], Any] | None" = None
    """(key, task_state, genome) -> what a picture of this network is drawn of: an `Episode`, or `Mistakes`"""


class Episode(NamedTuple):
    """A policy at play, step by step (t of them)."""

    observations: Float[Array, "t *shape"]
    env_states: Any
    """With a leading axis of steps."""
    rewards: Float[Array, " t"]
    alive: Bool[Array, " t"]
    world: Any = None
    """Of Brax, whose own page draws it."""


class Mistakes(NamedTuple):
    """Test images that a classifier takes for something else."""

    images: Float[Array, "m h w 1"]
    labels: Int[Array, " m"]
    predicted: Int[Array, " m"]


class NeuroEntry(NamedTuple):
    """A line of the table of tasks."""

    family: str
    build: Callable[[TaskSize], NeuroTask]


def map_members(
    function: Callable[[Float[Array, " d"]], Any], genomes: Float[Array, "n d"], num_weights: int, at_once: int
) -> Any:
    """The function of every genome, at most `at_once` of them in one vector program."""
    require_weights(genomes, num_weights)
    if at_once >= genomes.shape[0]:
        return jax.vmap(function)(genomes)
    return jax.lax.map(function, genomes, batch_size=at_once if at_once > 1 else None)


def require_weights(genomes: Float[Array, "n d"], num_weights: int) -> None:
    require(
        genomes.shape[1:] == (num_weights,),
        f"genomes has shape {genomes.shape}, but this task's network has {num_weights} weights.",
    )


def members_at_once(bytes_per_member: int, memory_gib: float, take_turns: bool) -> int:
    """As many as the budget holds, or one after the other if they should take turns, which they do on CPUs only."""
    if take_turns and jax.default_backend() == "cpu":
        return 1
    return max(1, int(memory_gib * 2**30) // bytes_per_member)
