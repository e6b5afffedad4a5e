"""GESMR's rules one by one: does the best rate mutate, and do parents compete with their children? Beside evosax's."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int
from rich.console import Console
from rich.progress import track
from rich.table import Table

from experiments.form import Experiment, Outcome, described
from lga.algorithms.genetic import genetic_algorithm, parents_for
from lga.algorithms.presets import gesmr_ga
from lga.algorithms.run import run as search
from lga.bench.statistics import interval_text, mean_interval
from lga.core.interfaces import Algorithm, MutationRate, Selection
from lga.core.random import log_uniform_factor
from lga.operators.mutation_rate import group_elite_rate
from lga.operators.selection import truncation_selection
from lga.trials import uniform_start

META = 2.0


@dataclass(frozen=True)
class GesmrSettings:
    num_seeds: int = 1000
    num_dims: int = 10
    num_groups: int = 4
    members: int = 8
    """Children of a group; evosax's population has one more member, the best so far."""
    num_generations: int = 100
    sigma0: float = 0.5


def rastrigin(x: Float[Array, "n d"]) -> Float[Array, " n"]:
    return jnp.sum(x**2 - 10.0 * jnp.cos(2.0 * jnp.pi * x) + 10.0, axis=-1)


def rosenbrock(x: Float[Array, "n d"]) -> Float[Array, " n"]:
    return jnp.sum(100.0 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1.0 - x[:, :-1]) ** 2, axis=-1)


OBJECTIVES = {"sphere": lambda x: jnp.sum(x**2, axis=-1), "rastrigin": rastrigin, "rosenbrock": rosenbrock}


def every_rate_mutates(num_groups: int) -> MutationRate:
    """As in evosax: the best rate, which stays first, is multiplied by a random factor as well."""
    rule = group_elite_rate(num_groups, META)

    def update(key, rate_state, sampled_parents, offspring):
        key_rule, key_best = jax.random.split(key)
        rates = rule.update(key_rule, rate_state, sampled_parents, offspring)
        return rates.at[:1].multiply(log_uniform_factor(key_best, META, 1))

    return rule._replace(update=update)


def children_and_the_best() -> Selection:
    """As in Kumar et al.: the best so far, and the best of the children; other parents are forgotten."""

    def select(key, parents, offspring, progress) -> Int[Array, " e"]:
        num_children, num_parents = offspring.fitness.shape[0], parents.fitness.shape[0]
        union = jnp.concatenate([offspring.fitness, jnp.min(parents.fitness, keepdims=True)])
        order = jnp.argsort(union)[:num_parents]
        return jnp.where(order == num_children, num_children + jnp.argmin(parents.fitness), order)

    return select


def ours(rate: Callable[[int], MutationRate], select: Selection) -> Callable[[GesmrSettings], Algorithm]:
    def build(settings: GesmrSettings) -> Algorithm:
        size = settings.num_groups * settings.members
        return genetic_algorithm(size, parents_for(0.5, size), rate=rate(settings.num_groups), select=select)

    return build


RULES: dict[str, Callable[[GesmrSettings], Algorithm]] = {
    "ours: the best rate stays, parents compete with children": lambda settings: gesmr_ga(
        settings.num_groups * settings.members, 0.5, settings.num_groups, META
    ),
    "every rate mutates": ours(every_rate_mutates, truncation_selection()),
    "of the parents only the best stays": ours(group_elite_rate, children_and_the_best()),
    "both": ours(every_rate_mutates, children_and_the_best()),
}
EVOSAX = "evosax's GESMR_GA"


def best_of_ours(build: Callable[[GesmrSettings], Algorithm], settings: GesmrSettings, objective) -> Callable:
    algorithm = build(settings)

    def of_seed(key: Any) -> Float[Array, ""]:
        key_start, key_run = jax.random.split(key)
        start = uniform_start(key_start, algorithm.num_children, settings.num_dims)
        state, _ = search(
            key_run, algorithm, lambda _, x: objective(x), start, settings.sigma0, settings.num_generations
        )
        return state.best_fitness

    return of_seed


def best_of_evosax(settings: GesmrSettings, objective) -> Callable:
    from evosax.algorithms import GESMR_GA

    size = settings.num_groups * settings.members + 1
    algorithm = GESMR_GA(size, jnp.zeros(settings.num_dims), num_groups=settings.num_groups)
    params = algorithm.default_params.replace(std_init=settings.sigma0)

    def generation(state, key):
        key_ask, key_tell = jax.random.split(key)
        population, state = algorithm.ask(key_ask, state, params)
        return algorithm.tell(key_tell, population, objective(population), state, params)[0], None

    def of_seed(key: Any) -> Float[Array, ""]:
        key_start, key_init, key_run = jax.random.split(key, 3)
        start = uniform_start(key_start, size, settings.num_dims)
        state = algorithm.init(key_init, start, objective(start), params)
        return jax.lax.scan(generation, state, jax.random.split(key_run, settings.num_generations))[0].best_fitness

    return of_seed


def run(settings: GesmrSettings, out: Path, console: Console) -> Outcome:
    keys = jax.random.split(jax.random.key(0), settings.num_seeds)
    rows = []
    for rule in track([*RULES, EVOSAX], description="rules", console=console):
        logs = {}
        for name, objective in OBJECTIVES.items():
            searches = (
                best_of_evosax(settings, objective)
                if rule == EVOSAX
                else best_of_ours(RULES[rule], settings, objective)
            )
            logs[name] = mean_interval(np.log10(jax.jit(jax.vmap(searches))(keys)))._asdict()
        rows.append({"rule": rule, "mean_log10_value": logs})
    table = Table("rule", *OBJECTIVES)
    for row in rows:
        table.add_row(row["rule"], *(interval_text(own, 3) for own in row["mean_log10_value"].values()))
    return Outcome({"config": described(settings), "rows": rows}, table)


EXPERIMENT = Experiment(
    "GESMR's rules one by one, beside evosax's: does the best rate mutate, and do parents compete with children?",
    {"smoke": GesmrSettings(num_seeds=2, num_generations=3), "paper": GesmrSettings()},
    run,
)
