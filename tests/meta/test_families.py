"""Every family that can be trained on draws tasks that searches can be judged on."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lga.meta.config import TASKS, MetaConfig
from lga.meta.families import FAMILIES, family_of
from lga.meta.objective import first_solutions


def test_settings_know_all_families():
    assert set(TASKS) == set(FAMILIES)


NUM_DIMS = {"teachers": 40}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_draws_tasks_and_judges_solutions(name):
    num_dims = NUM_DIMS.get(name, 4)
    family = family_of(MetaConfig(tasks=name, scales=(f"{num_dims}x6x3-3",)))
    assert family.name == name
    assert FAMILIES[name].__doc__

    def judged(key):
        key_task, key_start, key_aside, key_seen = jax.random.split(key, 4)
        task = family.draw(key_task, (num_dims, num_dims))
        # Not at the start itself, where all networks say the same.
        start = first_solutions(key_start, family, task, 6)
        beside = start + 0.1 * jax.random.normal(key_aside, start.shape)
        return beside, *family.observe(key_seen, task, beside)

    # Mapped, as searches are: shapes do not depend on the key.
    starts, true, seen = jax.jit(jax.vmap(judged))(jax.random.split(jax.random.key(0), 3))
    assert starts.shape[-1] == num_dims
    assert true.shape == seen.shape == starts.shape[:2]
    assert np.isfinite(np.asarray(true)).all()
    assert jnp.all(true[0] != true[1])


def test_an_unknown_family_is_named_in_the_error():
    with pytest.raises(ValueError, match="tasks is 'nonsense', but must be one of bbob, tuning, curves, teachers"):
        MetaConfig(tasks="nonsense")
