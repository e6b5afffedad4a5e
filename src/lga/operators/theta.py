"""The weights of learned operators in their training form: types, configuration and flat vector."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import jax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from lga.core.checks import require, require_known, require_positive_integer
from lga.core.tree import tree_dataclass


@tree_dataclass
class Dense:
    """x @ kernel + bias."""

    kernel: Float[Array, "*batch i o"]
    bias: Float[Array, "*batch o"]


@tree_dataclass
class Heads:
    """One embedding per head: the number of heads is read from the shape."""

    kernel: Float[Array, "*batch i h k"]
    bias: Float[Array, "*batch h k"]


@tree_dataclass
class AttentionTheta:
    query: Heads
    key: Heads
    value: Heads
    mix: Dense


@tree_dataclass
class SelectionTheta:
    """Cross-attention of parents over children, then the query and key of the selection matrix."""

    attention: AttentionTheta
    query: Dense
    key: Dense


@tree_dataclass
class ReadoutTheta:
    """Self-attention with one number read out for each individual: mutation rate, sampling and crossover."""

    attention: AttentionTheta
    readout: Dense


@tree_dataclass
class BlendTheta:
    """Attention over the parents by fitness and age, and how far each parent moves to what each head points at."""

    query: Heads
    key: Heads
    gate: Dense


@tree_dataclass
class JitterTheta:
    """Logarithm of the random spread of the learned rate, relative to its usual size."""

    log_spread: Float[Array, "*batch 1"]


@tree_dataclass
class ShapeTheta:
    """How the shape of mutation is adapted, relative to the usual constants: all zeros is plain matrix adaptation.

    Pairs are a value and its slope over ln(D / 10); `steepness` has its slope over ln(N / 16).
    """

    steepness: Float[Array, "*batch 2"]
    """Logarithm of how steeply the weights of the children fall with their rank."""
    against: Float[Array, "*batch 2"]
    """Logarithm of how much the worst children push away, relative to the pull of the best."""
    path: Float[Array, "*batch 2"]
    """Logarithm of the rate at which the path learns."""
    one: Float[Array, "*batch 2"]
    """Logarithm of the rate at which the shape learns from the path."""
    many: Float[Array, "*batch 2"]
    """Logarithm of the rate at which the shape learns from the children."""
    step: Float[Array, "*batch 2"]
    """Logarithm of how strongly the length of the path changes all mutation rates."""
    rest: Float[Array, "*batch 2"]
    """Logarithm of the length of the path, relative to that by chance, at which mutation rates stay as they are."""
    drift: Float[Array, "*batch 2"]
    """How far children are moved along the path."""
    merge: Float[Array, "*batch 1"]
    """Logit of how far a parent's rate moves to the mean of those that it is blended with."""


@tree_dataclass
class ScatterTheta:
    """How scattered mutation is, relative to the usual constants. Pairs are a value and its slope over ln(D / 10)."""

    share: Float[Array, "*batch 2"]
    """Logit of the share of coordinates that are mutated."""
    anew: Float[Array, "*batch 2"]
    """Logarithm of how many coordinates of a child are drawn anew."""
    newcomers: Float[Array, "*batch 1"]
    """Logit of the share of children that are drawn anew altogether."""
    size: Float[Array, "*batch 1"]
    """Logarithm of the size of steps, relative to the mutation rate."""
    spread: Float[Array, "*batch 1"]
    """Logarithm of the spread of sizes."""


@tree_dataclass
class ScreenTheta:
    """How candidates are judged by their neighbours, relative to the usual constants, all as logarithms."""

    width: Float[Array, "*batch 3"]
    """How far attention reaches: a value, its slope over ln(D / 10) and that over ln(evaluations / 25)."""
    prior: Float[Array, "*batch 1"]
    """How many neighbours an unknown solution counts for."""
    explore: Float[Array, "*batch 2"]
    """What it is worth to know nothing of a place: a value, and its slope over ln(evaluations / 25)."""
    relevance: Float[Array, "*batch 1"]
    """How much more variables count that go with fitness."""


