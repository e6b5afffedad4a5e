"""Attention with folded numbers, row by row: each individual asks, all answer.

Rows are [features, 1]. Large populations are worked on in blocks, so that memory does not grow with their square.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from lga.core.checks import require
from lga.operators.fold import FoldedReadout, FoldedSelection

# Entries of an attention matrix that are worked on at once: 16 MiB of floats per head.
LARGEST_BLOCK = 1 << 22


def require_forms(operator: str, forms: Float[Array, "*batch h g g"], num_features: int) -> None:
    """Numbers of another operator are refused, and not read as if they fitted."""
    width = num_features + 1
    require(
        forms.shape[-2:] == (width, width),
        f"the numbers of {operator} have forms of shape {tuple(forms.shape)}, but must have [heads, {width}, {width}].",
    )


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
