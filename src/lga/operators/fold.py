"""Folding: the weight matrices of an attention operator multiplied out, once, into a few numbers of the same function.

Queries and keys are affine in a handful of features. With g = [features, 1] the logit of head h between two individuals
is the bilinear form g^T A_h g', and what follows the softmax is linear in the gathered g. So 1,377 weights of the
default operators become 148 numbers, with about a fifth of the arithmetic.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from lga.core.tree import tree_dataclass
from lga.operators.theta import AttentionTheta, Dense, Heads, ReadoutTheta, SelectionTheta

# Entries of an attention matrix that are worked on at once: 16 MiB of floats a head.
LARGEST_BLOCK = 1 << 22


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


def fold_selection(theta: SelectionTheta) -> FoldedSelection:
    gathered_to_query = mixed_values(theta.attention, theta.query)
    key = affine(theta.key)
    return FoldedSelection(
        attend=attention_forms(theta.attention),
        score=jnp.einsum("hgk,fk->hgf", gathered_to_query, key) / jnp.sqrt(key.shape[-1]),
    )


def fold_readout(theta: ReadoutTheta) -> FoldedReadout:
    return FoldedReadout(
        attend=attention_forms(theta.attention), value=mixed_values(theta.attention, theta.readout)[..., 0]
    )


def affine(layer: Dense | Heads) -> Float[Array, "g *out"]:
    """Kernel and bias as one matrix that acts on [features, 1]."""
    return jnp.concatenate([layer.kernel, layer.bias[None]], axis=0)


def attention_forms(theta: AttentionTheta) -> Float[Array, "h g g"]:
    return bilinear_forms(theta.query, theta.key)


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


def selection_row(
    folded: FoldedSelection, parent: Float[Array, " g"], children: Float[Array, "n g"]
) -> Float[Array, " n"]:
    """One row of the selection matrix's logits, without the column that keeps the parent."""
    gathered = gather(folded.attend, parent, children)
    query = jnp.einsum("hg,hgf->f", gathered, folded.score)
    return children @ query


def readout_row(folded: FoldedReadout, row: Float[Array, " g"], rows: Float[Array, "n g"]) -> Float[Array, ""]:
    return jnp.sum(gather(folded.attend, row, rows) * folded.value)


def gather(
    forms: Float[Array, "h g g"], asking: Float[Array, " g"], answering: Float[Array, "n g"]
) -> Float[Array, "h g"]:
    """The mean of all answering [features, 1], weighted by each head's attention."""
    logits = (asking @ forms) @ answering.T
    weights = jnp.exp(logits - jnp.max(logits, axis=-1, keepdims=True))
    return (weights @ answering) / jnp.sum(weights, axis=-1, keepdims=True)


def with_one(features: Float[Array, "n f"]) -> Float[Array, "n g"]:
    return jnp.concatenate([features, jnp.ones_like(features[:, :1])], axis=-1)


def map_rows(function: Callable[..., Any], rows: Any, num_columns: int) -> Any:
    """The function over all rows: at once, or in blocks where all rows times all columns would take too much memory."""
    num_rows = jax.tree.leaves(rows)[0].shape[0]
    if num_rows * num_columns <= LARGEST_BLOCK:
        return jax.vmap(function)(*rows)
    return jax.lax.map(lambda row: function(*row), rows, batch_size=max(1, LARGEST_BLOCK // num_columns))
