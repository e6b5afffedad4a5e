import dataclasses

import jax
import numpy as np
import pytest

from lga.meta.config import MetaConfig
from lga.meta.run_directory import BEST
from lga.meta.search_space import search_space
from lga.meta.train import train
from lga.operators.theta import config_of, load_theta, shapes, theta_layout
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


@pytest.mark.usefixtures("ranks_promoted")
def test_a_run_in_the_folded_space_leaves_weights_like_any_other(tmp_path):
    config = dataclasses.replace(TINY, search_space="folded", meta_generations=2, validate_every=1)
    train(config, tmp_path)
    theta, provenance = load_theta(tmp_path / BEST)
    assert config_of(theta) == config.theta_config
    assert provenance["run"]["search_space"] == "folded"
