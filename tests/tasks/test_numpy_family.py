"""Families written in NumPy: the same searches as in JAX, on the host, in any number of processes."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lga.tasks.family import family, find_family
from processes import descendants, is_alive, wait_until

BOUNDS = [(-5.0, 5.0)] * 3
CENTRE = np.array([0.5, -1.0, 2.0])


class Bowl:
    """A task may be any object."""

    def __init__(self, centre):
        self.centre = centre


def draw(generator):
    return Bowl(CENTRE + 0.1 * generator.normal(size=3))


def evaluate(bowl, x):
    return ((x - bowl.centre) ** 2).sum(axis=1)


OWN = family(draw, evaluate, BOUNDS, name="bowls", numpy=True)


def drawn(seed):
    return OWN.draw(jax.random.key(seed), (3, 3))


def test_a_task_is_the_seed_that_it_is_drawn_from():
    x = np.random.default_rng(0).uniform(-5, 5, size=(7, 3)).astype(np.float32)
    true, seen = OWN.observe(jax.random.key(1), drawn(0), jnp.asarray(x))
    bowl = draw(np.random.default_rng(np.asarray(drawn(0)).tolist()))
    np.testing.assert_allclose(true, evaluate(bowl, x), rtol=1e-5)
    np.testing.assert_array_equal(seen, true)
    assert not np.array_equal(OWN.observe(jax.random.key(1), drawn(1), jnp.asarray(x))[0], true)


def test_compiled_and_mapped_it_gives_what_it_gives_for_one():
    x = jax.random.uniform(jax.random.key(0), (4, 6, 3), minval=-5, maxval=5)
    tasks = jnp.stack([drawn(seed) for seed in range(4)])

    def true(task, solutions):
        return OWN.observe(jax.random.key(1), task, solutions)[0]

    one_by_one = np.stack([true(task, solutions) for task, solutions in zip(tasks, x, strict=True)])
    np.testing.assert_allclose(jax.jit(jax.vmap(true))(tasks, x), one_by_one, rtol=1e-5)
    on_first = np.stack([true(tasks[0], solutions) for solutions in x])
    np.testing.assert_allclose(jax.jit(jax.vmap(true, in_axes=(None, 0)))(tasks[0], x), on_first, rtol=1e-5)


def test_noise_is_drawn_by_the_key():
    noisy = family(draw, evaluate, BOUNDS, noise=lambda g, values: values + g.normal(size=values.shape), numpy=True)
    x = jnp.zeros((50, 3))
    true, seen = noisy.observe(jax.random.key(1), drawn(0), x)
    assert np.ptp(true) == 0.0
    assert np.std(seen) == pytest.approx(1.0, abs=4 / np.sqrt(100))
    np.testing.assert_array_equal(noisy.observe(jax.random.key(1), drawn(0), x)[1], seen)
    assert not np.array_equal(noisy.observe(jax.random.key(2), drawn(0), x)[1], seen)


FILE = """
import lga
def draw(generator):
    return generator.normal(size=2)
def evaluate(task, x):
    return (abs(x - task) ** 1.5).sum(axis=1)
alone = lga.family(draw, evaluate, [(-5, 5)] * 2, numpy=True)
shared = lga.family(draw, evaluate, [(-5, 5)] * 2, numpy=True, workers=2)
"""


def test_the_number_of_processes_does_not_change_a_bit(tmp_path):
    (tmp_path / "mine.py").write_text(FILE)
    x = jax.random.uniform(jax.random.key(0), (5, 6, 2))
    found = []
    for name in ("alone", "shared"):
        own = find_family(f"{tmp_path / 'mine.py'}:{name}")
        key = jax.random.key(3)
        task = own.draw(key, (2, 2))
        found.append(
            np.asarray(jax.jit(jax.vmap(lambda one, see=own.observe, task=task, key=key: see(key, task, one)[0]))(x))
        )
    np.testing.assert_array_equal(*found)
    assert np.all(found[0] > 0.0)


SCRIPT = """
import time
import jax
import jax.numpy as jnp
import lga
def draw(generator):
    return generator.normal(size=2)
def evaluate(task, x):
    return ((x - task) ** 2).sum(axis=1)
if __name__ == "__main__":
    own = lga.family(draw, evaluate, [(-5, 5)] * 2, numpy=True, workers=2)
    key = jax.random.key(0)
    print(own.observe(key, own.draw(key, (2, 2)), jnp.zeros((3, 2)))[0], flush=True)
    time.sleep(600)
"""


def test_workers_do_not_outlive_the_process_that_started_them(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    with subprocess.Popen([sys.executable, str(tmp_path / "script.py")], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"[")
        workers = descendants(process.pid)
        assert len(workers) >= 2
        process.kill()
    wait_until(lambda: not any(map(is_alive, workers)))


def test_functions_that_no_other_process_can_find_are_refused():
    with pytest.raises(
        ValueError, match="workers is 2, but draw and evaluate cannot be sent .* at the top of a module"
    ):
        family(draw, lambda task, x: x[:, 0], BOUNDS, numpy=True, workers=2)
    with pytest.raises(ValueError, match="workers is 2, but functions in JAX have no use for them"):
        family(draw, evaluate, BOUNDS, workers=2)


def test_values_of_a_wrong_shape_are_named():
    wrong = family(draw, lambda task, x: np.zeros(len(x) + 1), BOUNDS, numpy=True)
    with pytest.raises(
        Exception, match=r"evaluate returned an array of shape \(3,\), but must give one value for each"
    ):
        jax.block_until_ready(wrong.observe(jax.random.key(0), drawn(0), jnp.zeros((2, 3))))
