"""COCO's instance generator: its pseudo-random numbers, rotations, optima and offsets, in NumPy float64."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

MODULUS = 2147483647


def _next_seed(seed: int) -> int:
    """One step of the minimal standard generator, by Schrage's factorisation."""
    high, low = divmod(seed, 127773)
    following = 16807 * low - 2836 * high
    return following + MODULUS if following < 0 else following


def uniform_numbers(count: int, seed: int) -> Float[ndarray, "count"]:
    """Numbers in (0, 1) of the minimal standard generator behind a shuffling table of 32 entries."""
    state = max(abs(seed), 1)
    table = [0] * 32
    for i in reversed(range(40)):
        state = _next_seed(state)
        if i < 32:
            table[i] = state
    current = table[0]
    numbers = np.empty(count)
    for i in range(count):
        state = _next_seed(state)
        slot = current // 67108865
        current, table[slot] = table[slot], state
        numbers[i] = current / MODULUS
    return np.where(numbers == 0, 1e-99, numbers)


def normal_numbers(count: int, seed: int) -> Float[ndarray, "count"]:
    """Box-Muller: the first half of the uniform numbers gives radii, the second half angles."""
    radii, angles = uniform_numbers(2 * count, seed).reshape(2, count)
    numbers = np.sqrt(-2 * np.log(radii)) * np.cos(2 * np.pi * angles)
    return np.where(numbers == 0, 1e-99, numbers)


def rotation(seed: int, num_dims: int) -> Float[ndarray, "d d"]:
    """Modified Gram-Schmidt on the columns of a matrix of normal numbers that is filled column by column."""
    columns = normal_numbers(num_dims * num_dims, seed).reshape(num_dims, num_dims)
    for i in range(num_dims):
        for j in range(i):
            columns[i] -= (columns[i] @ columns[j]) * columns[j]
        columns[i] /= np.sqrt(columns[i] @ columns[i])
    return columns.T


def box_optimum(seed: int, num_dims: int) -> Float[ndarray, "d"]:
    """An optimum in [-4, 4]^D on a grid of 0.0008; no coordinate is exactly zero."""
    x_opt = 8 * np.floor(1e4 * uniform_numbers(num_dims, seed)) / 1e4 - 4
    return np.where(x_opt == 0, -1e-5, x_opt)


def optimal_value(seed: int) -> float:
    """A ratio of two normal numbers times 100, rounded to two decimals and clipped to [-1000, 1000]."""
    ratio = normal_numbers(1, seed)[0] / normal_numbers(1, seed + 1)[0]
    return float(np.clip(np.floor(1e4 * ratio + 0.5) / 100, -1000, 1000))
