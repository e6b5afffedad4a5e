import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.flatten_util import ravel_pytree

from lga.core.tree_io import shapes
from lga.operators.fold import fold, folded_layout, theta_layout, unfold
from lga.operators.theta import LEARNABLE, ThetaConfig, config_of

PAPER = ThetaConfig(("select", "rate"))
ALL = ThetaConfig(("select", "rate", "sample", "cross"), key_dim=18, num_heads=3)
EXTENDED = ThetaConfig(("select", "rate", "sample", "blend", "jitter"))


def drawn(config, seed=3):
    flat, unravel = ravel_pytree(folded_layout(config))
    return unravel(jnp.asarray(np.random.default_rng(seed).normal(size=flat.shape), jnp.float32))


@pytest.mark.parametrize("config", [PAPER, ALL, EXTENDED], ids=str)
def test_unfolded_weights_have_the_layout_of_the_configuration(config):
    theta = unfold(drawn(config), config.key_dim)
    assert config_of(theta) == config
    assert shapes(theta) == shapes(theta_layout(config))


@st.composite
def configurations(draw):
    names = [name for name in LEARNABLE if name not in ("cross", "blend", "jitter", "scatter", "regress")]
    learned = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    learned += [draw(st.sampled_from(["cross", "blend"]))] * draw(st.booleans())
    learned += ["jitter"] * ("rate" in learned and draw(st.booleans()))
    heads = draw(st.integers(1, 3))
    return tuple(learned), heads * draw(st.integers(6, 9)), heads


# Every configuration has shapes of its own to compile for.
@settings(max_examples=4)
@given(configurations(), st.integers(0, 99))
def test_unfolded_weights_fold_into_what_they_came_from(configuration, seed):
    config = ThetaConfig(*configuration)
    folded = drawn(config, seed)
    again = fold(unfold(folded, config.key_dim))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5), again, folded)


def test_the_papers_operators_have_148_numbers():
    assert ravel_pytree(folded_layout(PAPER))[0].size == 148


def test_heads_too_narrow_for_a_form_are_refused():
    narrow = ThetaConfig(("select", "rate"), key_dim=8, num_heads=2)
    with pytest.raises(ValueError, match="key_dim is 8, but must be at least 12"):
        unfold(jax.tree.map(jnp.asarray, folded_layout(narrow)), narrow.key_dim)
