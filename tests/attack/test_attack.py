"""An attack that stays: a part of it in every test run, more of it with the slow ones, all of it with `make attack`."""

import random
import resource

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attack.faults import DEADLY, EVALUATORS, HARMLESS, Case, attack, command_case
from attack.killer import OUTCOMES, killed_and_finished, left_behind, lives, outcome
from attack.mutations import bombarded, formats


@st.composite
def cases(draw, evaluators=EVALUATORS[:3], faults=tuple(HARMLESS), budget=300):
    return Case(
        evaluator=draw(st.sampled_from(evaluators)),
        on_error=draw(st.sampled_from(["penalize", "retry"])),
        faults=tuple(draw(st.lists(st.sampled_from(faults), min_size=1, unique=True))),
        share=draw(st.sampled_from([0.1, 0.5, 0.9, 1.0])),
        seed=draw(st.integers(0, 2**31)),
        popsize=draw(st.sampled_from([8, 16])),
        num_dims=draw(st.sampled_from([2, 3])),
        budget=draw(st.integers(1, budget)),
        direction=draw(st.sampled_from(["minimize", "maximize"])),
        reevaluate=draw(st.sampled_from([0, 0, 2])),
        algorithm=draw(st.sampled_from(["samr_ga", "samr_ga", "lga"])),
    )


@settings(max_examples=20)
@given(case=cases())
def test_whatever_fails_wherever_it_is_evaluated_all_is_counted_and_the_best_is_the_best(case, tmp_path_factory):
    attack(case, tmp_path_factory.mktemp("case"))


def test_workers_that_die_in_every_way_are_counted(tmp_path):
    faults = tuple(HARMLESS | DEADLY)
    case = Case("processes", "retry", faults, 0.15, seed=1, popsize=8, num_dims=2, budget=80)
    done = attack(case, tmp_path)
    assert sum(done.values()) > 0


@pytest.mark.slow
@settings(max_examples=25)
@given(case=cases(("processes",), tuple(HARMLESS | DEADLY), 60))
def test_whatever_workers_do_all_is_counted(case, tmp_path_factory):
    attack(case, tmp_path_factory.mktemp("case"))


def test_commands_that_fail_are_counted(tmp_path):
    case = Case("command", "retry", (), 0.4, seed=1, popsize=6, num_dims=2, budget=30)
    assert command_case(case, tmp_path).total() > 0


@pytest.mark.parametrize("name", ["weights", "checkpoint", "cell", "unfinished_cell", "images", "variables"])
def test_a_changed_file_is_refused_or_says_what_it_said(name, tmp_path):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    counts = bombarded(formats(tmp_path)[name], 100, random.Random(0))
    assert counts["refused"] > 30
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000  # kilobytes


@pytest.mark.parametrize("name", ["config.json", "metrics.jsonl", "checkpoint.safetensors"])
def test_a_changed_file_of_a_training_run_is_refused_or_says_what_it_said(name, tmp_path):
    assert bombarded(formats(tmp_path)[name], 100, random.Random(0))["refused"] > 60


@pytest.fixture(scope="module")
def maker(tmp_path_factory):
    with lives(tmp_path_factory.mktemp("cache")) as one:
        yield one


@pytest.mark.parametrize("piece", ["searched_by_workers", *(pytest.param(p, marks=pytest.mark.slow) for p in OUTCOMES)])
def test_killed_at_any_moment_it_ends_as_if_it_had_not_been(piece, maker, tmp_path):
    maker.finished(piece, tmp_path / "undisturbed")
    assert killed_and_finished(maker, piece, tmp_path / "killed", random.Random(0), most=4) > 0
    assert outcome(piece, tmp_path / "killed") == outcome(piece, tmp_path / "undisturbed")
    assert left_behind(tmp_path / "killed") == []
