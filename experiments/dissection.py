"""What the learned operators did in searches: every generation's features, selection logits and rate multipliers."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from lga.algorithms.presets import learned_ga
from lga.algorithms.run import Record, run
from lga.core.population import take
from lga.core.tree import tree_dataclass
from lga.operators.features import rate_features
from lga.operators.fold import FoldedReadout, FoldedSelection, fold
from lga.operators.mutation_rate import rate_multiplier
from lga.operators.rows import selection_row, with_one
from lga.operators.selection import joint_features
from lga.operators.theta import Theta
from lga.trials import uniform_start
from lga.weights import resolve


class PapersOperators(NamedTuple):
    """Folded numbers of the paper's two operators."""

    select: FoldedSelection
    rate: FoldedReadout


def papers_operators(theta: Theta) -> PapersOperators:
    folded = fold(theta)
    if folded.select is None or folded.rate is None:
        raise ValueError("weights have no learned selection or no learned rate, but must have both.")
    return PapersOperators(folded.select, folded.rate)


@tree_dataclass
class Dissected:
    """Leading axes are searches and generations."""

    chosen: Int[Array, "*batch e"]
    """The child that each parent gave way to; N where it stayed."""
    improvements: Bool[Array, "*batch e n"]
    """Which child beats which parent."""
    beats_best: Bool[Array, "*batch n"]
    """Which child beats the best so far."""
    child_rates: Float[Array, "*batch n"]
    parents_of_children: Float[Array, "*batch n 5"]
    """Rate features of the parent of each child: flag, rank, z-score, rate as z-score and scaled."""
    multipliers: Float[Array, "*batch n"]
    """What the learned rule says to the rate of each child's parent, without chance and blending."""
    child_features: Float[Array, "*batch n 3"]
    """Flag, rank and z-score of the children, among children and parents."""
    logits: Float[Array, "*batch e n"]


@dataclass(frozen=True)
class Searches:
    num_dims: int = 2
    num_children: int = 16
    num_generations: int = 50
    num_seeds: int = 20
    sigma0: float | None = None
    """Initial rate; what suits the weights if None."""


def sphere(key: Any, solutions: Float[Array, "n d"]) -> Float[Array, " n"]:
    return jnp.sum(solutions**2, axis=-1)


def dissect(name: str, searches: Searches) -> Dissected:
    """Searches with the named weights on the sphere, with its optimum at zero."""
    weights = resolve(name)
    algorithm, learned = learned_ga(weights.theta, searches.num_children), papers_operators(weights.theta)
    sigma0 = weights.sigma0 if searches.sigma0 is None else searches.sigma0

    def of_seed(key: Any) -> Dissected:
        key_start, key_search = jax.random.split(key)
        start = uniform_start(key_start, searches.num_children, searches.num_dims)
        _, trace = run(key_search, algorithm, sphere, start, sigma0, searches.num_generations, record=True)
        return jax.vmap(lambda record: dissect_generation(learned, record))(trace.records)

    keys = jax.random.split(jax.random.key(8), searches.num_seeds)
    return jax.tree.map(np.asarray, jax.jit(jax.vmap(of_seed))(keys))


def dissect_generation(learned: PapersOperators, record: Record) -> Dissected:
    parents, offspring, best = record.parents, record.offspring, record.best_before
    features = rate_features(take(parents, record.parent_index), best)
    of_parents, of_children = joint_features(parents.fitness, offspring.fitness, best)
    children = with_one(of_children)
    return Dissected(
        chosen=jnp.minimum(record.survivor_index, offspring.fitness.shape[0]),
        improvements=record.improvements,
        beats_best=offspring.fitness < best,
        child_rates=offspring.sigma,
        parents_of_children=features,
        multipliers=rate_multiplier(learned.rate, features),
        child_features=of_children,
        logits=jax.vmap(lambda row: selection_row(learned.select, row, children))(with_one(of_parents)),
    )
