"""Image classification: a genome is a convolutional network, its fitness the cross-entropy on a batch."""

from collections.abc import Sequence
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key, UInt8

from lga import native
from lga.core.random import uniform_index
from lga.tasks.data import Images, halved, load_digits, load_images
from lga.tasks.network_task import Mistakes, NeuroEntry, NeuroTask, TaskSize, map_members, members_at_once
from lga.tasks.networks import Convolution, Network, cnn

NUM_CLASSES = 10
NO_CLASS = -1
TEST_BATCH = 500


def classification(images: Images, network: Network, num_channels: int, size: TaskSize) -> NeuroTask:
    """`num_channels` is the number of values that the network keeps for a pixel, to tell the memory that it takes."""
    train, train_labels = jnp.asarray(as_bytes(images.train)), jnp.asarray(images.train_labels)
    num_tests = min(size.num_tests, len(images.test_labels))
    test_images = in_batches(as_bytes(images.test[:num_tests]), 0)
    test_labels = in_batches(images.test_labels[:num_tests], NO_CLASS)
    pixels = int(np.prod(images.train.shape[1:]))
    bytes_per_member = 4 * max(size.num_evaluations, test_images.shape[1]) * pixels * num_channels
    # A vmap over filters is a grouped convolution, for which only the native kernel has a fast path on CPUs.
    at_once = members_at_once(bytes_per_member, size.memory_gib, take_turns=native.status().kernel != "native")

    def evaluate(
        key: Key[Array, ""], task_state: tuple[()], genomes: Float[Array, "n d"]
    ) -> tuple[Float[Array, " n"], tuple[()]]:
        batch = uniform_index(key, size.num_evaluations, train.shape[0])
        inputs, labels = as_floats(train[batch]), train_labels[batch]
        losses = map_members(
            lambda genome: cross_entropy(network.apply(genome, inputs), labels), genomes, network.num_weights, at_once
        )
        return losses, task_state

    def test(key: Key[Array, ""], task_state: tuple[()], genomes: Float[Array, "n d"]) -> Float[Array, " n"]:
        def accuracy(genome: Float[Array, " d"]) -> Float[Array, ""]:
            def num_right(batch: tuple[UInt8[Array, "b h w 1"], Int[Array, " b"]]) -> Int[Array, ""]:
                images, labels = batch
                return jnp.sum(jnp.argmax(network.apply(genome, as_floats(images)), axis=1) == labels)

            return jnp.sum(jax.lax.map(num_right, (test_images, test_labels))) / num_tests

        return map_members(accuracy, genomes, network.num_weights, at_once)

    def show(key: Key[Array, ""], task_state: tuple[()], genome: Float[Array, " d"]) -> Mistakes:
        shown = as_floats(test_images[0])
        predicted = jnp.argmax(network.apply(genome, shown), axis=1)
        wrong = jnp.flatnonzero((predicted != test_labels[0]) & (test_labels[0] != NO_CLASS))
        return Mistakes(shown[wrong], test_labels[0][wrong], predicted[wrong])

    return NeuroTask(network.num_weights, tuple, evaluate, test, "test accuracy", images.note, show)


def in_batches(rows: np.ndarray, filler: int) -> Array:
    """Of at most TEST_BATCH rows; what is missing in the last one is filled up."""
    size = min(TEST_BATCH, len(rows))
    padding = [(0, -len(rows) % size), *((0, 0) for _ in rows.shape[1:])]
    return jnp.asarray(np.pad(rows, padding, constant_values=filler).reshape(-1, size, *rows.shape[1:]))


def cross_entropy(logits: Float[Array, "b c"], labels: Int[Array, " b"]) -> Float[Array, ""]:
    likelihoods = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1)
    return -jnp.mean(likelihoods)


def as_bytes(pixels: Float[np.ndarray, "..."]) -> UInt8[np.ndarray, "..."]:
    """A quarter of the memory; every picture here was made of bytes."""
    return np.round(pixels * 255.0).astype(np.uint8)


def as_floats(pixels: UInt8[Array, "..."]) -> Float[Array, "..."]:
    return pixels.astype(jnp.float32) / 255.0


def image_network(size: TaskSize) -> Network:
    """The paper's network. Its text counts 11,274 weights, which both convolutions of 5 x 5 have."""
    return cnn(
        (28, 28, 1), (Convolution(8, 5, pool=True), Convolution(16, size.second_filter, pool=True)), (), NUM_CLASSES
    )


def small_network(side: int, num_filters: Sequence[int]) -> Network:
    return cnn((side, side, 1), tuple(Convolution(n, 3, pool=True) for n in num_filters), (), NUM_CLASSES)


def full_size(name: str, size: TaskSize) -> NeuroTask:
    return classification(cached_images(name), image_network(size), 32, size)


def half_size(size: TaskSize) -> NeuroTask:
    return classification(halved(cached_images("mnist")), small_network(14, (8, 16)), 32, size)


def digits(size: TaskSize) -> NeuroTask:
    return classification(load_digits(), small_network(8, (8,)), 16, size)


@cache
def cached_images(name: str) -> Images:
    return load_images(name)


VISION_TASKS: dict[str, NeuroEntry] = {
    "mnist": NeuroEntry("images", partial(full_size, "mnist")),
    "fashion-mnist": NeuroEntry("images", partial(full_size, "fashion-mnist")),
    "k-mnist": NeuroEntry("images", partial(full_size, "k-mnist")),
    "mnist-14": NeuroEntry("small images", half_size),
    "digits": NeuroEntry("small images", digits),
}
