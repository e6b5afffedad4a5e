"""Samplers beside each other: the same trials for all, and what is told of them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from experiments import samplers
from experiments.samplers import OURS, SMOKE, Search, cells_of, run, search_pool
from lga.tasks.hpob import Pool

QUIET = Console(quiet=True)


@pytest.fixture
def pool(monkeypatch):
    draw = np.random.default_rng(0)
    features = draw.uniform(size=(30, 2)).astype(np.float32)
    accuracy = 0.9 - 0.3 * np.abs(features - 0.7).mean(axis=1).astype(np.float64)
    initial = np.stack([draw.choice(30, 5, replace=False) for _ in range(2)])
    made = Pool("1_1", features, accuracy, initial)
    monkeypatch.setattr(samplers, "load_pools", lambda: {"1_1": made})
    return made


@pytest.mark.parametrize("sampler", [OURS, "TPESampler", "CmaEsSampler", "NSGAIISampler"])
def test_a_search_begins_with_the_initial_trials_and_tries_no_configuration_twice(pool, sampler):
    curve = search_pool(Search(sampler, "1_1", 1), 25, Path())["curve"]
    normalized = pool.range.normalized(pool.accuracy)
    assert curve[0] == normalized[pool.initial[1]].max()
    assert np.all(np.diff(curve) >= 0.0)
    # The pool has five initial configurations and 25 others.
    assert curve[-1] == 1.0


def never(*args, **options):
    raise AssertionError("it was searched before")


def test_a_comparison_is_paired_and_goes_on_where_it_was(tmp_path, monkeypatch):
    first = run(SMOKE, tmp_path, QUIET).report
    monkeypatch.setattr(samplers, "search_function", never)
    assert run(SMOKE, tmp_path, QUIET).report == first
    own, theirs = first["function_rows"][2:]
    assert (own["sampler"], own["trials"], theirs["trials"]) == (OURS, 20, 20)
    assert own["ours_minus_theirs"]["mean"] == 0.0
    differences = np.subtract(own["each"], theirs["each"])
    assert theirs["ours_minus_theirs"]["mean"] == pytest.approx(differences.mean())
    assert theirs["won_by_ours"] == np.sum(differences < 0.0)
    assert [line[1] for line in cells_of(first)] == ["10", "10", "20", "20"]


def test_a_sampler_that_cannot_run_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match="GPSampler needs torch"):
        run(replace(SMOKE, samplers=(OURS, "GPSampler")), tmp_path, QUIET)
    with pytest.raises(ValueError, match="samplers has 'Magic'"):
        run(replace(SMOKE, samplers=("Magic",)), tmp_path, QUIET)
