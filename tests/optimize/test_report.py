"""What a search returns can be looked at: as a page, in a notebook, as a picture."""

import numpy as np
import pytest

import lga
from lga.optimize.optimizer import Optimizer
from lga.optimize.records import COLUMNS, axis_ratio, with_all_columns

BOUNDS = [(-2.0, 2.0), (1e-2, 1e2)]
SMALL = {"popsize": 8, "max_evaluations": 64, "seed": 0}


def bowl(x):
    if x[0] > 1.0:
        raise RuntimeError("<img src=x onerror=alert(1)>")
    return float(x[0] ** 2 + np.log10(x[1]) ** 2)


@pytest.fixture(scope="module")
def result():
    return lga.minimize(bowl, BOUNDS, log_scale=[False, True], **SMALL)


def test_a_page_tells_the_best_the_failures_and_the_settings(result, tmp_path):
    text = result.report(tmp_path / "run.html").read_text()
    assert f'data-value="{float(result.x[0])!r}"' in text
    assert "RuntimeError: &lt;img src=x onerror=alert(1)&gt;" in text
    assert "<img" not in text
    assert "<dt>popsize</dt><dd>8</dd>" in text


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_a_search_in_which_nothing_succeeds_can_be_looked_at(direction, tmp_path):
    nothing = lga.minimize(lambda x: float("nan"), BOUNDS, direction=direction, **SMALL)
    assert "No evaluation succeeded" in nothing.report(tmp_path / "run.html").read_text()
    assert "<svg" in nothing._repr_html_()


def test_a_notebook_shows_the_curve_without_a_script(result):
    shown = result._repr_html_()
    assert "<svg" in shown
    assert "<script" not in shown
    assert "64" in shown


def test_a_plot_has_value_rate_and_shape(result):
    titles = [axes.get_title() for axes in lga.plot(result).axes]
    assert titles == ["value", "mutation rate", "longest axis / shortest"]


def test_the_history_tells_how_long_the_shape_is(result):
    ratios = result.history["axis_ratio"]
    assert ratios[0] == pytest.approx(1.0)
    assert (ratios[1:] > 1.0).all()


def test_the_axes_of_a_shape_are_its_singular_values():
    class Memory:
        stretch = np.diag([4.0, 0.5, 1.0])[[1, 0, 2]]

    assert axis_ratio(Memory()) == pytest.approx(8.0)
    assert np.isnan(axis_ratio(None))


def test_a_history_from_before_there_were_so_many_columns_is_filled_up():
    old = np.ones((3, 5))
    filled = with_all_columns(old)
    assert filled.shape == (3, len(COLUMNS))
    assert np.isnan(filled[:, 5:]).all()


def test_a_checkpoint_keeps_the_shape(tmp_path):
    optimizer = Optimizer(BOUNDS, popsize=8, seed=0)
    for _ in range(3):
        points = optimizer.ask()
        optimizer.tell(points, (points**2).sum(axis=1))
    optimizer.save(tmp_path / "state")
    np.testing.assert_array_equal(Optimizer.load(tmp_path / "state").state.history, optimizer.state.history)
