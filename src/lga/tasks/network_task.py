"""What a neuroevolution task offers: pure functions from genomes to fitness, with a state of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
from jaxtyping import Array, Float, Key

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


class NeuroEntry(NamedTuple):
    """A line of the table of tasks."""

    family: str
    build: Callable[[TaskSize], NeuroTask]


def map_members(
    function: Callable[[Float[Array, " d"]], Any], genomes: Float[Array, "n d"], num_weights: int, at_once: int
) -> Any:
    """The function of every genome, at most `at_once` of them in one vector program."""
    require(
        genomes.shape[1:] == (num_weights,),
        f"genomes has shape {genomes.shape}, but this task's network has {num_weights} weights.",
    )
    if at_once >= genomes.shape[0]:
        return jax.vmap(function)(genomes)
    return jax.lax.map(function, genomes, batch_size=at_once if at_once > 1 else None)


def members_at_once(bytes_per_member: int, memory_gib: float, convolutional: bool) -> int:
    """As many as the budget holds, except for convolutional networks on a CPU.

    A `vmap` over their kernels becomes a grouped convolution, for which XLA's CPU code has no fast path. One member
    after the other was 2.4 times faster on Breakout (64 members, 8 episodes) and 1.3 times on MNIST (16, batch 32).
    """
    if convolutional and jax.default_backend() == "cpu":
        return 1
    return max(1, int(memory_gib * 2**30) // bytes_per_member)
