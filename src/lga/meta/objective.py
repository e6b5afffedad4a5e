"""The meta-objective: how well each candidate algorithm searches, on tasks that all candidates share."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, UInt32

from lga.algorithms.presets import learned_ga
from lga.core.random import fold_in, split
from lga.core.tree import tree_dataclass
from lga.meta.config import MetaConfig
from lga.meta.search_space import search_space
from lga.operators.features import centred_ranks, z_score
from lga.tasks import bbob
from lga.trials import uniform_start


@tree_dataclass
class Trial:
    """A task, and all the luck of a search on it: every candidate meets the same (the Pegasus trick)."""

    task: Any
    sigma0: Float[Array, "*batch"]
    key_data: UInt32[Array, "*batch k"]


def sample_trials(key: Key[Array, ""], config: MetaConfig) -> Trial:
    """`num_tasks` trials, stacked."""
    key_task, key_sigma, key_search = jax.random.split(key, 3)
    # Mapped: a vmapped switch over the functions takes three times as long to compile.
    task = jax.lax.map(
        lambda k: bbob.sample_task(k, config.functions, *config.dims, config.noise),
        jax.random.split(key_task, config.num_tasks),
    )
    low, high = config.sigma0
    sigma0 = jax.random.uniform(key_sigma, (config.num_tasks,), minval=low, maxval=high)
    keys = jax.random.split(key_search, config.num_tasks)
    return Trial(task, sigma0, jax.random.key_data(keys))


def candidate_outcomes(
    config: MetaConfig, num_children: int
) -> Callable[[Float[Array, "c w"], Trial, Int[Array, ""]], Float[Array, " c"]]:
    """The function from flat weights of several candidates, one trial and a horizon to one outcome a candidate.

    Only what depends on the weights is computed for each candidate: start, noise and all other random numbers are drawn
    once, because `vmap` runs over the weights alone.
    """
    space = search_space(config)
    over_children = jnp.min if config.objective.startswith("minN") else jnp.mean
    final_only = config.objective.endswith("finalT")

    def outcomes(
        weights: Float[Array, "c w"], trial: Trial, num_generations: Int[Array, ""] | int
    ) -> Float[Array, " c"]:
        key_start, key_first, key_search = jax.random.split(jax.random.wrap_key_data(trial.key_data), 3)
        start = uniform_start(key_start, num_children, config.dims[1])
        _, fitness = bbob.observe(key_first, trial.task, start)

        def outcome(flat: Float[Array, " w"]) -> Float[Array, ""]:
            algorithm = learned_ga(space.operators(flat), num_children, config.elite_ratio)

            def generation(t, carry):
                state, reached = carry
                key_ask, key_evaluate, key_tell = split(fold_in(key_search, t), 3)
                children, state = algorithm.ask(key_ask, state)
                gaps, fitness = bbob.observe(key_evaluate, trial.task, children.solutions)
                state = algorithm.tell(key_tell, state, children, fitness)
                now = over_children(gaps)
                return state, now if final_only else jnp.minimum(reached, now)

            # No draw of `init` is random, so any key will do.
            state = algorithm.init(key_first, start, fitness, trial.sigma0)
            return jax.lax.fori_loop(0, num_generations, generation, (state, jnp.asarray(jnp.inf)))[1]

        return jax.vmap(outcome)(weights)

    return outcomes


def meta_fitness(outcomes: Float[Array, "m j"], normalisation: str, aggregation: str) -> Float[Array, " m"]:
    """Outcomes made comparable within each task, then summed up over the tasks; less is better."""
    normalise = jax.vmap(NORMALISE[normalisation], in_axes=1, out_axes=1)
    over_tasks = {"median": jnp.median, "mean": jnp.mean}[aggregation]
    return over_tasks(normalise(outcomes), axis=1)


def failures_last(
    score: Callable[[Float[Array, " m"]], Float[Array, " m"]], outcomes: Float[Array, " m"]
) -> Float[Array, " m"]:
    """Scores of outcomes; those that are not finite come out worse than all others."""
    finite = jnp.isfinite(outcomes)
    worst = jnp.max(jnp.where(finite, outcomes, -jnp.inf))
    scores = score(jnp.where(finite, outcomes, jnp.where(jnp.isfinite(worst), worst, 0.0)))
    return jnp.where(finite, scores, jnp.max(scores) + 1.0)


def orders_of_magnitude(outcomes: Float[Array, "*some"]) -> Float[Array, "*some"]:
    return jnp.log10(jnp.maximum(outcomes, 1e-8))


def rank_of_outcomes(outcomes: Float[Array, " m"]) -> Float[Array, " m"]:
    return centred_ranks(jnp.where(jnp.isfinite(outcomes), outcomes, jnp.inf))


NORMALISE = {
    "z_score": partial(failures_last, z_score),
    "log_z_score": partial(failures_last, lambda outcomes: z_score(orders_of_magnitude(outcomes))),
    "log": partial(failures_last, orders_of_magnitude),
    "rank": rank_of_outcomes,
}
