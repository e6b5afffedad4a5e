"""Equal fitness: the same weights in evosax, in our engine, and in our engine if equals shared their mean rank."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from rich.console import Console
from rich.table import Table

from experiments.dissection import papers_operators
from experiments.form import Experiment, Outcome, described
from lga.algorithms.genetic import genetic_algorithm
from lga.algorithms.presets import learned_ga
from lga.algorithms.run import run as search
from lga.algorithms.strategies import evosax_learned_ga
from lga.bench.statistics import interval_text, mean_interval
from lga.core.interfaces import Algorithm, MutationRate
from lga.core.random import index_by_weight, uniform
from lga.operators.features import fitness_features, rate_features, sampling_features
from lga.operators.fold import fold
from lga.operators.mutation_rate import no_state, no_update, rate_multiplier
from lga.operators.sampling import sampling_probabilities
from lga.operators.selection import sample_rows
from lga.operators.theta import Theta
from lga.trials import uniform_start
from lga.weights import EVOSAX_LGA, resolve

EVOSAX, OURS = "evosax's LearnedGA", "its weights in our engine"
RANK = 1  # the place of the centred rank among the fitness features


@dataclass(frozen=True)
class TiesSettings:
    num_dims: int = 10
    num_children: int = 32
    num_generations: int = 50
    num_seeds: int = 100
    sigma0: float = 0.25


def shared_ranks(values: Float[Array, " n"]) -> Float[Array, " n"]:
    """Centred ranks of which equals share the mean."""
    below = jnp.sum(values[None, :] < values[:, None], axis=1)
    above = jnp.sum(values[None, :] > values[:, None], axis=1)
    return 0.5 * (below - above) / (values.shape[0] - 1)


def with_shared_ranks(features: Float[Array, "n f"], fitness: Float[Array, " n"]) -> Float[Array, "n f"]:
    return features.at[:, RANK].set(shared_ranks(fitness))


def shared_rank_ga(theta: Theta, num_children: int) -> Algorithm:
    """The learned GA, but for its ranks. Sampling is learned as well."""
    learned, sampling = papers_operators(theta), fold(theta).sample
    assert sampling is not None

    def sample(key, parents, num_children, progress):
        features = with_shared_ranks(sampling_features(parents, progress), parents.fitness)
        probabilities = sampling_probabilities(sampling, features)
        return jax.vmap(lambda u: index_by_weight(u, probabilities))(uniform(key, num_children))

    def propose(key, rate_state, sampled_parents, progress):
        features = rate_features(sampled_parents, progress.best_fitness)
        return sampled_parents.sigma * rate_multiplier(
            learned.rate, with_shared_ranks(features, sampled_parents.fitness)
        )

    def select(key, parents, offspring, progress):
        fitness = jnp.concatenate([offspring.fitness, parents.fitness])
        joint = with_shared_ranks(fitness_features(fitness, progress.best_fitness), fitness)
        n, e = offspring.fitness.shape[0], parents.fitness.shape[0]
        chosen = sample_rows(learned.select, joint[n:], joint[:n], uniform(key, e))
        return jnp.where(chosen == n, n + jnp.arange(e), chosen)

    rate = MutationRate(no_state, propose, no_update)
    return genetic_algorithm(num_children, num_children, sample=sample, rate=rate, select=select)


def engines(settings: TiesSettings) -> dict[str, Algorithm]:
    theta = resolve(EVOSAX_LGA, settings.num_dims).theta
    return {
        EVOSAX: evosax_learned_ga(settings.num_children),
        OURS: learned_ga(theta, settings.num_children),
        "the same, equals sharing their rank": shared_rank_ga(theta, settings.num_children),
    }


def final_gaps(settings: TiesSettings, algorithm: Algorithm) -> np.ndarray:
    """log10 of the best value on the sphere, for each seed."""

    def of_seed(key: Any) -> Float[Array, ""]:
        key_start, key_search = jax.random.split(key)
        start = uniform_start(key_start, settings.num_children, settings.num_dims)
        return search(key_search, algorithm, sphere, start, settings.sigma0, settings.num_generations)[0].best_fitness

    return np.log10(jax.jit(jax.vmap(of_seed))(jax.random.split(jax.random.key(0), settings.num_seeds)))


def sphere(key: Any, solutions: Float[Array, "n d"]) -> Float[Array, " n"]:
    return jnp.sum(solutions**2, axis=-1)


def run(settings: TiesSettings, out: Path, console: Console) -> Outcome:
    gaps = {name: final_gaps(settings, algorithm) for name, algorithm in engines(settings).items()}
    rows = [{"engine": name, "mean_log10_value": mean_interval(own)._asdict()} for name, own in gaps.items()]
    table = Table("engine", HEADER)
    for row in rows:
        table.add_row(row["engine"], interval_text(row["mean_log10_value"], 2))
    return Outcome({"config": described(settings), "rows": rows}, table)


HEADER = "mean log10 of the best value (95 %, over seeds)"

EXPERIMENT = Experiment(
    "equal fitness: the same weights in evosax and in our engine, with ties broken by position or shared (sphere)",
    {"smoke": TiesSettings(num_seeds=2, num_generations=3), "paper": TiesSettings()},
    run,
)
