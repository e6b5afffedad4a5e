"""Selection: which individuals of `[offspring; parents]` are the next parents. Always indices, never a product."""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from lga import native
from lga.core import random
from lga.core.interfaces import Selection
from lga.core.population import Archive, Progress
from lga.core.random import index_by_weight
from lga.operators.features import NUM_FITNESS_FEATURES, centred_ranks, fitness_features
from lga.operators.fold import FoldedSelection
from lga.operators.rows import map_rows, require_forms, selection_row, with_one


def truncation_selection() -> Selection:
    """The best of `[offspring; parents]`; a child wins a tie against a parent."""

    def select(key: Key[Array, ""], parents: Archive, offspring: Archive, progress: Progress) -> Int[Array, " e"]:
        union = jnp.concatenate([offspring.fitness, parents.fitness])
        return jnp.argsort(union)[: parents.fitness.shape[0]]

    return select


def rank_selection(decay: float = 2.0) -> Selection:
    """Every parent draws its successor: the better a child's place among `[offspring; parents]`, the likelier.

    With every place the weight of a child falls by exp(-decay). The parent stays with the weight of a child just behind
    all parents. So if a child beats all parents, it takes nearly every place; if none does, a parent is as likely to
    stay as to give way to the best child.
    """

    def select(key: Key[Array, ""], parents: Archive, offspring: Archive, progress: Progress) -> Int[Array, " e"]:
        num_children, num_parents = offspring.fitness.shape[0], parents.fitness.shape[0]
        union = jnp.concatenate([offspring.fitness, parents.fitness])
        places = (0.5 + centred_ranks(union)) * (union.shape[0] - 1)
        logits = -decay * jnp.append(places[:num_children], num_parents)
        weights = jnp.exp(logits - jnp.max(logits))
        uniform = random.uniform(key, num_parents, weights.dtype)
        chosen = index_by_weight(uniform, jnp.broadcast_to(weights, (num_parents, num_children + 1)))
        return jnp.where(chosen == num_children, num_children + jnp.arange(num_parents, dtype=jnp.int32), chosen)

    return select


def attention_selection(folded: FoldedSelection, even: bool = False) -> Selection:
    """Cross-attention gives each parent a distribution over the children and itself; one draw decides.

    With `even` the draws of the parents are spread evenly: each parent's distribution is the same, but a child that is
    as likely as the others to be chosen is chosen about as often as them, and not by luck twice or never.
    """
    require_forms("select", folded.attend, NUM_FITNESS_FEATURES)

    def select(key: Key[Array, ""], parents: Archive, offspring: Archive, progress: Progress) -> Int[Array, " e"]:
        draw = random.even_uniform if even else random.uniform
        uniform = draw(key, parents.fitness.shape[0], parents.fitness.dtype)
        chosen = choose(parents.fitness, offspring.fitness, progress.best_fitness, uniform, folded.attend, folded.score)
        num_children = offspring.fitness.shape[0]
        itself = num_children + jnp.arange(parents.fitness.shape[0], dtype=jnp.int32)
        return jnp.where(chosen == num_children, itself, chosen)

    return select


@native.with_kernel(native.select)
def choose(
    parent_fitness: Float[Array, " e"],
    child_fitness: Float[Array, " n"],
    best_fitness: Float[Array, ""],
    uniform: Float[Array, " e"],
    attend: Float[Array, "h 4 4"],
    score: Float[Array, "h 4 4"],
) -> Int[Array, " e"]:
    """For each parent the child that takes its place, or N: then it stays."""
    parent_features, child_features = joint_features(parent_fitness, child_fitness, best_fitness)
    return sample_rows(FoldedSelection(attend, score), parent_features, child_features, uniform)


def joint_features(
    parent_fitness: Float[Array, " e"], child_fitness: Float[Array, " n"], best_fitness: Float[Array, ""]
) -> tuple[Float[Array, "e 3"], Float[Array, "n 3"]]:
    """Features of parents and of children, ranked and scaled together."""
    joint = fitness_features(jnp.concatenate([child_fitness, parent_fitness]), best_fitness)
    num_children = child_fitness.shape[0]
    return joint[num_children:], joint[:num_children]


def sample_rows(
    folded: FoldedSelection,
    parent_features: Float[Array, "e 3"],
    child_features: Float[Array, "n 3"],
    uniform: Float[Array, " e"],
) -> Int[Array, " e"]:
    """One draw from each row of the selection matrix; the last column, N, keeps the parent."""
    children = with_one(child_features)

    def choose(parent: Float[Array, " g"], u: Float[Array, ""]) -> Int[Array, ""]:
        return index_by_weight(u, selection_weights(selection_row(folded, parent, children)))

    return map_rows(choose, (with_one(parent_features), uniform), children.shape[0])


def selection_weights(logits: Float[Array, "*rows n"]) -> Float[Array, "*rows m"]:
    """Rows of the selection matrix M^S, up to a factor per row."""
    # The constant 1 is appended after scaling, as in the paper's M^S.
    logits = jnp.concatenate([logits, jnp.ones_like(logits[..., :1])], axis=-1)
    return jnp.exp(logits - jnp.max(logits, axis=-1, keepdims=True))


SELECTIONS: dict[str, Callable[..., Selection]] = {
    "truncation": truncation_selection,
    "rank": rank_selection,
    "attention": attention_selection,
}
