"""One short search of each algorithm, number by number: a change of arithmetic is seen here before it is meant.

`python tests/algorithms/test_golden.py` writes the numbers anew, after a change that was meant.
"""

import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lga.algorithms.presets import ALGORITHMS, learned_ga
from lga.algorithms.run import run
from lga.weights import installed

FILE = Path(__file__).with_name("golden.json")
NUM_CHILDREN, NUM_DIMS, NUM_GENERATIONS = 8, 3, 6
SEARCHES = {name: build for name, build in ALGORITHMS.items() if name != "learned_ga"} | {
    name: lambda num_children, name=name: learned_ga(name, num_children) for name in installed()
}


def ellipsoid(key, solutions):
    return solutions**2 @ jnp.array([1.0, 10.0, 100.0])


def trajectory(name: str) -> dict[str, list[float]]:
    start = np.random.default_rng(0).uniform(-5, 5, size=(NUM_CHILDREN, NUM_DIMS)).astype(np.float32)
    algorithm = SEARCHES[name](NUM_CHILDREN)
    _, trace = run(jax.random.key(1), algorithm, ellipsoid, jnp.asarray(start), 0.5, NUM_GENERATIONS)
    figures = {"generation_best": trace.generation_best, "mean_sigma": trace.mean_sigma}
    return {figure: [float(f"{value:.6g}") for value in np.asarray(values)] for figure, values in figures.items()}


@pytest.mark.usefixtures("ranks_promoted")
@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_takes_the_steps_that_it_took_before(name):
    golden = json.loads(FILE.read_text())
    assert name in golden, f"{name} is new: write the numbers anew"
    # Kernels and instruction sets round differently; a changed rule differs by far more.
    for figure, values in trajectory(name).items():
        np.testing.assert_allclose(values, golden[name][figure], rtol=2e-3, err_msg=figure)


if __name__ == "__main__":
    FILE.write_text(json.dumps({name: trajectory(name) for name in SEARCHES}, indent=1) + "\n")
