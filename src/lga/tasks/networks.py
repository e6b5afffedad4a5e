"""Small neural networks as pure functions of a flat genome: no framework, no hidden state."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import prod
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from lga import native
from lga.core.checks import require

Activation = Callable[[Array], Array]


class Network(NamedTuple):
    """`apply(genome [num_weights], inputs [*batch, *shape]) -> outputs [*batch, outputs]`."""

    num_weights: int
    apply: Callable[[Float[Array, " d"], Float[Array, "..."]], Float[Array, "..."]]


class Convolution(NamedTuple):
    """One layer: square filters of odd width with the border padded by zeros, 2 x 2 max pooling if wanted, ReLU."""

    num_filters: int
    width: int
    pool: bool = False


def identity(values: Array) -> Array:
    return values


def mlp(sizes: Sequence[int], hidden: Activation = jnp.tanh, final: Activation = identity) -> Network:
    """Dense layers of the given sizes, from inputs to outputs. Two sizes are a linear readout."""
    require(len(sizes) >= 2, f"sizes is {tuple(sizes)}, but must name at least the inputs and the outputs.")
    shapes = dense_shapes(sizes)

    def apply(genome: Float[Array, " d"], inputs: Float[Array, "..."]) -> Float[Array, "..."]:
        return dense_layers(cut(genome, shapes), inputs, hidden, final)

    return Network(count(shapes), apply)


def cnn(
    image_shape: tuple[int, int, int],
    convolutions: Sequence[Convolution],
    hidden_sizes: Sequence[int],
    num_outputs: int,
) -> Network:
    """Convolutions over an image [height, width, channels], dense layers with ReLU, and a linear readout."""
    height, width, channels = image_shape
    shapes: list[tuple[int, ...]] = []
    for layer in convolutions:
        shapes += [(layer.width, layer.width, channels, layer.num_filters), (layer.num_filters,)]
        channels = layer.num_filters
        if layer.pool:
            height, width = height // 2, width // 2
    shapes += dense_shapes((height * width * channels, *hidden_sizes, num_outputs))

    def apply(genome: Float[Array, " d"], images: Float[Array, "*batch h w c"]) -> Float[Array, "*batch o"]:
        weights = cut(genome, shapes)
        batch = images.shape[:-3]
        values = images.reshape(-1, *image_shape)
        for number, layer in enumerate(convolutions):
            values = jax.nn.relu(convolve(values, *weights[2 * number : 2 * number + 2], pooled=layer.pool))
        outputs = dense_layers(
            weights[2 * len(convolutions) :], values.reshape(values.shape[0], -1), jax.nn.relu, identity, matrix_layer
        )
        return outputs.reshape(*batch, num_outputs)

    return Network(count(shapes), apply)


@native.with_kernel(native.convolve)
def convolve(
    images: Float[Array, "b h w c"], kernel: Float[Array, "k k c f"], bias: Float[Array, " f"], *, pooled: bool
) -> Float[Array, "b h2 w2 f"]:
    filtered = jax.lax.conv_general_dilated(
        images, kernel, window_strides=(1, 1), padding="SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    filtered += jnp.broadcast_to(bias, filtered.shape)
    return pool(filtered) if pooled else filtered


def pool(images: Float[Array, "b h w c"]) -> Float[Array, "b h2 w2 c"]:
    """The largest of every 2 x 2 pixels; an odd last row or column is dropped."""
    batch, height, width, channels = images.shape
    even = images[:, : height // 2 * 2, : width // 2 * 2]
    return even.reshape(batch, height // 2, 2, width // 2, 2, channels).max(axis=(2, 4))


def dense_layer(
    values: Float[Array, "*batch i"], kernel: Float[Array, "i o"], bias: Float[Array, " o"]
) -> Float[Array, "*batch o"]:
    product = values @ kernel
    return product + jnp.broadcast_to(bias, product.shape)


def matrix_layer(values: Float[Array, "b i"], kernel: Float[Array, "i o"], bias: Float[Array, " o"]) -> Array:
    """The same by filters of one pixel, with the batch as a row of pixels: for layers that a kernel is worth it for."""
    return convolve(values[None, None], kernel[None, None], bias, pooled=False)[0, 0]


def dense_layers(
    weights: Sequence[Array],
    values: Float[Array, "..."],
    hidden: Activation,
    final: Activation,
    layer: Callable[..., Array] = dense_layer,
) -> Float[Array, "..."]:
    last = len(weights) - 2
    for number in range(0, len(weights), 2):
        values = layer(values, *weights[number : number + 2])
        values = final(values) if number == last else hidden(values)
    return values


def dense_shapes(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    return [shape for inputs, outputs in pairwise(sizes) for shape in ((inputs, outputs), (outputs,))]


def count(shapes: Sequence[tuple[int, ...]]) -> int:
    return sum(map(prod, shapes))


def cut(genome: Float[Array, " d"], shapes: Sequence[tuple[int, ...]]) -> list[Array]:
    """The arrays of a network, in order, from the vector that holds them end to end."""
    require(
        genome.shape == (count(shapes),),
        f"genome has shape {genome.shape}, but this network has {count(shapes)} weights.",
    )
    pieces, start = [], 0
    for shape in shapes:
        pieces.append(genome[start : start + prod(shape)].reshape(shape))
        start += prod(shape)
    return pieces
