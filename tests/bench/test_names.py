"""In a comparison every row has the figures of its own method: names are told apart, or refused."""

import io
from dataclasses import replace

import jax
import pytest
from rich.console import Console

import lga
from bench.zero import ZERO
from lga.bench.bbob import BbobProtocol, compare_on_bbob
from lga.bench.generalization import Grid, compare_budgets
from lga.bench.methods import methods_named
from lga.bench.network_runs import scale_of
from lga.bench.neuro import compare_on_task
from lga.weights import resolve_all


def saved(path, seed):
    path.parent.mkdir(exist_ok=True)
    lga.save_theta(path, lga.init_theta(jax.random.key(seed), lga.ThetaConfig()), {})
    return str(path)


def test_two_files_of_one_name_are_refused(tmp_path):
    files = [saved(tmp_path / folder / "best.safetensors", seed) for seed, folder in enumerate(("one", "two"))]
    with pytest.raises(ValueError, match="two weights would both be shown as 'best': rename one file"):
        list(methods_named(files, num_dims=5))
    with pytest.raises(ValueError, match="two weights would both be shown as 'best': rename one file"):
        resolve_all(files, 5)
    with pytest.raises(ValueError, match="two weights would both be shown as 'best'"):
        compare_on_task("digits", files, scale_of("digits", "smoke"), 1, tmp_path / "out", Console(quiet=True))


@pytest.mark.parametrize("name", ["gaussian_ga", "Gaussian GA", "cma_es", "lga-2", "evosax-lga"])
def test_a_file_with_the_name_of_something_else_is_refused(name, tmp_path):
    file = saved(tmp_path / f"{name}.safetensors", 0)
    with pytest.raises(ValueError, match=f"would be shown as '{name}', which is the name of something else"):
        list(methods_named(["gaussian_ga", file], num_dims=5))


def test_no_row_of_the_comparison_on_bbob_is_replaced(tmp_path):
    screen = Console(file=io.StringIO())
    for name in ("Gaussian GA", "zero, untuned"):
        weights = [replace(ZERO, name="zero"), replace(ZERO, name=name, digest="other")]
        with pytest.raises(ValueError, match=f"two methods would both be shown as {name}"):
            compare_on_bbob(BbobProtocol(), weights, tmp_path, screen)


def test_no_curve_of_the_comparison_of_budgets_is_replaced(tmp_path):
    file = saved(tmp_path / "Gaussian GA.safetensors", 0)
    with pytest.raises(ValueError, match="two methods would both be shown as Gaussian GA"):
        compare_budgets(Grid(), file, tmp_path / "out", Console(file=io.StringIO()))


@pytest.mark.usefixtures("ranks_promoted")
def test_another_rate_in_the_same_folder_keeps_the_runs_that_are_there(tmp_path):
    scale = scale_of("digits", "smoke")

    def compare(scale):
        return compare_on_task("digits", ["gaussian_ga"], scale, 1, tmp_path, Console(quiet=True))

    first = compare(scale)
    before = {path: path.read_bytes() for path in (tmp_path / "cells").iterdir()}
    other = compare(replace(scale, sigmas=(0.5,)))
    assert all(path.read_bytes() == content for path, content in before.items())
    assert len(list((tmp_path / "cells").iterdir())) == 2 * len(before)
    assert [row["sigma0"] for report in (first, other) for row in report["rows"]] == [scale.sigmas[0], 0.5]
    assert compare(scale) == first
