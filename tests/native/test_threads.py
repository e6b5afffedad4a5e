"""Results do not depend on the number of threads."""

import hashlib
import os
import subprocess
import sys

import pytest

LARGE_CALLS = """
import os, sys
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(sys.argv[1])])
import hashlib, jax, jax.numpy as jnp, numpy as np
from lga import native
rng = np.random.default_rng(0)
normal = lambda *shape: jnp.asarray(rng.normal(size=shape), jnp.float32)
parents = lambda size: (normal(size), jnp.arange(size, dtype=jnp.int32), normal(), jnp.int32(700))
index = jnp.asarray(rng.integers(0, 700, 900), jnp.int32)
uniform = jnp.asarray(rng.uniform(size=(3, 500)), jnp.float32)
results = [
    jax.vmap(native.select)(normal(3, 500), normal(3, 700), normal(3), uniform, normal(3, 2, 4, 4), normal(3, 2, 4, 4)),
    native.rate(normal(1300), jnp.exp(normal(1300)), normal(), 0.3 * normal(2, 6, 6), normal(2, 6)),
    native.sample(*parents(1300), uniform.ravel(), 0.3 * normal(2, 5, 5), normal(2, 5)),
    *native.blend(
        *parents(700), normal(700, 60), jnp.exp(normal(700)), index, 0.3 * normal(2, 5, 5), normal(4, 2), normal(2)
    ),
    native.mutate(
        jax.random.key_data(jax.random.key(1)), normal(40, 30_000), jnp.arange(40, dtype=jnp.int32), jnp.ones(40)
    ),
]
for result in results:
    print(hashlib.sha256(np.asarray(result).tobytes()).hexdigest())
"""


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two processor cores")
def test_one_thread_and_two_threads_agree_to_the_bit():
    digests = []
    for num_cores in ("1", "2"):
        result = subprocess.run([sys.executable, "-c", LARGE_CALLS, num_cores], capture_output=True, text=True)
        digests.append(result.stdout.split())
        assert len(digests[-1]) == 6, result.stderr
    assert digests[0] == digests[1]
    assert hashlib.sha256(b"").hexdigest() not in digests[0]
