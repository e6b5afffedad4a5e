"""Folding: the weight matrices of an attention operator multiplied out, once, into a few numbers of the same function.

Queries and keys are affine in a handful of features. With g = [features, 1] the logit of head h between two individuals
is the bilinear form g^T A_h g', and what follows the softmax is linear in the gathered g. So 1,377 weights of the
default operators become 148 numbers, with about a fifth of the arithmetic. Operators take these numbers.

Folding loses nothing but redundancy: heads that are at least as wide as g can hold any folded form. So meta-training
may move the folded numbers, and what it finds is unfolded into a set of weights where it leaves the loop.
"""

from collections.abc import Callable
from dataclasses import fields
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from lga.core.checks import require
from lga.core.tree import tree_dataclass
from lga.core.tree_io import leaf_name
from lga.operators.features import (
    NUM_CROSSOVER_FEATURES,
    NUM_FITNESS_FEATURES,
    NUM_RATE_FEATURES,
    NUM_SAMPLING_FEATURES,
)
from lga.operators.theta import (
    DEFAULT_CONFIG,
    AttentionTheta,
    BlendTheta,
    Dense,
    Heads,
    JitterTheta,
    ReadoutTheta,
    RegressTheta,
    ScatterTheta,
    ScreenTheta,
    SelectionTheta,
    ShapeTheta,
    Theta,
    ThetaConfig,
    learned_in,
)


@tree_dataclass
class FoldedSelection:
    """Parent e attends to child n by g_e^T A_h g_n (`attend`); the logit is sum_h gathered_h^T B_h g_n (`score`)."""

    attend: Float[Array, "*batch h g g"]
    score: Float[Array, "*batch h g g"]


@tree_dataclass
class FoldedReadout:
    """`attend` as in selection. `value`: the output is sum_h gathered_h^T c_h."""

    attend: Float[Array, "*batch h g g"]
    value: Float[Array, "*batch h g"]


@tree_dataclass
class FoldedBlend:
    """`attend` as in selection, among the parents. `gate`: how far a parent moves to what each head points at."""

    attend: Float[Array, "*batch h g g"]
    gate: Dense


@tree_dataclass
class FoldedTheta:
    """The folded forms of a theta's operators; None where it has none."""

    select: FoldedSelection | None = None
    rate: FoldedReadout | None = None
    sample: FoldedReadout | None = None
    cross: FoldedReadout | None = None
    blend: FoldedBlend | None = None
    jitter: JitterTheta | None = None
    shape: ShapeTheta | None = None
    separable: ShapeTheta | None = None
    scatter: ScatterTheta | None = None
    screen: ScreenTheta | None = None
    regress: RegressTheta | None = None


class Learnable(NamedTuple):
    """All that is to be known of an operator that can be learned: both of its forms, and the ways between them."""

    weights: Callable[[ThetaConfig], Any]
    """Zeros in the training form."""
    numbers: Callable[[ThetaConfig], Any]
    """Zeros in the folded form."""
    fold: Callable[[Any], Any]
    unfold: Callable[[Any, int], Any]
    """(folded, key_dim) -> weights"""


# Layouts.


def zero_dense(num_in: int, num_out: int) -> Dense:
    return Dense(jnp.zeros((num_in, num_out)), jnp.zeros(num_out))


def zero_heads(config: ThetaConfig, num_in: int) -> Heads:
    head_dim = config.key_dim // config.num_heads
    return Heads(jnp.zeros((num_in, config.num_heads, head_dim)), jnp.zeros((config.num_heads, head_dim)))


def zero_attention(config: ThetaConfig, num_in: int) -> AttentionTheta:
    query, key, value = (zero_heads(config, num_in) for _ in range(3))
    return AttentionTheta(query, key, value, zero_dense(config.key_dim, config.key_dim))


def zero_forms(config: ThetaConfig, num_features: int) -> Float[Array, "h g g"]:
    return jnp.zeros((config.num_heads, num_features + 1, num_features + 1))


# Folding.


def fold_selection(theta: SelectionTheta) -> FoldedSelection:
    gathered_to_query = mixed_values(theta.attention, theta.query)
    key = affine(theta.key)
    return FoldedSelection(
        attend=bilinear_forms(theta.attention.query, theta.attention.key),
        score=jnp.einsum("hgk,fk->hgf", gathered_to_query, key) / jnp.sqrt(key.shape[-1]),
    )


