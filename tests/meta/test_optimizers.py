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
    optimizer = meta_optimizer(config, TARGET.size)

    def step(state, key):
        key_ask, key_tell = jax.random.split(key)
        candidates, state = optimizer.ask(key_ask, state)
        fitness = jnp.sum((candidates - TARGET[None, :]) ** 2, axis=1)
        return optimizer.tell(key_tell, state, candidates, fitness), optimizer.centre(state)

    state = jax.tree.map(jnp.asarray, optimizer.init(jax.random.key(0)))
    state, _ = jax.lax.scan(step, state, jax.random.split(jax.random.key(1), generations))
    return np.asarray(optimizer.centre(state))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimiser_moves_its_centre_to_the_target(name):
    centre = climb(dataclasses.replace(SETTINGS, optimizer=name))
    # A member of the GA carries its own mutation, of about 0.09 a coordinate.
    assert np.sum((centre - TARGET) ** 2) < 0.1 * np.sum(TARGET**2)


def test_mean_decay_pulls_the_centre_to_zero():
    free = climb(SETTINGS)
    decayed = climb(dataclasses.replace(SETTINGS, mean_decay=0.2))
    assert np.linalg.norm(decayed) < 0.8 * np.linalg.norm(free)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_search_starts_at_zero(name):
    optimizer = meta_optimizer(dataclasses.replace(SETTINGS, optimizer=name), TARGET.size)
    assert not np.asarray(optimizer.centre(optimizer.init(jax.random.key(0)))).any()