@tree_dataclass
class RegressTheta:
    """How candidates are judged by a regression over the past, relative to the usual constants, all as logarithms."""

    reach: Float[Array, "*batch 3"]
    """How far variables reach before values say more: a value, its slope over ln(D / 10) and that over
    ln(evaluations / 25)."""
    freedom: Float[Array, "*batch 1"]
    """How far values may move the reach of each variable."""
    noise: Float[Array, "*batch 1"]
    """The share of a value that is noise, before values say more."""
    explore: Float[Array, "*batch 2"]
    """What a deviation counts for beside the mean: a value, and its slope over ln(evaluations / 25)."""


@tree_dataclass
class Theta:
    """Weights of the operators that are learned; the others are None.

    `jitter` adds chance to the learned rate. `blend` is another learned crossover, in place of `cross`. `shape` bends
    the mutation by a matrix, `separable` by one scale per variable, where there are too many variables for a matrix.
    `scatter` is a mutation for boxes, in place of `shape`, and `screen` chooses children from many candidates;
    `regress` does so too, in its place.
    """

    select: SelectionTheta | None = None
    rate: ReadoutTheta | None = None
    sample: ReadoutTheta | None = None
    cross: ReadoutTheta | None = None
    blend: BlendTheta | None = None
    jitter: JitterTheta | None = None
    shape: ShapeTheta | None = None
    separable: ShapeTheta | None = None
    scatter: ScatterTheta | None = None
    screen: ScreenTheta | None = None
    regress: RegressTheta | None = None

    @property
    def screens(self) -> bool:
        """Whether children are chosen from many candidates."""
        return self.screen is not None or self.regress is not None


PAPERS = ("select", "rate", "sample", "cross")
"""The paper's four learned operators; the others are this project's."""
LEARNABLE = tuple(field.name for field in fields(Theta))  # pyright: ignore[reportArgumentType]


@dataclass(frozen=True)
class ThetaConfig:
    """Which operators are learned, and the size of their attention."""

    learned: tuple[str, ...] = ("select", "rate")
    key_dim: int = 16
    num_heads: int = 2

    def __post_init__(self) -> None:
        require(len(self.learned) > 0, "learned is empty, but must name at least one operator.")
        for name in self.learned:
            require_known("learned", name, LEARNABLE)
        require(
            "jitter" not in self.learned or "rate" in self.learned, "learned names jitter, so it must name rate too."
        )
        require(
            not {"blend", "cross"} <= set(self.learned),
            "learned names both blend and cross, but there is one crossover.",
        )
        require(
            "scatter" not in self.learned or not {"shape", "separable"} & set(self.learned),
            "learned names scatter and a shape, but there is one mutation.",
        )
        require(
            not {"screen", "regress"} <= set(self.learned),
            "learned names both screen and regress, but candidates are chosen once.",
        )
        require_positive_integer("key_dim", self.key_dim)
        require_positive_integer("num_heads", self.num_heads)
        require(
            self.key_dim % self.num_heads == 0,
            f"key_dim is {self.key_dim}, but must be a multiple of num_heads, which is {self.num_heads}.",
        )


DEFAULT_CONFIG = ThetaConfig()


def ravel_theta(theta: Theta) -> tuple[Float[Array, " w"], Callable[[Float[Array, " w"]], Theta]]:
    """All weights as one vector, and the way back."""
    return ravel_pytree(theta)


def config_of(theta: Theta) -> ThetaConfig:
    """The configuration, read from the shapes; without any attention its size is the default one."""
    learned = learned_in(theta)
    heads = [node for node in jax.tree.leaves(theta, is_leaf=is_heads) if is_heads(node)]
    if not heads:
        return ThetaConfig(learned)
    _, num_heads, head_dim = heads[0].kernel.shape[-3:]
    return ThetaConfig(learned, num_heads * head_dim, num_heads)


def is_heads(node: Any) -> bool:
    return isinstance(node, Heads)


def learned_in(operators: Any) -> tuple[str, ...]:
    """Names of the operators that are there, in a theta or in its folded form."""
    learned = tuple(name for name in LEARNABLE if getattr(operators, name) is not None)
    require(len(learned) > 0, "theta holds no weights, but at least one operator must be learned.")
    return learned
