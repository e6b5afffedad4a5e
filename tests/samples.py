"""Populations, weights and objectives that many tests share."""

import jax
import jax.numpy as jnp
import numpy as np

from lga.core.population import Archive, Progress, start_progress
from lga.operators.fold import FoldedTheta, fold, theta_layout
from lga.operators.theta import PAPERS, Theta, ThetaConfig

ALL_LEARNED = ThetaConfig(learned=PAPERS)


# Drawn by NumPy: JAX would compile a program for every shape.
def random_theta(seed: int, config: ThetaConfig = ALL_LEARNED, scale: float = 0.5) -> Theta:
    """All weights are normal, the biases too: a zero would hide what it multiplies."""
    generator = np.random.default_rng(seed)
    layout = jax.eval_shape(lambda: theta_layout(config))
    return jax.tree.map(lambda leaf: jnp.asarray(scale * generator.normal(size=leaf.shape), jnp.float32), layout)


def random_folded(seed: int, config: ThetaConfig = ALL_LEARNED, scale: float = 0.5) -> FoldedTheta:
    return fold(random_theta(seed, config, scale))


def random_archive(seed: int, size: int, num_dims: int = 3) -> Archive:
    generator = np.random.default_rng(seed)
    return Archive(
        solutions=jnp.asarray(generator.normal(size=(size, num_dims)), jnp.float32),
        fitness=jnp.asarray(generator.normal(size=size), jnp.float32),
        sigma=jnp.asarray(np.exp(generator.normal(size=size)), jnp.float32),
        age=jnp.asarray(generator.integers(0, 5, size), jnp.int32),
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
