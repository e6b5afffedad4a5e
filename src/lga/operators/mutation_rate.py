"""Mutation rate: how far each child is mutated."""

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from lga import native
from lga.core.checks import require, require_positive_integer
from lga.core.interfaces import MutationRate
from lga.core.random import log_uniform_factor, uniform_index
from lga.operators.features import (
    NUM_RATE_FEATURES,
    centred_ranks,
    fitness_and_rate_features,
    worst_for_failures,
    z_score,
)
from lga.operators.fold import FoldedReadout
from lga.operators.rows import map_rows, readout_row, require_forms, with_one
from lga.operators.theta import JitterTheta

# Rates stay in a range where neither they nor their products with solutions leave the floats.
SMALLEST_SIGMA, LARGEST_SIGMA = 1e-20, 1e15


def within_floats(sigma: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """A rate that reached zero or infinity could never come back, so no rule lets its rate get there."""
    return jnp.clip(sigma, SMALLEST_SIGMA, LARGEST_SIGMA)


def no_state(sigma0):
    """The rates live in the archive and are inherited through selection."""
    return ()


def no_update(key, rate_state, sampled_parents, offspring):
    return rate_state


def fixed_rate() -> MutationRate:
    """Every child is mutated with the initial rate."""

    def propose(key, rate_state, sampled_parents, progress):
        return jnp.broadcast_to(rate_state, sampled_parents.sigma.shape)

    return MutationRate(lambda sigma0: sigma0, propose, no_update)


def no_mutation() -> MutationRate:
    def propose(key, rate_state, sampled_parents, progress):
        return jnp.zeros_like(sampled_parents.sigma)

    return MutationRate(no_state, propose, no_update)


def one_fifth_rule(factor: float = 2.0, share: float = 0.2) -> MutationRate:
    """MR-1/5: one rate for all; it grows when at least a fifth of the children beat their parent, else it shrinks."""
    require(factor > 1.0, f"factor is {factor}, but must be more than 1.")
    require(0.0 < share < 1.0, f"share is {share}, but must lie between 0 and 1.")

    def propose(key, rate_state, sampled_parents, progress):
        return jnp.broadcast_to(rate_state, sampled_parents.sigma.shape)

    def update(key, rate_state, sampled_parents, offspring):
        # Counted, not averaged: a compiled mean multiplies by 1 / n, and 20 / 100 becomes a little less than a fifth.
        enough = math.ceil(round(share * offspring.fitness.shape[0], 9))
        successes = jnp.sum(offspring.fitness < sampled_parents.fitness, dtype=jnp.int32)
        return within_floats(rate_state * jnp.where(successes >= enough, factor, 1.0 / factor))

    return MutationRate(lambda sigma0: sigma0, propose, update)


def self_adaptive_rate(meta: float = 2.0) -> MutationRate:
    """SAMR: a child's rate is its parent's times meta^U(-1, 1); rates that do well survive with their owners."""
    require(meta > 1.0, f"meta is {meta}, but must be more than 1.")

    def propose(key, rate_state, sampled_parents, progress):
        sigma = sampled_parents.sigma
        return sigma * log_uniform_factor(key, meta, sigma.shape[0])

    return MutationRate(no_state, propose, no_update)


def group_elite_rate(num_groups: int, meta: float = 2.0) -> MutationRate:
    """GESMR: children in groups that share a rate; the best rate stays, the others are redrawn from the better half.

    A group is as good as its best child's improvement over the child's parent: the rate that makes one big step wins
    over the rate that makes many small ones.
    """
    require_positive_integer("num_groups", num_groups)
    require(meta > 1.0, f"meta is {meta}, but must be more than 1.")
    num_better = max(1, num_groups // 2)

    def groups(num_children: int):
        return (np.arange(num_children) * num_groups // num_children).astype(np.int32)

    def propose(key, rate_state, sampled_parents, progress):
        return rate_state[groups(sampled_parents.sigma.shape[0])]

    def update(key, rate_state, sampled_parents, offspring):
        key_parent, key_factor = jax.random.split(key)
        change = offspring.fitness - sampled_parents.fitness
        group_change = jax.ops.segment_min(change, groups(change.shape[0]), num_groups)
        by_rank = rate_state[jnp.argsort(group_change)]
        redrawn = by_rank[uniform_index(key_parent, num_groups - 1, num_better)]
        factors = log_uniform_factor(key_factor, meta, num_groups - 1)
        return within_floats(jnp.concatenate([by_rank[:1], redrawn * factors]))

    return MutationRate(lambda sigma0: jnp.full((num_groups,), sigma0), propose, update)


def trend_rate(grow: float = 1.14, better: float = 0.46, worse: float = 0.82) -> MutationRate:
    """All rates grow, unless larger rates go with worse fitness among the sampled parents: then all shrink.

    Those that are better than the mean shrink most: it is their children that are likely to go on.
    """

    def propose(key, rate_state, sampled_parents, progress):
        standing = z_score(worst_for_failures(sampled_parents.fitness))
        trend = jnp.sum(standing * z_score(sampled_parents.sigma))
        factor = jnp.where(trend > 0.0, jnp.where(standing < 0.0, better, worse), grow)
        return sampled_parents.sigma * factor

    return MutationRate(no_state, propose, no_update)


def ladder_rate(height: float = 1.0) -> MutationRate:
    """Of the sampled parents the first in rank multiplies its rate by exp(height / 2), the last by exp(-height / 2).

    Equals are ranked by position, so the children of equal parents try different rates, and selection decides.
    """

    def propose(key, rate_state, sampled_parents, progress):
        return sampled_parents.sigma * jnp.exp(-height * centred_ranks(sampled_parents.fitness))

    return MutationRate(no_state, propose, no_update)


# Spread of the logarithm of a rate with jitter before anything is learned: usual for self-adaptation in 12 dimensions.
USUAL_SPREAD = 0.2


def attention_rate(folded: FoldedReadout, jitter: JitterTheta | None = None) -> MutationRate:
    """MRA: self-attention over the sampled parents multiplies each one's rate.

    With `jitter` the product is random, log-normal around it: alike parents try different rates, and selection decides.
    """
    require_forms("rate", folded.attend, NUM_RATE_FEATURES)

    def propose(key, rate_state, sampled_parents, progress):
        fitness, sigma = sampled_parents.fitness, sampled_parents.sigma
        proposed = sigma * attended_multiplier(fitness, sigma, progress.best_fitness, folded.attend, folded.value)
        if jitter is None:
            return proposed
        spread = USUAL_SPREAD * jnp.exp(jitter.log_spread)
        return proposed * jnp.exp(spread * jax.random.normal(key, sigma.shape))

    return MutationRate(no_state, propose, no_update)


@native.with_kernel(native.rate)
def attended_multiplier(
    fitness: Float[Array, " n"],
    sigma: Float[Array, " n"],
    best_fitness: Float[Array, ""],
    attend: Float[Array, "h 6 6"],
    value: Float[Array, "h 6"],
) -> Float[Array, " n"]:
    return rate_multiplier(FoldedReadout(attend, value), fitness_and_rate_features(fitness, sigma, best_fitness))


def rate_multiplier(folded: FoldedReadout, features: Float[Array, "n 5"]) -> Float[Array, " n"]:
    rows = with_one(features)
    return jnp.exp(0.5 * map_rows(lambda row: readout_row(folded, row, rows), (rows,), rows.shape[0]))


RATES: dict[str, Callable[..., MutationRate]] = {
    "fixed": fixed_rate,
    "none": no_mutation,
    "one_fifth": one_fifth_rule,
    "self_adaptive": self_adaptive_rate,
    "group_elite": group_elite_rate,
    "trend": trend_rate,
    "ladder": ladder_rate,
    "attention": attention_rate,
}
