import dataclasses

import jax
import numpy as np
import pytest

from lga.core.tree_io import shapes
from lga.meta.config import MetaConfig
from lga.meta.run_directory import BEST
from lga.meta.search_space import search_space, starting_point
from lga.meta.train import train
from lga.operators.fold import theta_layout
from lga.operators.theta import config_of
from lga.weights import load_theta, save_theta
from meta.tiny import TINY

EXTENDED = ("select", "rate", "sample", "blend", "jitter")


@pytest.mark.parametrize(
    ("space", "learned", "size"),
    [("weights", ("select", "rate"), 1377), ("folded", ("select", "rate"), 148), ("folded", EXTENDED, 269)],
)
def test_a_search_space_has_a_size_and_gives_weights_of_the_configured_layout(space, learned, size):
    config = MetaConfig(search_space=space, learned=learned)
    found = search_space(config)
    assert found.size == size
    theta = found.theta(jax.numpy.arange(float(size)))
    assert shapes(theta) == shapes(theta_layout(config.theta_config))
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(theta))


@pytest.mark.parametrize("space", ["weights", "folded"])
@pytest.mark.parametrize("learned", [("select", "rate", "sample", "cross"), EXTENDED])
def test_weights_are_found_again_from_their_vector(space, learned):
    found = search_space(MetaConfig(search_space=space, learned=learned))
    vector = np.random.default_rng(0).normal(size=found.size).astype(np.float32)
    np.testing.assert_allclose(found.flat(found.theta(jax.numpy.asarray(vector))), vector, rtol=1e-5, atol=1e-5)


def test_training_may_start_from_given_weights(tmp_path):
    config = MetaConfig(search_space="folded", start="lga-paper")
    space = search_space(config)
    by_name = starting_point(config, space)
    save_theta(tmp_path / "start.safetensors", space.theta(by_name), {})
    by_file = starting_point(dataclasses.replace(config, start=str(tmp_path / "start.safetensors")), space)
    assert np.any(by_name)
    np.testing.assert_allclose(by_file, by_name, rtol=1e-5, atol=1e-5)


def test_a_start_with_other_operators_is_refused():
    config = MetaConfig(start="lga-1")
    with pytest.raises(ValueError, match="start is 'lga-1', which holds .*'blend'.*, but the run is one of"):
        starting_point(config, search_space(config))


@pytest.mark.usefixtures("ranks_promoted")
def test_a_run_in_the_folded_space_leaves_weights_like_any_other(tmp_path):
    config = dataclasses.replace(TINY, search_space="folded", meta_generations=2, validate_every=1)
    train(config, tmp_path)
    theta, provenance = load_theta(tmp_path / BEST)
    assert config_of(theta) == config.theta_config
    assert provenance["run"]["search_space"] == "folded"
