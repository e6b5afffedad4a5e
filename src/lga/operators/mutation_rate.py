"""Mutation rate: how far each child is mutated."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from lga.core.checks import require, require_positive_integer
from lga.core.interfaces import MutationRate
from lga.core.random import log_uniform_factor, uniform_index
from lga.operators.features import rate_features
from lga.operators.fold import fold_readout, map_rows, readout_row, with_one
from lga.operators.theta import ReadoutTheta


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
        successes = jnp.mean(offspring.fitness < sampled_parents.fitness)
        return rate_state * jnp.where(successes >= share, factor, 1.0 / factor)

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
        return jnp.arange(num_children) * num_groups // num_children

    def propose(key, rate_state, sampled_parents, progress):
        return rate_state[groups(sampled_parents.sigma.shape[0])]

    def update(key, rate_state, sampled_parents, offspring):
        key_parent, key_factor = jax.random.split(key)
        change = offspring.fitness - sampled_parents.fitness
        group_change = jax.ops.segment_min(change, groups(change.shape[0]), num_groups)
        by_rank = rate_state[jnp.argsort(group_change)]
        redrawn = by_rank[uniform_index(key_parent, num_groups - 1, num_better)]
        return jnp.concatenate([by_rank[:1], redrawn * log_uniform_factor(key_factor, meta, num_groups - 1)])

    return MutationRate(lambda sigma0: jnp.full((num_groups,), sigma0), propose, update)


def attention_rate(theta: ReadoutTheta) -> MutationRate:
    """MRA: self-attention over the sampled parents multiplies each one's rate."""
    folded = fold_readout(theta)

    def rate_multiplier(features: Float[Array, "n 5"]) -> Float[Array, " n"]:
        rows = with_one(features)
        output = map_rows(lambda row: readout_row(folded, row, rows), (rows,), rows.shape[0])
        return jnp.exp(0.5 * output)

    def propose(key, rate_state, sampled_parents, progress):
        return sampled_parents.sigma * rate_multiplier(rate_features(sampled_parents, progress.best_fitness))

    return MutationRate(no_state, propose, no_update)
