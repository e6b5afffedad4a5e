"""The weights of learned operators: their layout, their start and their flat vector."""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Key

from lga.core.checks import require, require_known, require_positive_integer
from lga.core.tree import tree_dataclass
from lga.core.tree_io import leaf_name
from lga.operators.features import (
    NUM_CROSSOVER_FEATURES,
    NUM_FITNESS_FEATURES,
    NUM_RATE_FEATURES,
    NUM_SAMPLING_FEATURES,
)


@tree_dataclass
class Dense:
    """x @ kernel + bias."""

    kernel: Float[Array, "*batch i o"]
    bias: Float[Array, "*batch o"]


@tree_dataclass
class Heads:
    """One embedding a head: the number of heads is read from the shape."""

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
class Theta:
    """Weights of the operators that are learned; the others are None.

    `jitter` adds chance to the learned rate. `blend` is another learned crossover, in place of `cross`.
    """

    select: SelectionTheta | None = None
    rate: ReadoutTheta | None = None
    sample: ReadoutTheta | None = None
    cross: ReadoutTheta | None = None
    blend: BlendTheta | None = None
    jitter: JitterTheta | None = None


NUM_FEATURES = {
    "select": NUM_FITNESS_FEATURES,
    "rate": NUM_RATE_FEATURES,
    "sample": NUM_SAMPLING_FEATURES,
    "cross": NUM_CROSSOVER_FEATURES,
}
# Beyond the paper's four operators.
EXTENSIONS = ("blend", "jitter")
LEARNABLE = (*NUM_FEATURES, *EXTENSIONS)


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
        require_positive_integer("key_dim", self.key_dim)
        require_positive_integer("num_heads", self.num_heads)
        require(
            self.key_dim % self.num_heads == 0,
            f"key_dim is {self.key_dim}, but must be a multiple of num_heads, which is {self.num_heads}.",
        )


DEFAULT_CONFIG = ThetaConfig()


def init_theta(key: Key[Array, ""], config: ThetaConfig = DEFAULT_CONFIG, scale: float = 1.0) -> Theta:
    """Kernels with variance `scale**2 / fan_in`, biases zero. With `scale=0` all weights are zero."""
    named, structure = jax.tree_util.tree_flatten_with_path(theta_layout(config))
    keys = jax.random.split(key, len(named))

    def draw(leaf_key, path, leaf):
        if leaf_name(path).endswith("bias"):
            return leaf
        return scale * jax.random.normal(leaf_key, leaf.shape) / np.sqrt(leaf.shape[0])

    return jax.tree.unflatten(structure, [draw(k, *leaf) for k, leaf in zip(keys, named, strict=True)])


def theta_layout(config: ThetaConfig) -> Theta:
    """Zeros in the shape that the configuration asks for."""
    width, heads = config.key_dim, config.num_heads

    def dense(num_in: int, num_out: int) -> Dense:
        return Dense(jnp.zeros((num_in, num_out)), jnp.zeros(num_out))

    def embedding(num_in: int) -> Heads:
        return Heads(jnp.zeros((num_in, heads, width // heads)), jnp.zeros((heads, width // heads)))

    def attention(num_in: int) -> AttentionTheta:
        return AttentionTheta(embedding(num_in), embedding(num_in), embedding(num_in), dense(width, width))

    def selection(num_in: int) -> SelectionTheta:
        return SelectionTheta(attention(num_in), dense(width, width), dense(num_in, width))

    def readout(num_in: int) -> ReadoutTheta:
        return ReadoutTheta(attention(num_in), dense(width, 1))

    def blend(num_in: int) -> BlendTheta:
        return BlendTheta(embedding(num_in), embedding(num_in), dense(num_in, heads))

    layouts = {
        "select": lambda: selection(NUM_FITNESS_FEATURES),
        "rate": lambda: readout(NUM_RATE_FEATURES),
        "sample": lambda: readout(NUM_SAMPLING_FEATURES),
        "cross": lambda: readout(NUM_CROSSOVER_FEATURES),
        "blend": lambda: blend(NUM_SAMPLING_FEATURES),
        "jitter": lambda: JitterTheta(jnp.zeros(1)),
    }
    return Theta(**{name: layouts[name]() for name in config.learned})


def ravel_theta(theta: Theta) -> tuple[Float[Array, " w"], Callable[[Float[Array, " w"]], Theta]]:
    """All weights as one vector, and the way back."""
    return ravel_pytree(theta)


def config_of(theta: Theta) -> ThetaConfig:
    """The configuration, read from the shapes."""
    learned = tuple(name for name in LEARNABLE if getattr(theta, name) is not None)
    require(len(learned) > 0, "theta holds no weights, but at least one operator must be learned.")
    first = getattr(theta, learned[0])
    query = first.query if isinstance(first, BlendTheta) else first.attention.query
    _, num_heads, head_dim = query.kernel.shape[-3:]
    return ThetaConfig(learned, num_heads * head_dim, num_heads)
