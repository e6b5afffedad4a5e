"""Networks from flat genomes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.signal import correlate2d

from lga.tasks.network_task import TaskSize
from lga.tasks.networks import Convolution, cnn, mlp
from lga.tasks.vision import image_network


def random_genome(network, seed=0):
    return jnp.asarray(np.random.default_rng(seed).normal(size=network.num_weights), jnp.float32)


@pytest.mark.parametrize(("second_filter", "num_weights"), [(5, 11_274), (3, 9_226)])
def test_the_image_network_has_the_weights_of_the_papers_text_or_table(second_filter, num_weights):
    assert image_network(TaskSize(1, 1, second_filter=second_filter)).num_weights == num_weights


def test_an_mlp_is_its_layers_one_after_the_other():
    network = mlp((3, 4, 2), final=jnp.tanh)
    genome = random_genome(network)
    assert network.num_weights == 3 * 4 + 4 + 4 * 2 + 2
    first, bias, second, last = np.split(np.asarray(genome), [12, 16, 24])
    inputs = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)
    hidden = np.tanh(inputs @ first.reshape(3, 4) + bias)
    np.testing.assert_allclose(
        network.apply(genome, jnp.asarray(inputs)), np.tanh(hidden @ second.reshape(4, 2) + last), rtol=1e-5, atol=1e-6
    )


def test_a_cnn_is_filters_relu_pooling_and_readout():
    network = cnn((6, 6, 2), (Convolution(3, 3, pool=True),), (), 4)
    genome = random_genome(network)
    kernel, bias, readout, last = np.split(np.asarray(genome), np.cumsum([3 * 3 * 2 * 3, 3, 27 * 4]))
    kernel = kernel.reshape(3, 3, 2, 3)
    image = np.random.default_rng(1).normal(size=(6, 6, 2)).astype(np.float32)
    filtered = np.stack(
        [sum(correlate2d(image[..., c], kernel[..., c, f], mode="same") for c in range(2)) for f in range(3)], axis=-1
    )
    values = np.maximum(filtered + bias, 0.0)
    pooled = values.reshape(3, 2, 3, 2, 3).max(axis=(1, 3))
    expected = pooled.reshape(-1) @ readout.reshape(27, 4) + last
    np.testing.assert_allclose(network.apply(genome, jnp.asarray(image)[None])[0], expected, rtol=1e-4, atol=1e-4)


def test_a_batch_of_images_is_each_of_them_alone():
    network = cnn((8, 8, 1), (Convolution(4, 3), Convolution(2, 5, pool=True)), (6,), 3)
    images = jax.random.normal(jax.random.key(0), (2, 5, 8, 8, 1))
    genome = random_genome(network)
    alone = jnp.stack([jnp.stack([network.apply(genome, image) for image in row]) for row in images])
    np.testing.assert_allclose(network.apply(genome, images), alone, rtol=1e-4, atol=1e-4)


def test_a_genome_of_the_wrong_length_is_refused():
    network = mlp((3, 2))
    with pytest.raises(ValueError, match=r"genome has shape \(9,\), but this network has 8 weights"):
        network.apply(jnp.zeros(9), jnp.zeros(3))


def test_a_network_has_inputs_and_outputs():
    with pytest.raises(ValueError, match="must name at least the inputs and the outputs"):
        mlp((3,))
