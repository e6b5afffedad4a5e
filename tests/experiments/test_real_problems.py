"""The real problems are what they say, and methods are compared at the same number of evaluations."""

import math

import numpy as np
import pytest
from rich.console import Console

from experiments import comparison_tables, real_problems
from experiments.form import carry_out
from experiments.problems import nist
from experiments.problems.catalogue import CHOSEN_ON, PROBLEMS
from experiments.problems.form import Problem, integers, reals
from experiments.problems.methods import METHODS, Counted, searched
from experiments.real_problems import EXPERIMENT, RealProblemsSettings, Search, is_worst, ranks_of, searches

SETTINGS = RealProblemsSettings(("boxbod", "three_bars"), ("SciPy differential_evolution", "pycma"), 2)

# The best designs of the literature, as far as they are printed.
DESIGNS = {
    "welded_beam": (0.20572964, 3.47048867, 9.03662391, 0.20572964),
    "spring": (0.05168906, 0.35671775, 11.28896401),
    "pressure_vessel": (13, 7, 42.0984456, 176.6365958),
    "speed_reducer": (3.5, 0.7, 17, 7.3, 7.7153199, 3.3502147, 5.2866545),
    "three_bars": (0.78867513, 0.40824829),
}


def test_there_are_enough_problems_of_every_kind():
    tags = [tag for problem in PROBLEMS.values() for tag in problem.tags]
    assert len(PROBLEMS) >= 20
    assert all(tags.count(tag) >= 3 for tag in ("fit", "constraints", "integers", "noise", "learning"))


def test_two_fifths_of_the_problems_are_for_the_report_alone():
    assert len(set(PROBLEMS) - set(CHOSEN_ON)) >= 0.4 * len(PROBLEMS)


@pytest.mark.parametrize("name", nist.CERTIFIED)
def test_certified_parameters_give_the_certified_sum_of_squares(name):
    assert nist.PROBLEMS[name].value(np.array(nist.CERTIFIED[name])) == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("name", DESIGNS)
def test_the_best_designs_of_the_literature_are_feasible_and_as_good_as_we_say(name):
    problem, x = PROBLEMS[name], np.array(DESIGNS[name], float)
    assert problem.violations is not None
    assert problem.violations(x).max() < 1e-6
    assert problem.value(x) == pytest.approx(problem.best, rel=1e-5)


@pytest.mark.parametrize("name", [name for name, problem in PROBLEMS.items() if "learning" not in problem.tags])
def test_a_value_is_a_number_that_is_not_below_the_best_and_always_the_same(name):
    problem = PROBLEMS[name]
    low, high = problem.ends()
    x = Counted(problem, 0).rounded(low + 0.3 * (high - low))
    assert problem.value(x) == problem.value(x)
    if problem.violations is None or problem.violations(x).max() == 0.0:
        assert problem.value(x) >= problem.best - problem.tolerance


def toy(**options):
    variables = [*reals((-1.0, 1.0)), *integers((0, 9))]
    return Problem("a toy", variables, lambda x: float(np.sum(x**2)), 0.0, 1e-6, 60, **options)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "lga"])
@pytest.mark.parametrize("constrained", [False, True])
def test_all_methods_use_the_same_number_of_evaluations(method, constrained):
    limit = {"violations": lambda x: np.maximum(np.array([0.5 - x[0]]), 0.0), "penalty": 10.0} if constrained else {}
    counted = searched(method, toy(**limit), 1)
    assert counted.calls == 60
    assert counted.recommended is not None
    assert counted.recommended[1] == np.rint(counted.recommended[1])
    assert not constrained or counted.recommended[0] >= 0.5 - 1e-6


def test_what_is_never_feasible_has_no_value():
    impossible = toy(violations=lambda x: np.ones(1), penalty=1.0)
    assert searched("SciPy differential_evolution", impossible, 0).true_value() == math.inf


def test_equal_gaps_share_a_rank_and_ranks_are_among_equal_seeds():
    settings = RealProblemsSettings(("boxbod",), ("a", "b", "c"), 1)
    gaps = {Search("a", "boxbod", 0): 1.0, Search("b", "boxbod", 0): 3.0, Search("c", "boxbod", 0): 1.0}
    assert list(ranks_of(settings, gaps).values()) == [1.5, 3.0, 1.5]


def test_the_worst_is_alone_at_the_end():
    assert is_worst("b", {"a": 1.0, "b": 3.0})
    assert not is_worst("b", {"a": 3.0, "b": 3.0})
    assert not is_worst("a", {"a": 1.0, "b": 3.0})


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("study")


@pytest.fixture(scope="module")
def report(out):
    return carry_out("real_problems", EXPERIMENT, SETTINGS, out, Console(quiet=True)).report


def test_a_report_has_a_row_for_each_method_and_problem(report):
    assert [row["method"] for row in report["methods"]] == list(SETTINGS.methods)
    assert [row["problem"] for row in report["problems"]] == list(SETTINGS.problems)
    assert len(report["runs"]) == len(list(searches(SETTINGS))) == 8
    ranks = [row["mean_rank"]["mean"] for row in report["methods"]]
    assert sum(ranks) == pytest.approx(3.0)


def test_tables_show_every_method_and_problem(report):
    assert comparison_tables.real_methods(report).count("\n") == 2 + 2
    assert "boxbod" in comparison_tables.real_problems(report)


def test_no_search_is_run_twice(report, out, monkeypatch):
    monkeypatch.setattr(real_problems, "searched", lambda *_: pytest.fail("run again"))
    again = carry_out("real_problems", EXPERIMENT, SETTINGS, out, Console(quiet=True)).report
    assert again == report
