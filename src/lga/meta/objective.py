"""The meta-objective: how well each candidate algorithm searches, on tasks that all candidates share."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, UInt32

from lga.algorithms.presets import learned_ga
from lga.algorithms.run import advance
from lga.core.interfaces import Algorithm
from lga.core.random import fold_in, split
from lga.core.tree import tree_dataclass
from lga.meta.config import MetaConfig
from lga.meta.families import family_of
from lga.meta.search_space import search_space
from lga.operators.features import z_score
from lga.tasks import bbob
from lga.tasks.family import Family
from lga.trials import uniform_start


@tree_dataclass
class Trial:
    """A task, and all the luck of a search on it: every candidate meets the same (the Pegasus trick)."""

    task: Any
    sigma0: Float[Array, "*batch"]
    key_data: UInt32[Array, "*batch k"]


def sample_trials(
    key: Key[Array, ""], config: MetaConfig, num_dims: int | None = None, family: Family | None = None
) -> Trial:
    """`num_tasks` trials, stacked; of exactly `num_dims` dimensions, or of as many as the settings say.

    The family is that of the settings, unless it is given.
    """
    key_task, key_sigma, key_search = jax.random.split(key, 3)
    dims = config.dims if num_dims is None else (num_dims, num_dims)
    # Mapped: a vmapped switch over the functions takes three times as long to compile.
    draw = (family or family_of(config)).draw
    task = jax.lax.map(lambda k: draw(k, dims), jax.random.split(key_task, config.num_tasks))
    low, high = config.sigma0
    share = jax.random.uniform(key_sigma, (config.num_tasks,))
    sigma0 = low * (high / low) ** share if config.sigma0_law == "log" else low + (high - low) * share
    keys = jax.random.split(key_search, config.num_tasks)
    return Trial(task, sigma0, jax.random.key_data(keys))


def candidate_verdicts(
    config: MetaConfig, num_children: int, own: Family | None = None
) -> Callable[[Float[Array, "c w"], Trial, Int[Array, ""]], Float[Array, " c"]]:
    """The function from flat vectors of several candidates, one trial and a horizon to one verdict per candidate.

    A verdict is a gap, less is better. Only what depends on the candidate is computed for each: start, noise and all
    other random numbers are drawn once, because `vmap` runs over the vectors alone.
    """
    space = search_space(config)
    family, judge = own or family_of(config), JUDGES[config.objective]

    def verdicts(
        vectors: Float[Array, "c w"], trial: Trial, num_generations: Int[Array, ""] | int
    ) -> Float[Array, " c"]:
        def verdict(flat: Float[Array, " w"]) -> Float[Array, ""]:
            algorithm = learned_ga(space.operators(flat), num_children, config.elite_ratio, config.balanced)
            return searched(family, trial, algorithm, judge, num_generations)

        return jax.vmap(verdict)(vectors)

    return verdicts


def searched(
    family: Family, trial: Trial, algorithm: Algorithm, judge: "Judge", num_generations: Int[Array, ""] | int
) -> Float[Array, "*verdict"]:
    """The verdict on one search. What does not depend on the algorithm is computed once for all that are `vmap`ped."""
    key_start, key_first, key_search = jax.random.split(jax.random.wrap_key_data(trial.key_data), 3)
    start = first_solutions(key_start, family, trial.task, algorithm.num_children)
    fitness = family.observe(key_first, trial.task, start)[1] if family.evaluate_start else None

    def observe(key: Key[Array, ""], solutions: Float[Array, "n d"]):
        true, noisy = family.observe(key, trial.task, solutions)
        return noisy, true

    def generation(t, carry):
        state, judged = carry
        step = advance(split(fold_in(key_search, t), 3), algorithm, observe, state)
        return step.state, judge.see(judged, t, num_generations, step.info)

    # No draw of `init` is random, so any key will do.
    state = algorithm.init(key_first, start, fitness, trial.sigma0)
    judged = jax.lax.fori_loop(0, num_generations, generation, (state, judge.init()))[1]
    return judge.verdict(judged)


def first_solutions(key: Key[Array, ""], family: Family, task: Any, num_children: int) -> Float[Array, "n d"]:
    count, num_dims = family.num_initial or num_children, family.num_coordinates(task)
    return uniform_start(key, count, num_dims) if family.start is None else family.start(key, count, num_dims)


class Judge(NamedTuple):
    """What is kept of a search while it runs, and the gap that it is judged by."""

    init: Callable[[], Any]
    see: Callable[[Any, Any, Any, Float[Array, " n"]], Any]
    """(judged, t, num_generations, gaps of the children) -> judged"""
    verdict: Callable[[Any], Float[Array, "*verdict"]]


def one_number(over_children: Callable[..., Any], final_only: bool) -> Judge:
    def see(judged, t, num_generations, gaps):
        now = over_children(gaps)
        return now if final_only else jnp.minimum(judged, now)

    return Judge(lambda: jnp.asarray(jnp.inf), see, lambda judged: judged)


def anytime() -> Judge:
    """The best so far after a quarter, half and all of the horizon, in orders of magnitude."""

    def see(judged, t, num_generations, gaps):
        best, marks = judged
        best = jnp.minimum(best, jnp.min(gaps))
        ends = jnp.stack([num_generations // 4, num_generations // 2, num_generations]) - 1
        return best, jnp.where(t <= jnp.maximum(ends, 0), best, marks)

    def verdict(judged):
        return 10.0 ** jnp.mean(bbob.log10_gap(judged[1]))

    return Judge(lambda: (jnp.asarray(jnp.inf), jnp.full(3, jnp.inf)), see, verdict)


def area() -> Judge:
    """The mean over all generations of the best so far: for tasks whose values are comparable as they are."""

    def see(judged, t, num_generations, gaps):
        best, total = judged
        best = jnp.minimum(best, jnp.min(gaps))
        return best, total + best / num_generations

    return Judge(lambda: (jnp.asarray(jnp.inf), jnp.asarray(0.0)), see, lambda judged: judged[1])


JUDGES: dict[str, Judge] = {
    "minN-finalT": one_number(jnp.min, final_only=True),
    "minN-minT": one_number(jnp.min, final_only=False),
    "meanN-minT": one_number(jnp.mean, final_only=False),
    "meanN-finalT": one_number(jnp.mean, final_only=True),
    "anytime": anytime(),
    "area": area(),
}


def meta_fitness(verdicts: Float[Array, "m j"], normalization: str, aggregation: str) -> Float[Array, " m"]:
    """Verdicts made comparable within each task, then summed up over the tasks; less is better."""
    normalize = jax.vmap(NORMALIZE[normalization], in_axes=1, out_axes=1)
    over_tasks = {"median": jnp.median, "mean": jnp.mean}[aggregation]
    return over_tasks(normalize(verdicts), axis=1)


def failures_last(
    score: Callable[[Float[Array, " m"]], Float[Array, " m"]], verdicts: Float[Array, " m"]
) -> Float[Array, " m"]:
    """Scores of verdicts; those that are not finite come out worse than all others."""
    finite = jnp.isfinite(verdicts)
    worst = jnp.max(jnp.where(finite, verdicts, -jnp.inf))
    scores = score(jnp.where(finite, verdicts, jnp.where(jnp.isfinite(worst), worst, 0.0)))
    return jnp.where(finite, scores, jnp.max(scores) + 1.0)


def soft_z_score(verdicts: Float[Array, " m"]) -> Float[Array, " m"]:
    """Orders of magnitude from the mean, in units of their deviation and a third of an order."""
    magnitudes = bbob.log10_gap(verdicts)
    return (magnitudes - jnp.mean(magnitudes)) / (jnp.std(magnitudes) + 0.3)


def rank_of_verdicts(verdicts: Float[Array, " m"]) -> Float[Array, " m"]:
    """In [-0.5, 0.5]; equals share a rank, unlike in a search: a task that no candidate survives says nothing."""
    values = jnp.where(jnp.isfinite(verdicts), verdicts, jnp.inf)
    below, above = values[:, None] > values[None, :], values[:, None] < values[None, :]
    return 0.5 * (jnp.sum(below, axis=1) - jnp.sum(above, axis=1)) / max(values.shape[0] - 1, 1)


NORMALIZE = {
    "z_score": partial(failures_last, z_score),
    "log_z_score": partial(failures_last, lambda verdicts: z_score(bbob.log10_gap(verdicts))),
    "log": partial(failures_last, bbob.log10_gap),
    "soft": partial(failures_last, soft_z_score),
    "rank": rank_of_verdicts,
}
