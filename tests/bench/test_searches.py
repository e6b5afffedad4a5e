import dataclasses

import jax
import numpy as np
import pytest

from lga.algorithms import presets
from lga.bench.methods import HAND_DESIGNED, Size
from lga.bench.searches import Suite, best_gaps, evaluations_after, gap_cell, searches
from lga.core.population import FAILED
from lga.tasks import bbob
from lga.trials import search_tasks

TASKS = bbob.instances(("sphere", "schwefel"), (1, 2), 3)
ALGORITHMS = {"samr": presets.samr_ga(8), "sep_cma_es": presets.sep_cma_es(8)}


@pytest.mark.usefixtures("ranks_promoted")
@pytest.mark.parametrize("name", ALGORITHMS)
def test_searches_in_steps_are_the_searches_of_one_program(name):
    key = jax.random.key(5)
    in_steps = searches(ALGORITHMS[name], 6)(key, TASKS, 3, 0.4)
    at_once = jax.jit(lambda: search_tasks(key, ALGORITHMS[name], TASKS, 0.4, num_seeds=3, num_generations=6))()
    assert in_steps.best_so_far.shape == (4, 3, 6)
    for field in ("best_so_far", "generation_best", "mean_sigma", "failures"):
        # Rounding differs between the two programs, and searches carry it on.
        np.testing.assert_allclose(getattr(in_steps, field), getattr(at_once, field), rtol=1e-3)


def test_every_seed_and_task_is_a_search_of_its_own():
    best = np.asarray(searches(ALGORITHMS["samr"], 4)(jax.random.key(5), TASKS, 3, 0.4).best_so_far)
    assert len(np.unique(best[..., 0])) == best[..., 0].size
    assert (best < FAILED).all()


def test_a_start_that_is_not_evaluated_is_another_search_and_another_cell():
    method, size = HAND_DESIGNED["samr_ga"], Size(8, 4)
    usual = Suite(("sphere",), (1,), num_dims=3, num_seeds=2, seed=5)
    other = dataclasses.replace(usual, evaluate_start=False)
    assert "evaluate_start" not in gap_cell(method, size, usual).key
    assert gap_cell(method, size, usual).key != gap_cell(method, size, other).key
    assert np.any(best_gaps(method, size, usual)["best_so_far"] != best_gaps(method, size, other)["best_so_far"])
    assert evaluations_after(size, True).tolist() == [16, 24, 32, 40]
    assert evaluations_after(size, False).tolist() == [8, 16, 24, 32]
