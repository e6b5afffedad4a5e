"""Sampling: which parent each child descends from."""

from collections.abc import Callable

import jax
from jaxtyping import Array, Float, Int, Key

from lga.core.interfaces import Sampling
from lga.core.population import Archive, Progress
from lga.core.random import index_by_weight, uniform_index
from lga.operators.features import NUM_SAMPLING_FEATURES, sampling_features
from lga.operators.fold import FoldedReadout
from lga.operators.rows import map_rows, readout_row, require_forms, with_one


def uniform_sampling() -> Sampling:
    """Every parent is as likely as any other, with replacement."""

    def sample(key: Key[Array, ""], parents: Archive, num_children: int, progress: Progress) -> Int[Array, " n"]:
        return uniform_index(key, num_children, parents.fitness.shape[0])

    return sample


def attention_sampling(folded: FoldedReadout) -> Sampling:
    """Self-attention over fitness and age gives each parent its probability."""
    require_forms("sample", folded.attend, NUM_SAMPLING_FEATURES)

    def sample(key: Key[Array, ""], parents: Archive, num_children: int, progress: Progress) -> Int[Array, " n"]:
        probabilities = sampling_probabilities(folded, sampling_features(parents, progress))
        uniform = jax.random.uniform(key, (num_children,))
        return map_rows(lambda u: index_by_weight(u, probabilities), (uniform,), probabilities.shape[0])

    return sample


def sampling_probabilities(folded: FoldedReadout, features: Float[Array, "e 4"]) -> Float[Array, " e"]:
    rows = with_one(features)
    return jax.nn.softmax(map_rows(lambda row: readout_row(folded, row, rows), (rows,), rows.shape[0]))


SAMPLINGS: dict[str, Callable[..., Sampling]] = {"uniform": uniform_sampling, "attention": attention_sampling}
