import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lga.meta.config import OPTIMIZERS, MetaConfig
from lga.meta.optimizers import meta_optimizer

SETTINGS = MetaConfig(meta_population=32, learning_rate=0.05)
TARGET = np.linspace(-0.5, 0.5, 12).astype(np.float32)

# The meta-optimisers are evosax's.
pytestmark = pytest.mark.usefixtures("ranks_promoted")


def climb(config, generations=150):
    return centres(config, generations)[-1]


def centres(config, generations, noise=0.0):
    """After each generation."""
    optimizer = meta_optimizer(config, TARGET.size)

    def step(state, key):
        key_ask, key_tell = jax.random.split(key)
        candidates, state = optimizer.ask(key_ask, state)
        fitness = jnp.sum((candidates - TARGET[None, :]) ** 2, axis=1)
        fitness += noise * jax.random.normal(key_tell, fitness.shape)
        state = optimizer.tell(key_tell, state, candidates, fitness)
        return state, optimizer.centre(state)

    state = jax.tree.map(jnp.asarray, optimizer.init(jax.random.key(0), jnp.zeros(TARGET.size)))
    return np.asarray(jax.lax.scan(step, state, jax.random.split(jax.random.key(1), generations))[1])


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimiser_moves_its_centre_to_the_target(name):
    centre = climb(dataclasses.replace(SETTINGS, optimizer=name))
    # A member of the GA carries its own mutation, of about 0.09 a coordinate.
    assert np.sum((centre - TARGET) ** 2) < 0.1 * np.sum(TARGET**2)


def test_mean_decay_pulls_the_centre_to_zero():
    free = climb(SETTINGS)
    decayed = climb(dataclasses.replace(SETTINGS, mean_decay=0.2))
    assert np.linalg.norm(decayed) < 0.8 * np.linalg.norm(free)


def test_averaging_brings_the_centre_closer_to_the_target_when_fitness_is_noisy():
    def late_distance(config):
        late = centres(config, 150, noise=0.1)[-50:]
        return np.mean(np.linalg.norm(late - TARGET, axis=1))

    assert late_distance(dataclasses.replace(SETTINGS, averaging=0.9)) < 0.8 * late_distance(SETTINGS)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_search_starts_where_it_is_told(name):
    optimizer = meta_optimizer(dataclasses.replace(SETTINGS, optimizer=name), TARGET.size)
    state = optimizer.init(jax.random.key(0), jnp.asarray(TARGET))
    np.testing.assert_array_equal(optimizer.centre(state), TARGET)
