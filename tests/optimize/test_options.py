"""One set of options for `minimize`, `Optimizer` and the command line; one state, which is a value and a file."""

import inspect
from dataclasses import fields

import jax
import numpy as np
import pytest
from faulty import sphere

import lga
from lga.cli.minimize import Arguments
from lga.core.tree_io import TreeFileError, digest, load_leaves, save_tree
from lga.optimize.options import INCIDENTAL, SearchOptions, make_search, population_size
from lga.optimize.state import first_state
from lga.optimize.steps import complete, note, open_generation
from lga.optimize.worker import Noted, Outcome, failed
from lga.weights import resolve

BOX = [(-5.0, 5.0)] * 3
# Named bounds become these; nobody gives them.
INNER = ("categories", "names")
DEFAULTS = {field.name: field.default for field in fields(SearchOptions) if field.name not in INNER}


@pytest.mark.parametrize("entrance", [lga.minimize, lga.Optimizer])
def test_all_entrances_have_the_same_options_and_defaults(entrance):
    parameters = inspect.signature(entrance).parameters
    own = {name: one.default for name, one in parameters.items() if name not in ("fun", "args", "rng", "callback")}
    assert own == {name: DEFAULTS[name] for name in own}
    if entrance is lga.minimize:
        assert own == DEFAULTS


def test_the_command_line_has_the_same_defaults_but_for_its_words():
    own = {field.name: field.default for field in fields(Arguments)}
    assert own | {"bounds": None, "progress": False} == own | DEFAULTS | {"bounds": None, "progress": False}


def test_every_option_is_explained_where_python_users_find_it():
    explained = str(lga.minimize.__doc__).split("Args:")[1].split("Returns:")[0]
    assert all(f"        {name}: " in explained for name in DEFAULTS)


def test_restarts_are_small_and_large_by_turns():
    assert [population_size(10, restarts) for restarts in range(9)] == [10, 10, 20, 10, 40, 10, 80, 10, 80]


def test_an_algorithm_may_be_given_as_it_is(tmp_path):
    algorithm = lga.gesmr_ga(8)
    arguments = {"algorithm": algorithm, "max_evaluations": 24, "seed": 0, "checkpoint": tmp_path / "run"}
    result = lga.minimize(sphere, BOX, **arguments)
    assert result.popsize == 8
    np.testing.assert_array_equal(
        result.x, lga.minimize(sphere, BOX, algorithm="gesmr_ga", popsize=8, max_evaluations=24, seed=0).x
    )
    np.testing.assert_array_equal(lga.minimize(sphere, BOX, **arguments).x, result.x)
    with pytest.raises(TreeFileError, match="its algorithm was given as it is, and is in no file"):
        lga.Optimizer.load(tmp_path / "run")


def test_matrix_adaptation_finds_the_end_of_a_bent_valley():
    def valley(x):
        return float(np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2))

    assert lga.minimize(valley, BOX, algorithm="ma_es", max_evaluations=3000, seed=0).fun < 1e-8


def test_the_settings_of_a_search_are_its_options():
    search = make_search(SearchOptions(BOX, seed=1))
    assert set(search.settings) == {*DEFAULTS, *INNER} - set(INCIDENTAL)
    assert search.settings["popsize"] == population_size(resolve().population(3), 0)
    assert search.settings["max_evaluations"] == 3000


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"on_error": "penalise"}, "on_error is 'penalise', but must be one of: penalize, raise, retry"),
        ({"direction": "up"}, "direction is 'up'"),
        ({"popsize": 2}, "popsize is 2"),
        ({"popsize": 8, "reevaluate": 9}, "reevaluate is 9"),
        ({"restarts": -1}, "restarts is -1"),
        ({"seed": -1}, "seed is -1"),
        ({"patience": 0}, "patience is 0"),
        ({"max_seconds": -1.0}, "max_seconds is -1.0"),
    ],
)
def test_mistakes_are_named(options, complaint):
    with pytest.raises(ValueError, match=complaint):
        lga.minimize(sphere, BOX, **options)


def test_no_step_changes_the_state_that_it_is_given():
    search = make_search(SearchOptions(BOX, seed=0, popsize=4, algorithm="samr_ga", reevaluate=1))
    state = first_state(search)
    steps = [lambda s: open_generation(search, s)]
    for position in range(4):
        outcome = failed("nan") if position == 2 else Outcome(float(position))
        steps.append(lambda s, position=position, outcome=outcome: note(search, s, [Noted(position, outcome)]))
    steps += [lambda s: complete(search, s), lambda s: open_generation(search, s)]
    for step in steps:
        before = digest(state)
        after = step(state)
        assert digest(state) == before
        assert digest(after) != before
        state = after


def test_whatever_tree_an_algorithm_has_is_saved_and_found_again(tmp_path):
    optimizer = lga.Optimizer(BOX, seed=0, popsize=8)
    for _ in range(3):
        x = optimizer.ask()
        optimizer.tell(x, [sphere(row) for row in x])
    optimizer.ask()
    optimizer.save(tmp_path / "run")
    loaded = lga.Optimizer.load(tmp_path / "run")
    assert jax.tree.structure(loaded.state) == jax.tree.structure(optimizer.state)
    assert jax.tree.map(type, loaded.state.best) == jax.tree.map(type, optimizer.state.best)
    for one, other in zip(jax.tree.leaves(loaded.state), jax.tree.leaves(optimizer.state), strict=True):
        assert np.result_type(one) == np.result_type(other)
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("leaf", ["state.run.algorithm.parents.solutions", "state.pending.values", "state.failures"])
def test_a_file_whose_shapes_do_not_fit_its_settings_is_refused(leaf, tmp_path):
    optimizer = lga.Optimizer(BOX, seed=0, popsize=8)
    x = optimizer.ask()
    optimizer.tell(x, [sphere(row) for row in x])
    optimizer.ask()
    optimizer.save(tmp_path / "run")
    leaves, description = load_leaves(tmp_path / "run")
    save_tree(tmp_path / "run", leaves | {leaf: leaves[leaf][:-1]}, description)
    with pytest.raises(TreeFileError, match="does not hold what it should"):
        lga.Optimizer.load(tmp_path / "run")