def fold_readout(theta: ReadoutTheta) -> FoldedReadout:
    return FoldedReadout(
        attend=bilinear_forms(theta.attention.query, theta.attention.key),
        value=mixed_values(theta.attention, theta.readout)[..., 0],
    )


def fold_blend(theta: BlendTheta) -> FoldedBlend:
    return FoldedBlend(bilinear_forms(theta.query, theta.key), theta.gate)


def affine(layer: Dense | Heads) -> Float[Array, "g *out"]:
    """Kernel and bias as one matrix that acts on [features, 1]."""
    return jnp.concatenate([layer.kernel, layer.bias[None]], axis=0)


def bilinear_forms(query_heads: Heads, key_heads: Heads) -> Float[Array, "h g g"]:
    query, key = affine(query_heads), affine(key_heads)
    return jnp.einsum("ghk,fhk->hgf", query, key) / jnp.sqrt(query.shape[-1])


def mixed_values(theta: AttentionTheta, after: Dense) -> Float[Array, "h g o"]:
    """From the gathered [features, 1] of each head to the output of the layer `after` the mixing of heads."""
    value = affine(theta.value)
    _, num_heads, head_dim = value.shape
    mix = theta.mix.kernel.reshape(num_heads, head_dim, -1)
    through_heads = jnp.einsum("ghk,hko->hgo", value, mix @ after.kernel)
    # Softmax weights sum to one, so the gathered 1 carries the biases; they are shared out over the heads.
    bias = theta.mix.bias @ after.kernel + after.bias
    return through_heads.at[:, -1, :].add(bias / num_heads)


# Unfolding.


def unfold_selection(folded: FoldedSelection, key_dim: int) -> SelectionTheta:
    mixed = folded.score * jnp.sqrt(key_dim)
    return SelectionTheta(
        attention=unfold_attention(folded.attend, mixed, key_dim),
        query=Dense(jnp.eye(key_dim), jnp.zeros(key_dim)),
        key=dense_layer(jnp.eye(folded.attend.shape[-1], key_dim)),
    )


def unfold_readout(folded: FoldedReadout, key_dim: int) -> ReadoutTheta:
    return ReadoutTheta(
        attention=unfold_attention(folded.attend, folded.value[..., None], key_dim),
        readout=Dense(jnp.eye(key_dim, 1), jnp.zeros(1)),
    )


def unfold_blend(folded: FoldedBlend, key_dim: int) -> BlendTheta:
    query, key = unfold_forms(folded.attend, key_dim)
    return BlendTheta(query, key, folded.gate)


