"""Training for a family of one's own, and what is said about it."""

import re
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import lga
from lga.bench.own_starts import most_useful, sized
from lga.bench.own_tasks import OWN_TASKS, Trained, minimize_from, verdict
from lga.bench.statistics import mean_interval
from lga.core.variables import Variables
from lga.meta.speed_validation import generations_to, log2_evaluations

TINY = replace(OWN_TASKS, meta_generations=2, meta_population=4, num_tasks=2, validate_every=1)


def test_generations_are_counted_until_a_value_is_reached():
    curves = np.array([[5.0, 3.0, 3.0, 1.0], [9.0, 8.0, 7.0, 6.0]])
    np.testing.assert_array_equal(generations_to(curves, np.array([[3.0, 1.0], [9.0, 6.5]])), [[2, 4], [1, 4]])


def falling(seed):
    return np.sort(np.random.default_rng(seed).normal(size=(2000, 12)), axis=1)[:, ::-1]


def test_a_search_is_as_fast_as_itself_and_twice_as_fast_with_half_the_population():
    np.testing.assert_array_equal(log2_evaluations(falling(0), falling(0)), 0.0)
    np.testing.assert_array_equal(log2_evaluations(falling(0), falling(0), 4, 8), -1.0)


def test_luck_makes_no_search_faster_than_its_equal():
    ratios = log2_evaluations(falling(0), falling(1))
    assert abs(ratios.mean()) < 4 * ratios.mean(axis=1).std() / np.sqrt(len(ratios))


def test_a_budget_holds_the_first_solutions_and_whole_generations():
    assert sized(3, 10, 100).num_generations == 9
    with pytest.raises(ValueError, match="less than two generations"):
        sized(3, 10, 19)


def test_the_most_useful_optima_are_those_that_are_good_on_other_tasks():
    """Two groups of tasks: an optimum of a group is good on all others of it."""
    group = np.repeat([0, 1], [24, 16])
    values = np.abs(group[:, None] - group[None, :]) + 0.01 * np.random.default_rng(0).uniform(size=(40, 40))
    one, other = most_useful(values, 2)
    assert (group[one], group[other]) == (0, 1)
    # What is best on its own task alone is of no use.
    assert most_useful(np.where(np.eye(40, dtype=bool), -1.0, values), 2) == [one, other]


def test_a_search_tries_the_points_of_its_start_first():
    low, high, no = np.array([-5.0, 0.1]), np.array([5.0, 10.0]), np.zeros(2, bool)
    first = np.array([[1.0, 2.0], [-3.0, 0.5], [4.0, 9.0]])
    variables = Variables(low, high, np.array([False, True]), no, np.array([0.0, 1.0]), 0.1 * np.eye(2), first)
    asked = []
    minimize_from(variables, lambda x: asked.append(x) or float(np.sum(x**2)), max_evaluations=20, popsize=8, seed=0)
    np.testing.assert_allclose(asked[:3], first, rtol=1e-9)
    assert len(asked) == 20


def row(name, log2_fewer, wins):
    intervals = {"log2_times_fewer_evaluations": log2_fewer, "win_rate": wins}
    return {"method": name} | {key: mean_interval(np.array(values))._asdict() for key, values in intervals.items()}


def test_a_gain_is_claimed_only_beyond_its_interval():
    ahead = row("lga-2", [1.0, 1.1, 0.9], [1.0, 1.0, 1.0])
    close = row("CMA-ES", [0.5, -0.4, 0.2], [1.0, 0.0, 1.0])
    assert verdict([row("lga-2", [0.5, -0.4, 0.2], [1.0, 0.0, 1.0]), ahead]) == "no gain: use lga-2"
    assert verdict([ahead, ahead]).endswith("times fewer than lga-2, the closest")
    assert "but CMA-ES does as well" in verdict([ahead, close, ahead])


@pytest.mark.parametrize("number", [0, 1])
def test_the_families_of_the_page_are_families(number):
    page = (Path(__file__).parents[2] / "docs" / "own-tasks.md").read_text()
    names: dict = {}
    exec(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[number], names)
    bowls = names["bowls"]
    task = bowls.draw(jax.random.key(0), (2, 2))
    with jax.numpy_rank_promotion("allow"):
        values, _ = bowls.observe(jax.random.key(1), task, jnp.array([[0.9, 1.1], [-4.0, 4.0]]))
    # Coordinates are the variables themselves: the box has sides of ten.
    assert values[0] < 3.0 < values[1]


def test_training_must_be_told_for_what():
    with pytest.raises(ValueError, match="neither config nor tasks"):
        lga.train()
    with pytest.raises(ValueError, match="budget is missing"):
        lga.train(tasks="curves")


@pytest.mark.slow
def test_a_family_is_trained_for_tested_and_used(tmp_path, ranks_promoted):
    def draw(key):
        return 0.3 * jax.random.normal(key, (2,)) + 1.0

    mine = lga.family(draw, lambda task, x: jnp.sum((x - task[None]) ** 2, axis=1), [(-5.0, 5.0)] * 2, name="bowls")
    trained = lga.train(tasks=mine, budget=60, directory=tmp_path / "run", settings=TINY, num_tests=8)
    # Optima are known to lie around 1, as widely as they were drawn.
    np.testing.assert_allclose(trained.variables.x0, 1.0, atol=4 * 0.3 / 8)
    assert trained.report["num_tests"] == 8
    assert trained.report["rows"][0]["method"] == "lga-2"
    result = Trained.load(tmp_path / "run").minimize(lambda x: float(np.sum((x - 1.2) ** 2)), seed=0)
    assert result.nfev <= 60
    assert result.fun == pytest.approx(np.sum((result.x - 1.2) ** 2))
    assert result.fun < 0.1
    assert (tmp_path / "run" / "report.html").exists()


def numpy_draw(generator):
    return generator.normal(1.0, 0.3, size=2)


def numpy_evaluate(task, x):
    return np.sum((x - task) ** 2, axis=1)


@pytest.mark.slow
def test_a_family_written_in_numpy_is_trained_for(tmp_path, ranks_promoted):
    mine = lga.family(numpy_draw, numpy_evaluate, [(-5.0, 5.0)] * 2, name="bowls", numpy=True)
    trained = lga.train(tasks=mine, budget=60, directory=tmp_path / "run", settings=TINY, num_tests=4)
    np.testing.assert_allclose(trained.variables.x0, 1.0, atol=4 * 0.3 / 8)
    assert trained.minimize(lambda x: float(np.sum((x - 1.2) ** 2)), seed=0).fun < 0.1


@pytest.mark.slow
def test_a_built_in_family_is_trained_for_by_its_name(tmp_path, ranks_promoted):
    trained = lga.train(tasks="curves", budget=40, dims=7, directory=tmp_path / "run", settings=TINY, num_tests=4)
    assert trained.variables is None
    assert trained.options["max_evaluations"] == 40
