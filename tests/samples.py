"""Populations, weights and objectives that many tests share."""

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from lga.core.population import Archive, Progress, start_progress
from lga.operators.theta import NUM_FEATURES, Theta, ThetaConfig, theta_layout

ALL_LEARNED = ThetaConfig(learned=tuple(NUM_FEATURES))


def random_theta(seed: int, config: ThetaConfig = ALL_LEARNED, scale: float = 0.5) -> Theta:
    """All weights are normal, the biases too: a zero would hide what it multiplies."""
    flat, unflatten = ravel_pytree(theta_layout(config))
    return unflatten(scale * jax.random.normal(jax.random.key(seed), flat.shape))


def random_archive(seed: int, size: int, num_dims: int = 3) -> Archive:
    key_solutions, key_fitness, key_sigma, key_age = jax.random.split(jax.random.key(seed), 4)
    return Archive(
        solutions=jax.random.normal(key_solutions, (size, num_dims)),
        fitness=jax.random.normal(key_fitness, (size,)),
        sigma=jnp.exp(jax.random.normal(key_sigma, (size,))),
        age=jax.random.randint(key_age, (size,), 0, 5),
    )


def progress_of(archive: Archive, generation: int = 5) -> Progress:
    """The progress of a search whose best so far is the median of the archive, so that some members are better."""
    progress = start_progress(archive.solutions, archive.fitness)
    return Progress(
        best_solution=progress.best_solution,
        best_fitness=jnp.median(archive.fitness),
        generation=jnp.asarray(generation, jnp.int32),
        evaluations=progress.evaluations,
        failures=progress.failures,
    )


def permuted(archive: Archive, order) -> Archive:
    return jax.tree.map(lambda leaf: leaf[order], archive)


def sphere(key, solutions):
    return jnp.sum(solutions**2, axis=-1)
