import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from lga.core.tree_io import shapes
from lga.operators.fold import bilinear_forms, fold_readout, fold_selection, folded_layout, theta_layout, unfold
from lga.operators.theta import ThetaConfig, config_of

PAPER = ThetaConfig(("select", "rate"))
ALL = ThetaConfig(("select", "rate", "sample", "cross"), key_dim=18, num_heads=3)
EXTENDED = ThetaConfig(("select", "rate", "sample", "blend", "jitter"))


def drawn(config):
    flat, unravel = ravel_pytree(folded_layout(config))
    return unravel(jax.random.normal(jax.random.key(3), flat.shape))


@pytest.mark.parametrize("config", [PAPER, ALL, EXTENDED], ids=str)
def test_unfolded_weights_have_the_layout_of_the_configuration(config):
    theta = unfold(drawn(config), config.key_dim)
    assert config_of(theta) == config
    assert shapes(theta) == shapes(theta_layout(config))


@pytest.mark.parametrize("config", [PAPER, ALL], ids=str)
def test_unfolded_weights_fold_into_what_they_came_from(config):
    folded = drawn(config)
    theta = unfold(folded, config.key_dim)
    for name in config.learned:
        fold = fold_selection if name == "select" else fold_readout
        again = fold(getattr(theta, name))
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5), again, getattr(folded, name))


def test_extensions_unfold_into_the_same_forms_and_gates():
    folded = drawn(EXTENDED)
    theta = unfold(folded, EXTENDED.key_dim)
    np.testing.assert_allclose(bilinear_forms(theta.blend.query, theta.blend.key), folded.blend.attend, atol=1e-5)
    np.testing.assert_array_equal(theta.blend.gate.kernel, folded.blend.gate.kernel)
    np.testing.assert_array_equal(theta.jitter.log_spread, folded.jitter.log_spread)


def test_the_papers_operators_have_148_numbers():
    assert ravel_pytree(folded_layout(PAPER))[0].size == 148


def test_heads_too_narrow_for_a_form_are_refused():
    narrow = ThetaConfig(("select", "rate"), key_dim=8, num_heads=2)
    with pytest.raises(ValueError, match="key_dim is 8, but must be at least 12"):
        unfold(jax.tree.map(jnp.asarray, folded_layout(narrow)), narrow.key_dim)