def unfold_attention(forms: Float[Array, "h g g"], mixed: Float[Array, "h g o"], key_dim: int) -> AttentionTheta:
    """Attention by the given forms, whose mixed output is `mixed` applied to what each head gathers."""
    num_heads, width, num_out = mixed.shape
    query, key = unfold_forms(forms, key_dim)
    mix = jnp.zeros((num_heads, key_dim // num_heads, key_dim)).at[:, :width, :num_out].set(mixed)
    return AttentionTheta(query, key, key, Dense(mix.reshape(key_dim, key_dim), jnp.zeros(key_dim)))


def unfold_forms(forms: Float[Array, "h g g"], key_dim: int) -> tuple[Heads, Heads]:
    """Queries that hold the whole form, and keys that hold [features, 1] itself."""
    num_heads, width, _ = forms.shape
    head_dim = key_dim // num_heads
    require(
        head_dim >= width,
        f"key_dim is {key_dim}, but must be at least {num_heads * width}: each head must hold {width} numbers.",
    )
    room = jnp.zeros((width, num_heads, head_dim))
    query = room.at[..., :width].set(jnp.swapaxes(forms, 0, 1) * jnp.sqrt(head_dim))
    key = room + jnp.eye(width, head_dim)[:, None, :]
    return heads_layer(query), heads_layer(key)


def heads_layer(affine: Float[Array, "g h k"]) -> Heads:
    return Heads(affine[:-1], affine[-1])


def dense_layer(affine: Float[Array, "g o"]) -> Dense:
    return Dense(affine[:-1], affine[-1])


# One table for each operator.


def learnable_selection(num_features: int) -> Learnable:
    return Learnable(
        weights=lambda config: SelectionTheta(
            zero_attention(config, num_features),
            zero_dense(config.key_dim, config.key_dim),
            zero_dense(num_features, config.key_dim),
        ),
        numbers=lambda config: FoldedSelection(zero_forms(config, num_features), zero_forms(config, num_features)),
        fold=fold_selection,
        unfold=unfold_selection,
    )


def learnable_readout(num_features: int) -> Learnable:
    return Learnable(
        weights=lambda config: ReadoutTheta(zero_attention(config, num_features), zero_dense(config.key_dim, 1)),
        numbers=lambda config: FoldedReadout(
            zero_forms(config, num_features), jnp.zeros((config.num_heads, num_features + 1))
        ),
        fold=fold_readout,
        unfold=unfold_readout,
    )


def learnable_blend(num_features: int) -> Learnable:
    def gate(config: ThetaConfig) -> Dense:
        return zero_dense(num_features, config.num_heads)

    return Learnable(
        weights=lambda config: BlendTheta(
            zero_heads(config, num_features), zero_heads(config, num_features), gate(config)
        ),
        numbers=lambda config: FoldedBlend(zero_forms(config, num_features), gate(config)),
        fold=fold_blend,
        unfold=unfold_blend,
    )


def learnable_numbers(zeros: Callable[[], Any]) -> Learnable:
    """An operator of a few numbers, which are their own folded form."""
    return Learnable(
        weights=lambda config: zeros(),
        numbers=lambda config: zeros(),
        fold=lambda theta: theta,
        unfold=lambda folded, key_dim: folded,
    )


def usual_shape() -> ShapeTheta:
    """All zeros: the usual constants."""
    sizes = {field.name: 1 if field.name == "merge" else 2 for field in fields(ShapeTheta)}  # pyright: ignore
    return ShapeTheta(**{name: jnp.zeros(size) for name, size in sizes.items()})


def usual_scatter() -> ScatterTheta:
    return ScatterTheta(jnp.zeros(2), jnp.zeros(2), jnp.zeros(1), jnp.zeros(1), jnp.zeros(1))


def usual_screen() -> ScreenTheta:
    return ScreenTheta(jnp.zeros(3), jnp.zeros(1), jnp.zeros(2), jnp.zeros(1))


def usual_regress() -> RegressTheta:
    return RegressTheta(jnp.zeros(3), jnp.zeros(1), jnp.zeros(1), jnp.zeros(2))


OPERATORS: dict[str, Learnable] = {
    "select": learnable_selection(NUM_FITNESS_FEATURES),
    "rate": learnable_readout(NUM_RATE_FEATURES),
    "sample": learnable_readout(NUM_SAMPLING_FEATURES),
    "cross": learnable_readout(NUM_CROSSOVER_FEATURES),
    "blend": learnable_blend(NUM_SAMPLING_FEATURES),
    "jitter": learnable_numbers(lambda: JitterTheta(jnp.zeros(1))),
    "shape": learnable_numbers(usual_shape),
    "separable": learnable_numbers(usual_shape),
    "scatter": learnable_numbers(usual_scatter),
    "screen": learnable_numbers(usual_screen),
    "regress": learnable_numbers(usual_regress),
}


def theta_layout(config: ThetaConfig) -> Theta:
    """Zeros in the shape that the configuration asks for."""
    return Theta(**{name: OPERATORS[name].weights(config) for name in config.learned})


def folded_layout(config: ThetaConfig) -> FoldedTheta:
    """Zeros in the shape that the configuration's weights fold into."""
    return FoldedTheta(**{name: OPERATORS[name].numbers(config) for name in config.learned})


def fold(theta: Theta) -> FoldedTheta:
    """The numbers that all operators of a theta fold into."""
    return FoldedTheta(**{name: OPERATORS[name].fold(getattr(theta, name)) for name in learned_in(theta)})


def unfold(folded: FoldedTheta, key_dim: int) -> Theta:
    """Weights whose folded form is the given one."""
    return Theta(**{name: OPERATORS[name].unfold(getattr(folded, name), key_dim) for name in learned_in(folded)})


def init_theta(key: Key[Array, ""], config: ThetaConfig = DEFAULT_CONFIG, scale: float = 1.0) -> Theta:
    """Kernels with variance `scale**2 / fan_in`, biases zero. With `scale=0` all weights are zero."""
    named, structure = jax.tree_util.tree_flatten_with_path(theta_layout(config))
    keys = jax.random.split(key, len(named))

    def draw(leaf_key, path, leaf):
        if leaf_name(path).endswith("bias"):
            return leaf
        return scale * jax.random.normal(leaf_key, leaf.shape) / np.sqrt(leaf.shape[0])

    return jax.tree.unflatten(structure, [draw(k, *leaf) for k, leaf in zip(keys, named, strict=True)])
