"""Attention as the paper writes it: embeddings, softmax, values, mixing of heads. It takes the training form.

Searches run on the folded form (`fold`), which is the same function; this module is its reference.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from lga.operators.theta import AttentionTheta, Dense, Heads, ReadoutTheta, SelectionTheta


def dense(layer: Dense, inputs: Float[Array, "n i"]) -> Float[Array, "n o"]:
    return inputs @ layer.kernel + layer.bias[None, :]


def embed(heads: Heads, inputs: Float[Array, "n i"]) -> Float[Array, "h n k"]:
    return jnp.einsum("ni,ihk->hnk", inputs, heads.kernel) + heads.bias[:, None, :]


def attend(
    theta: AttentionTheta, asking: Float[Array, "e i"], answering: Float[Array, "n i"]
) -> Float[Array, "e width"]:
    """Each row of `asking` gathers values from all rows of `answering`."""
    query, key, value = embed(theta.query, asking), embed(theta.key, answering), embed(theta.value, answering)
    scores = jax.nn.softmax(query @ jnp.swapaxes(key, 1, 2) / jnp.sqrt(query.shape[-1]), axis=-1)
    gathered = jnp.swapaxes(scores @ value, 0, 1).reshape(asking.shape[0], -1)
    return dense(theta.mix, gathered)


def selection_logits(
    theta: SelectionTheta, parent_features: Float[Array, "e 3"], child_features: Float[Array, "n 3"]
) -> Float[Array, "e n"]:
    """Q^S (K^S)^T / sqrt(D_K), without the column that keeps the parent."""
    query = dense(theta.query, attend(theta.attention, parent_features, child_features))
    key = dense(theta.key, child_features)
    return query @ key.T / jnp.sqrt(query.shape[-1])


def readout(theta: ReadoutTheta, features: Float[Array, "n f"]) -> Float[Array, " n"]:
    """One number for each row, from self-attention over all rows."""
    return dense(theta.readout, attend(theta.attention, features, features))[:, 0]
