import subprocess
import sys

import pytest

SCRIPT = """
import resource
import jax, jax.numpy as jnp
import lga

size = 16_384
theta = lga.init_theta(jax.random.key(0), lga.ThetaConfig(learned=("select", "rate", "sample")))
algorithm = lga.learned_ga(theta, size)
key_start, key_ask, key_tell = jax.random.split(jax.random.key(1), 3)
start = jax.random.normal(key_start, (size, 10))
state = algorithm.init(key_start, start, jnp.sum(start**2, axis=1), 0.5)
children, state = jax.jit(algorithm.ask)(key_ask, state)
state = jax.jit(algorithm.tell)(key_tell, state, children, jnp.sum(children.solutions**2, axis=1))
assert bool(jnp.all(jnp.isfinite(state.parents.solutions)))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


@pytest.mark.slow
def test_a_generation_of_16384_by_16384_fits_into_two_gibibytes():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    # One matrix of 16,384 by 16,384 floats takes 1 GiB, and attention without row blocks holds several at once.
    assert float(done.stdout) < 2
