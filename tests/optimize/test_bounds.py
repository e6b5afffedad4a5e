"""Whatever the bounds, nothing outside of them is ever evaluated."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lga
from lga.optimize.bounds import make_space

finite = st.floats(allow_nan=False, allow_infinity=False)
coordinates = st.floats(width=32, allow_nan=True, allow_infinity=True)


@st.composite
def variables(draw):
    """Bounds (both, one or none, also tiny, huge and equal), integrality, log scale, x0 and sigma0."""
    kind = draw(st.sampled_from(["both", "equal", "tiny", "huge", "low", "high", "none"]))
    integer, log = draw(st.booleans()), draw(st.booleans())
    low, high = sorted([draw(finite), draw(finite)])
    if kind == "equal":
        high = low
    elif kind == "tiny":
        high = float(np.nextafter(low, math.inf))
    elif kind == "huge":
        low, high = -np.finfo(float).max, np.finfo(float).max
    if log:
        low, high = sorted([max(abs(low), 1e-300), max(abs(high), 1e-300)])
    low = -math.inf if kind in ("high", "none") and not log else low
    high = math.inf if kind in ("low", "none") or not math.isfinite(high) else high
    if integer and math.isfinite(low) and math.isfinite(high):
        low, high = float(math.floor(low)), float(math.ceil(high))
    if log and low <= 0.0:
        low = 1.0
        high = max(high, low)
    least = math.ceil(low) if integer and math.isfinite(low) else low
    most = math.floor(high) if integer and math.isfinite(high) else high
    x0 = min(max(draw(st.floats(-1e6, 1e6)), least), most)
    sigma0 = draw(st.floats(1e-12, 1e12))
    return low, high, integer, log, float(round(x0)) if integer else float(x0), sigma0


@settings(max_examples=300)
@given(st.lists(variables(), min_size=1, max_size=4), st.booleans(), st.data())
def test_bounds_are_never_violated(drawn, with_sigma, data):
    low, high, integer, log, x0, sigma0 = map(list, zip(*drawn, strict=True))
    boxed = np.isfinite(low) & np.isfinite(high)
    if not with_sigma and boxed.all():
        space = make_space(list(zip(low, high, strict=True)), integrality=integer, log_scale=log)
    else:
        space = make_space(list(zip(low, high, strict=True)), x0, sigma0, integer, log)
    z = np.array(data.draw(st.lists(st.lists(coordinates, min_size=len(low), max_size=len(low)), min_size=1)))
    first = space.first_population(np.random.default_rng(0), 5)
    with np.errstate(invalid="ignore"):
        reflected = space.reflect(z)
    for points in (z, reflected, first):
        x = space.decode(points)
        assert x.dtype == float
        assert np.isfinite(x).all()
        assert (x >= low).all()
        assert (x <= high).all()
        assert (x[:, integer] == np.rint(x[:, integer])).all()
    assert np.isfinite(first).all()


@settings(max_examples=300)
@given(st.lists(variables(), min_size=1, max_size=4), st.data())
def test_what_was_reflected_stays_where_it_is(drawn, data):
    low, high, integer, log, x0, sigma0 = map(list, zip(*drawn, strict=True))
    space = make_space(list(zip(low, high, strict=True)), x0, sigma0, integer, log)
    z = np.array(data.draw(st.lists(st.lists(coordinates, min_size=len(low), max_size=len(low)), min_size=1)))
    once = space.reflect(z)
    np.testing.assert_array_equal(space.reflect(once), once)


@given(st.lists(variables(), min_size=2, max_size=2), st.integers(0, 1000))
def test_a_search_never_leaves_its_bounds(drawn, seed):
    low, high, integer, log, x0, sigma0 = map(list, zip(*drawn, strict=True))
    bounds = list(zip(low, high, strict=True))
    optimizer = lga.Optimizer(
        bounds, x0=x0, sigma0=sigma0, integrality=integer, log_scale=log, popsize=4, seed=seed, algorithm="samr_ga"
    )
    values = np.random.default_rng(seed)
    for _ in range(3):
        x = optimizer.ask()
        assert np.isfinite(x).all()
        assert ((x >= low) & (x <= high)).all()
        assert (x[:, integer] == np.rint(x[:, integer])).all()
        optimizer.tell(x, values.normal(size=4))


@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(0.1, 1e3)), min_size=1, max_size=5))
def test_coordinates_and_variables_are_inverse(pairs):
    space = make_space([(low, low + side) for low, side in pairs])
    inside = np.array([[low + share * side for low, side in pairs] for share in (0.0, 0.3, 1.0)])
    back = space.decode(np.stack([space.encode(x) for x in inside]))
    np.testing.assert_allclose(back, inside, atol=1e-6 * max(abs(low) + side for low, side in pairs))


def test_a_box_is_mapped_to_the_scale_of_training():
    space = make_space([(0.0, 1.0), (1e-4, 1e4)], log_scale=[False, True])
    np.testing.assert_allclose(
        space.decode(np.array([[-5.0, -5.0], [0.0, 0.0], [5.0, 5.0]])), [[0, 1e-4], [0.5, 1], [1, 1e4]]
    )


def test_a_step_too_far_comes_back_by_as_much():
    both = make_space([(-5.0, 5.0)] * 3)
    np.testing.assert_allclose(both.decode(np.array([[7.0, -8.0, 14.0]])), [[3.0, -2.0, -4.0]])
    above = make_space([(0.0, None)], x0=[2.5], sigma0=2.5)
    np.testing.assert_allclose(above.decode(np.array([[-4.5]])), [[2.0]])


@pytest.mark.parametrize("share", [0.0, 1e-4, 1e-3, 0.003, 0.01, 0.03, 0.1, 0.5])
@pytest.mark.parametrize("num_dims", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_an_optimum_on_a_bound_or_near_it_is_found(share, num_dims):
    """Every other variable has its optimum in the middle."""
    optimum = np.where(np.arange(num_dims) % 2, 500.0, 1000.0 * share)
    bounds = [(0, 1000)] * num_dims
    result = lga.minimize(
        lambda x: np.sum((x - optimum) ** 2), bounds, seed=1, max_evaluations=1000 * num_dims, target=1e-9
    )
    assert result.fun <= 1e-9


def test_an_optimum_in_a_corner_is_found():
    slopes = 10.0 ** np.linspace(0.0, 1.0, 5)
    result = lga.minimize(lambda x: slopes @ x, [(-5.0, 5.0)] * 5, seed=0, max_evaluations=3000)
    np.testing.assert_allclose(result.x, [-5.0] * 5, atol=1e-8)


def test_all_whole_numbers_are_equally_likely():
    space = make_space([(1, 4)], integrality=True)
    values, counts = np.unique(space.decode(space.first_population(np.random.default_rng(1), 4000)), return_counts=True)
    assert values.tolist() == [1, 2, 3, 4]
    tolerance = 4 * math.sqrt(0.25 * 0.75 / 4000)
    np.testing.assert_allclose(counts / 4000, 0.25, atol=tolerance)


def test_the_first_population_around_x0_has_the_deviation_sigma0():
    space = make_space(x0=[10.0, -3.0], sigma0=[0.5, 20.0])
    x = space.decode(space.first_population(np.random.default_rng(0), 4000))
    # The deviation of n normal numbers is off by 1 / sqrt(2 n).
    np.testing.assert_allclose(x.std(axis=0), [0.5, 20.0], rtol=4 / math.sqrt(8000))
    np.testing.assert_allclose((x.mean(axis=0) - [10.0, -3.0]) / [0.5, 20.0], 0.0, atol=4 / math.sqrt(4000))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({}, "neither bounds nor x0"),
        ({"bounds": [(0, 1)], "x0": [2.0]}, "x0 must lie inside"),
        ({"bounds": [(1, 0)]}, "lower must not be above"),
        ({"bounds": [(math.nan, 0)]}, "lower must not be above"),
        ({"bounds": [(0, None)]}, "x0 and sigma0 must be given"),
        ({"bounds": [(0, 1)], "log_scale": True}, "more than 0"),
        ({"bounds": [(0.2, 0.8)], "integrality": True}, "at least one whole number"),
        ({"x0": [0.0], "sigma0": -1.0}, "sigma0 is -1.0"),
        ({"bounds": [(0, 1)], "integrality": [True, False]}, "integrality has shape"),
        ({"bounds": [(0, 1, 2)]}, "must be a pair"),
    ],
)
def test_mistakes_are_named(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        make_space(**arguments)
