"""Unfolding: weights that fold into given numbers, and the way back.

Folding loses nothing but redundancy: heads that are at least as wide as [features, 1] can hold any folded form. So
meta-training may move the 148 numbers of the default operators instead of their 1,377 weights, and what it finds is
still a set of weights.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from lga.core.checks import require
from lga.core.tree import tree_dataclass
from lga.operators.features import (
    NUM_CROSSOVER_FEATURES,
    NUM_FITNESS_FEATURES,
    NUM_RATE_FEATURES,
    NUM_SAMPLING_FEATURES,
)
from lga.operators.fold import FoldedReadout, FoldedSelection, bilinear_forms, fold_readout, fold_selection
from lga.operators.theta import (
    AttentionTheta,
    BlendTheta,
    Dense,
    Heads,
    JitterTheta,
    ReadoutTheta,
    SelectionTheta,
    Theta,
    ThetaConfig,
)


@tree_dataclass
class FoldedBlend:
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


def folded_layout(config: ThetaConfig) -> FoldedTheta:
    """Zeros in the shape that the configuration's weights fold into."""
    heads = config.num_heads

    def forms(num_features: int) -> Float[Array, "h g g"]:
        return jnp.zeros((heads, num_features + 1, num_features + 1))

    def readout(num_features: int) -> FoldedReadout:
        return FoldedReadout(forms(num_features), jnp.zeros((heads, num_features + 1)))

    def blend(num_features: int) -> FoldedBlend:
        return FoldedBlend(forms(num_features), Dense(jnp.zeros((num_features, heads)), jnp.zeros(heads)))

    layouts: dict[str, Callable[[], Any]] = {
        "select": lambda: FoldedSelection(forms(NUM_FITNESS_FEATURES), forms(NUM_FITNESS_FEATURES)),
        "rate": lambda: readout(NUM_RATE_FEATURES),
        "sample": lambda: readout(NUM_SAMPLING_FEATURES),
        "cross": lambda: readout(NUM_CROSSOVER_FEATURES),
        "blend": lambda: blend(NUM_SAMPLING_FEATURES),
        "jitter": lambda: JitterTheta(jnp.zeros(1)),
    }
    return FoldedTheta(**{name: layouts[name]() for name in config.learned})


def fold(theta: Theta) -> FoldedTheta:
    """The numbers that all operators of a theta fold into."""
    return FoldedTheta(**each_operator(theta, fold_selection, fold_readout, fold_blend))


def unfold(folded: FoldedTheta, key_dim: int) -> Theta:
    """Weights whose folded form is the given one."""
    unfolded = (partial(one, key_dim=key_dim) for one in (unfold_selection, unfold_readout, unfold_blend))
    return Theta(**each_operator(folded, *unfolded))


def each_operator(
    operators: Theta | FoldedTheta,
    selection: Callable[[Any], Any],
    readout: Callable[[Any], Any],
    blend: Callable[[Any], Any],
) -> dict[str, Any]:
    """What the functions make of each operator, by its kind. Jitter is one number, and stays."""
    kinds = {
        "select": selection,
        "rate": readout,
        "sample": readout,
        "cross": readout,
        "blend": blend,
        "jitter": lambda jitter: jitter,
    }
    found = {name: getattr(operators, name) for name in kinds}
    return {name: kinds[name](operator) for name, operator in found.items() if operator is not None}


def fold_blend(blend: BlendTheta) -> FoldedBlend:
    return FoldedBlend(bilinear_forms(blend.query, blend.key), blend.gate)


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
