"""The roster: every method is built, tuned and measured in one way, and can be sent to another process."""

import dataclasses
import pickle
from pathlib import Path

import numpy as np
import pytest

from bench.zero import ZERO
from lga.bench.methods import EVOSAX_AS_IT_COMES, HAND_DESIGNED, Size, as_shipped, learned, methods_named
from lga.bench.searches import Suite, best_gaps, gap_cell
from lga.bench.tuning import tune
from lga.weights import EVOSAX_LGA

SUITE = Suite(("sphere",), (1, 2), num_dims=3, num_seeds=3, seed=3)
SIZE = Size(num_children=8, num_generations=10)


def gaps(method, size=SIZE, suite=SUITE):
    return best_gaps(method, size, suite)["best_so_far"]


@pytest.mark.usefixtures("ranks_promoted")
@pytest.mark.parametrize("method", [*HAND_DESIGNED.values(), EVOSAX_AS_IT_COMES], ids=lambda method: method.name)
def test_every_method_without_weights_of_ours_is_measured(method):
    assert np.isfinite(gaps(method)).all()


def test_gaps_repeat_and_have_one_row_for_each_function_instance_and_seed():
    method = HAND_DESIGNED["samr_ga"]
    first, second = gaps(method), gaps(method)
    assert first.shape == (1, 2, 3, 10)
    np.testing.assert_array_equal(first, second)


def test_two_methods_start_from_equal_points():
    """With rates of nearly zero the first children are copies of the best of the start."""
    starts = [gaps(HAND_DESIGNED["gaussian_ga"].at(rho, 1e-12))[..., 0] for rho in (0.0, 1.0)]
    np.testing.assert_allclose(starts[0], starts[1], rtol=1e-5)


def test_a_comparisons_grid_replaces_only_what_a_method_tunes():
    ratios, sigmas = (0.1, 0.2), (0.3, 0.4)
    grids = {name: method.over(ratios, sigmas).settings for name, method in HAND_DESIGNED.items()}
    assert grids["gaussian_ga"] == [(0.1, 0.3), (0.1, 0.4), (0.2, 0.3), (0.2, 0.4)]
    assert grids["cma_es"] == [(0.5, 0.3), (0.5, 0.4)]
    assert len(grids["random_search"]) == 1
    assert len(learned(ZERO).over(ratios, sigmas).settings) == 4
    assert as_shipped(ZERO).over(ratios, sigmas).settings == [(1.0, 0.25)]


@pytest.mark.parametrize("num_dims", [2, 10, 40])
@pytest.mark.parametrize("method", HAND_DESIGNED.values(), ids=lambda method: method.name)
def test_no_method_has_more_evaluations_than_the_comparison_and_none_lacks_a_generation(method, num_dims):
    for evaluate_start, most in ((True, 32 * 51), (False, 32 * 50)):
        size = method.size(32, 50, num_dims, evaluate_start)
        used = size.num_children * (size.num_generations + int(evaluate_start))
        assert most - size.num_children < used <= most


def test_a_population_that_leaves_no_generation_is_refused():
    method = HAND_DESIGNED["cma_es_default"]
    with pytest.raises(ValueError, match="default population has a population of 12, and no evaluations"):
        method.size(num_children=4, num_generations=1, num_dims=20)


def test_the_name_of_a_method_does_not_decide_its_cell_and_all_else_does():
    method, folder = as_shipped(ZERO), Path("cells")
    file = gap_cell(method, SIZE, SUITE).file(folder)
    renamed = dataclasses.replace(method, name="other")
    assert gap_cell(renamed, SIZE, SUITE).file(folder) == file
    others = [
        gap_cell(method.at(1.0, 0.5), SIZE, SUITE),
        gap_cell(HAND_DESIGNED["gaussian_ga"].at(1.0, 0.25), SIZE, SUITE),
        gap_cell(method, SIZE._replace(num_generations=11), SUITE),
        gap_cell(method, SIZE, dataclasses.replace(SUITE, seed=4)),
    ]
    assert len({file, *(cell.file(folder) for cell in others)}) == 5


def test_a_method_that_is_not_tuned_yet_has_no_setting():
    with pytest.raises(ValueError, match="SAMR-GA has 2 settings: it must be tuned first"):
        _ = HAND_DESIGNED["samr_ga"].over((0.5,), (0.1, 0.2)).sigma


def test_tuning_finds_the_rate_that_is_not_absurd():
    method = HAND_DESIGNED["gaussian_ga"].over((0.0, 0.5), (1e-6, 0.5, 1e6))
    assert tune(method, lambda candidate: float(gaps(candidate)[..., -1].mean())).method.sigma == 0.5


def test_the_tuner_takes_the_first_of_equals_and_never_a_loss_that_is_not_a_number():
    method = HAND_DESIGNED["gaussian_ga"].over((0.0, 0.5, 1.0), (0.5,))
    losses = {0.0: float("nan"), 0.5: 1.0, 1.0: 1.0}
    assert tune(method, lambda candidate: losses[candidate.elite_ratio]).method.elite_ratio == 0.5


def test_a_method_with_nothing_to_tune_is_not_run():
    tuned = tune(as_shipped(ZERO), lambda candidate: pytest.fail("it was run"))
    assert (tuned.method.setting, tuned.loss) == ((1.0, 0.25), None)


def test_cells_give_the_same_outcome_in_another_process():
    """They are pickled as they would be on the way there."""
    cell = gap_cell(as_shipped(ZERO), SIZE, SUITE)
    there = pickle.loads(pickle.dumps(cell))
    assert there.key == cell.key
    np.testing.assert_array_equal(there.compute(None)["best_so_far"], cell.compute(None)["best_so_far"])


@pytest.mark.usefixtures("ranks_promoted")
def test_methods_are_found_by_the_names_that_people_type():
    found = list(methods_named(["lga-1", "sep_cma_es", "open_es", EVOSAX_LGA], num_dims=10))
    assert [(method.name, method.family) for method in found] == [
        ("lga-1", "learned"),
        ("Sep-CMA-ES", "strategy"),
        ("OpenES", "peer"),
        (EVOSAX_LGA, "learned"),
    ]
    with pytest.raises(ValueError, match="weights is 'adam', but must be a file or one of"):
        list(methods_named(["adam"], num_dims=10))


def test_a_share_of_the_best_is_a_setting_that_searches_differ_by():
    method = dataclasses.replace(learned(ZERO), best_shares=(None, 0.5))
    blended, unblended = method.candidates
    assert "best_share" not in blended.identity
    assert unblended.identity == blended.identity | {"best_share": 0.5}
    assert tune(method, lambda candidate: -(candidate.best_share or 0.0)).method == unblended
    with pytest.raises(ValueError, match="has 2 settings: it must be tuned first"):
        method.identity  # noqa: B018
