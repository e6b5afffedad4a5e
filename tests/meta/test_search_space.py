import dataclasses

import jax
import numpy as np
import pytest

from lga.core.population import Children
from lga.core.tree_io import shapes
from lga.meta.config import MetaConfig
from lga.meta.run_directory import BEST
from lga.meta.search_space import search_space
from lga.meta.train import train
from lga.operators.designed import PARTS, compact_steps, strategy_numbers
from lga.operators.fold import fold, theta_layout
from lga.operators.shape import Memory, matrix
from lga.operators.theta import config_of
from lga.weights import load_theta, save_theta
from meta.tiny import TINY

EXTENDED = ("select", "rate", "sample", "blend", "jitter")


@pytest.mark.parametrize(
    ("space", "learned", "size"),
    [
        ("weights", ("select", "rate"), 1377),
        ("folded", ("select", "rate"), 148),
        ("folded", EXTENDED, 269),
        ("compact", (*EXTENDED, "shape"), 55),
    ],
)
def test_a_search_space_has_a_size_and_gives_weights_of_the_configured_layout(space, learned, size):
    config = MetaConfig(search_space=space, learned=learned)
    found = search_space(config)
    assert found.start.size == size
    theta = found.theta(jax.numpy.arange(float(size)))
    assert shapes(theta) == shapes(theta_layout(config.theta_config))
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(theta))


@pytest.mark.parametrize("space", ["folded", "compact"])
@pytest.mark.parametrize("learned", [("select", "rate", "sample", "cross"), (*EXTENDED, "shape")])
def test_what_searches_take_is_what_the_weights_fold_into(space, learned):
    config = MetaConfig(search_space=space, learned=learned)
    found = search_space(config)
    vector = jax.numpy.asarray(np.random.default_rng(0).normal(size=found.start.size), np.float32)
    inside, outside = found.operators(vector), fold(found.theta(vector))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5), outside, inside)


def test_training_may_start_from_given_weights(tmp_path):
    config = MetaConfig(search_space="folded", start="lga-paper")
    space = search_space(config)
    save_theta(tmp_path / "start.safetensors", space.theta(space.start), {})
    by_file = search_space(dataclasses.replace(config, start=str(tmp_path / "start.safetensors"))).start
    assert np.any(space.start)
    np.testing.assert_allclose(by_file, space.start, rtol=1e-5, atol=1e-5)


def test_a_start_with_other_operators_is_refused():
    with pytest.raises(ValueError, match="start is 'lga-1', which holds .*'blend'.*, but the run is one of"):
        search_space(MetaConfig(start="lga-1"))


def test_a_compact_run_starts_as_an_evolution_strategy_and_moves_nothing_else():
    config = MetaConfig(search_space="compact", start="strategy", learned=(*EXTENDED, "shape"))
    space = search_space(config)
    designed = strategy_numbers(config.theta_config)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-6), space.operators(space.start), designed)
    moved = space.operators(space.start + 1.0)
    changed = jax.tree.map(
        lambda a, b, steps: np.array_equal(a != b, steps != 0), moved, designed, compact_steps(config.theta_config)
    )
    assert all(jax.tree.leaves(changed))


@pytest.mark.parametrize("space", ["folded", "compact"])
def test_fixed_operators_stay_as_the_start_has_them(space):
    config = MetaConfig(search_space=space, start="strategy", learned=(*EXTENDED, "shape"), fixed=EXTENDED)
    found = search_space(config)
    moved, designed = found.operators(found.start + 1.0), strategy_numbers(config.theta_config)
    for name in EXTENDED:
        jax.tree.map(np.testing.assert_array_equal, getattr(moved, name), getattr(designed, name))
    assert all(jax.tree.leaves(jax.tree.map(lambda a, b: bool((a != b).all()), moved.shape, designed.shape)))


@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_the_shape_that_is_left_out_stays_out(part):
    config = MetaConfig(search_space="compact", start="strategy", learned=(*EXTENDED, "shape"), without=(part,))
    found = search_space(config)
    shape = found.operators(found.start + 1.0).shape
    for field, value in PARTS[part].items():
        np.testing.assert_array_equal(getattr(shape, field), [value, 0.0])
    assert found.start.size == 55 - 2 * len(PARTS[part])


def test_a_path_that_is_left_out_has_no_effect():
    config = MetaConfig(search_space="compact", start="strategy", learned=(*EXTENDED, "shape"), without=("path",))
    numbers = search_space(config).operators(search_space(config).start)
    rng = np.random.default_rng(0)
    noise, path = (
        jax.numpy.asarray(rng.normal(size=(6, 4)), "float32"),
        jax.numpy.asarray(rng.normal(size=4), "float32"),
    )
    children = Children(noise, jax.numpy.ones(6), jax.numpy.zeros(6, "int32"), noise)
    told = [
        matrix(numbers.shape).update(Memory(scale * path, jax.numpy.eye(4)), children, jax.numpy.arange(6.0))
        for scale in (0.0, 9.0)
    ]
    np.testing.assert_allclose(told[0][0].stretch, told[1][0].stretch, rtol=1e-5)
    np.testing.assert_allclose(told[0][1], told[1][1], rtol=1e-5)


@pytest.mark.usefixtures("ranks_promoted")
def test_a_run_in_the_folded_space_leaves_weights_like_any_other(tmp_path):
    config = dataclasses.replace(TINY, search_space="folded", meta_generations=2, validate_every=1)
    train(config, tmp_path)
    theta, provenance = load_theta(tmp_path / BEST)
    assert config_of(theta) == config.theta_config
    assert provenance["run"]["search_space"] == "folded"
