import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lga.core.tree_io import TreeFileError, named_leaves, save_tree
from lga.operators.fold import init_theta, theta_layout
from lga.operators.theta import PAPERS, Theta, ThetaConfig, config_of, ravel_theta
from lga.weights import installed, load_theta, resolve, save_theta
from samples import ALL_LEARNED, random_theta

EXTENDED = ThetaConfig(("select", "rate", "sample", "blend", "jitter"))
CONFIGS = [ThetaConfig(), ALL_LEARNED, ThetaConfig(("rate",), 8, 4), ThetaConfig(("cross", "sample"), 6, 6), EXTENDED]
START = jax.jit(init_theta, static_argnums=(1, 2))
PROVENANCE = {"task": "bbob", "seed": 7, "generations": [1, 2, 3], "note": None}


def equal(first: Theta, second: Theta) -> bool:
    return jax.tree.structure(first) == jax.tree.structure(second) and all(
        a.dtype == b.dtype and np.array_equal(a, b)
        for a, b in zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True)
    )


@pytest.mark.parametrize("config", CONFIGS)
def test_a_vector_of_weights_goes_back_into_the_same_theta(config):
    theta = random_theta(1, config)
    flat, unflatten = ravel_theta(theta)
    assert equal(unflatten(flat), theta)
    assert len(np.unique(flat)) > 0.99 * flat.size


@pytest.mark.parametrize("config", CONFIGS)
def test_saved_weights_and_their_provenance_come_back_exactly(config, tmp_path):
    theta = random_theta(2, config)
    sha = save_theta(tmp_path / "theta.safetensors", theta, PROVENANCE)
    loaded, provenance = load_theta(tmp_path / "theta.safetensors")
    assert equal(loaded, theta)
    assert provenance == PROVENANCE
    assert len(sha) == 64
    assert set(config_of(loaded).learned) == set(config.learned)
    assert (config_of(loaded).key_dim, config_of(loaded).num_heads) == (config.key_dim, config.num_heads)


@pytest.mark.parametrize(("key_dim", "num_heads"), [(16, 2), (16, 16), (1, 1)])
def test_a_start_has_zero_biases_and_kernels_of_the_scale_that_was_asked_for(key_dim, num_heads):
    config = ThetaConfig(("select", "rate"), key_dim, num_heads)
    for name, leaf in named_leaves(START(jax.random.key(3), config, 2.0)).items():
        if name.endswith("bias"):
            np.testing.assert_array_equal(leaf, np.zeros_like(leaf))
        else:
            # The mean of n squared normal numbers is 1 with variance 2 / n.
            assert np.all(leaf != 0), name
            assert abs(np.mean(leaf**2) * leaf.shape[0] / 4 - 1) <= 4 * np.sqrt(2 / leaf.size)


def test_a_start_of_scale_zero_is_all_zero():
    assert not np.any(ravel_theta(START(jax.random.key(3), ThetaConfig(), 0.0))[0])


def test_a_file_of_another_kind_is_refused(tmp_path):
    path = tmp_path / "other.safetensors"
    save_tree(path, {"x": np.zeros(2, np.float32)}, {"kind": "checkpoint"})
    with pytest.raises(TreeFileError, match=r"holds 'checkpoint', not the weights of learned operators\.$"):
        load_theta(path)


def test_tensors_that_do_not_fit_their_configuration_are_refused(tmp_path):
    path = tmp_path / "theta.safetensors"
    config = {"learned": ["rate"], "key_dim": 8, "num_heads": 2}
    tensors = named_leaves(theta_layout(ThetaConfig(("rate",), 16, 2)))
    save_tree(path, tensors, {"kind": "theta", "config": config, "provenance": {}})
    with pytest.raises(TreeFileError, match="does not hold what it should: the leaves are"):
        load_theta(path)


@pytest.mark.parametrize(
    "theta",
    [
        Theta(rate=theta_layout(ThetaConfig(("rate",), 8, 2)).rate, cross=theta_layout(ThetaConfig(("cross",))).cross),
        jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), theta_layout(ThetaConfig(("rate",)))),
    ],
    ids=["two sizes of attention", "a stack of thetas"],
)
def test_what_could_not_be_loaded_again_is_not_saved(theta, tmp_path):
    with pytest.raises(ValueError, match="theta has tensors that do not fit"):
        save_theta(tmp_path / "theta.safetensors", theta, {})


def test_layouts_are_told_by_their_features():
    layout = theta_layout(ALL_LEARNED)
    for name, num_features in zip(PAPERS, (3, 5, 4, 5), strict=True):
        assert getattr(layout, name).attention.query.kernel.shape == (num_features, 2, 8)


def test_installed_weights_load_by_name():
    for name in installed():
        assert np.all(np.isfinite(ravel_theta(resolve(name).theta)[0]))
    with pytest.raises(ValueError, match="weights is 'lga-nowhere', but must be a file or one of: "):
        resolve("lga-nowhere")
