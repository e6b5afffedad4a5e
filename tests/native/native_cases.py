"""Inputs of the kernels, and the JAX code in double precision to judge them by."""

import jax
import jax.numpy as jnp
import numpy as np

from lga.core.population import FAILED
from lga.operators.crossover import blended_parents
from lga.operators.features import fitness_and_age_features, fitness_and_rate_features
from lga.operators.fold import FoldedReadout, FoldedSelection
from lga.operators.mutation_rate import attended_multiplier
from lga.operators.rows import selection_row, with_one
from lga.operators.sampling import sampling_probabilities
from lga.operators.selection import joint_features, selection_weights

# Children, parents, heads.
SHAPES = [(1, 1, 1), (2, 1, 2), (1, 7, 2), (15, 16, 3), (16, 16, 2), (17, 33, 1), (100, 50, 4), (512, 512, 2)]
SHAPES += [(1500, 3, 1)]  # more than are ranked by comparing all pairs
FITNESS = ("random", "constant", "ties", "failures", "all failed", "huge", "tiny range")


def fitness_of(kind: str, rng: np.random.Generator, size: int) -> np.ndarray:
    values = rng.normal(size=size)
    if kind == "constant":
        values[:] = 3.25
    if kind == "ties":
        values = np.round(values)
    if kind == "failures":
        values[rng.uniform(size=size) < 0.3] = FAILED
    if kind == "all failed":
        values[:] = FAILED
    if kind == "huge":
        values = np.sign(values) * 10.0 ** rng.uniform(-30, 38, size=size)
    if kind == "tiny range":
        values = 1e-30 * values
    return values.astype(np.float32)


def selection_case(seed: int, shape: tuple[int, int, int], kind: str = "random", scale: float = 1.0) -> tuple:
    """Parent fitness, child fitness, best fitness, uniform numbers, attend, score."""
    num_children, num_parents, num_heads = shape
    rng = np.random.default_rng(seed)
    parents, children = fitness_of(kind, rng, num_parents), fitness_of(kind, rng, num_children)
    forms = (scale * rng.normal(size=(2, num_heads, 4, 4))).astype(np.float32)
    uniform = rng.integers(0, 2**23, num_parents).astype(np.float32) / np.float32(2**23)
    return parents, children, np.sort(parents)[num_parents // 2], uniform, *forms


def rate_case(seed: int, shape: tuple[int, int, int], kind: str = "random", scale: float = 1.0) -> tuple:
    """Fitness, sigma, best fitness, attend, value."""
    size, _, num_heads = shape
    rng = np.random.default_rng(seed)
    fitness = fitness_of(kind, rng, size)
    sigma = np.full(size, 0.5) if kind == "constant" else np.exp(rng.normal(size=size))
    attend, value = scale * rng.normal(size=(num_heads, 6, 6)), scale * rng.normal(size=(num_heads, 6)) / num_heads
    arrays = (fitness, sigma, np.sort(fitness)[size // 2], attend, value)
    return tuple(np.asarray(array, np.float32) for array in arrays)


def parents_case(rng: np.random.Generator, kind: str, num_parents: int) -> tuple:
    """Fitness, age, best fitness, generation."""
    fitness = fitness_of(kind, rng, num_parents)
    # Some are older than the search, as after a warm start.
    age = rng.integers(0, 40, num_parents).astype(np.int32)
    return fitness, age, np.sort(fitness)[num_parents // 2], np.int32(rng.integers(0, 30))


def sampling_case(seed: int, shape: tuple[int, int, int], kind: str = "random", scale: float = 1.0) -> tuple:
    """As in `parents_case`, then uniform numbers, attend, value."""
    num_children, num_parents, num_heads = shape
    rng = np.random.default_rng(seed)
    uniform = rng.integers(0, 2**23, num_children).astype(np.float32) / np.float32(2**23)
    attend, value = scale * rng.normal(size=(num_heads, 5, 5)), scale * rng.normal(size=(num_heads, 5)) / num_heads
    return *parents_case(rng, kind, num_parents), uniform, attend.astype(np.float32), value.astype(np.float32)


def blend_case(seed: int, shape: tuple[int, int, int], kind: str = "random", num_dims: int = 5) -> tuple:
    """As in `parents_case`, then solutions, sigma, parent index, attend, kernel and bias of the gate."""
    num_children, num_parents, num_heads = shape
    rng = np.random.default_rng(seed)
    solutions, sigma = rng.normal(size=(num_parents, num_dims)), np.exp(rng.normal(size=num_parents))
    numbers = rng.normal(size=(num_heads, 5, 5)), rng.normal(size=(4, num_heads)), rng.normal(size=num_heads)
    parent_index = rng.integers(0, num_parents, num_children).astype(np.int32)
    floats = [np.asarray(array, np.float32) for array in (solutions, sigma, *numbers)]
    return *parents_case(rng, kind, num_parents), *floats[:2], parent_index, *floats[2:]


def exact_parent_boundaries(case: tuple) -> np.ndarray:
    """Where each parent ends on the unit interval, the last one left out, in double precision."""
    fitness, age, best, generation, _, attend, value = doubled(case)
    with jax.enable_x64(True):
        features = fitness_and_age_features(fitness, age, best, generation)
        return np.cumsum(np.asarray(sampling_probabilities(FoldedReadout(attend, value), features)))[:-1]


def exact_blend(case: tuple) -> tuple[np.ndarray, ...]:
    with jax.enable_x64(True):
        return tuple(map(np.asarray, blended_parents.__wrapped__(*doubled(case))))


def exact_boundaries(case: tuple) -> np.ndarray:
    """Where each parent's children end on the unit interval, [E, N], in double precision."""
    parents, children, best, _, attend, score = doubled(case)
    with jax.enable_x64(True):
        parent_features, child_features = joint_features(parents, children, best)
        folded, rows = FoldedSelection(attend, score), with_one(child_features)
        logits = jax.vmap(lambda parent: selection_row(folded, parent, rows))(with_one(parent_features))
        ends = np.cumsum(np.asarray(selection_weights(logits)), axis=1)
    return ends[:, :-1] / ends[:, -1:]


def exact_multiplier(case: tuple) -> np.ndarray:
    with jax.enable_x64(True):
        return np.asarray(attended_multiplier.__wrapped__(*doubled(case)))


def largest_logit(case: tuple) -> float:
    """Of the attention behind the multipliers: its rounding error is a share of this number."""
    fitness, sigma, best, attend, _ = doubled(case)
    with jax.enable_x64(True):
        rows = np.asarray(with_one(fitness_and_rate_features(fitness, sigma, best)))
    return float(np.abs(np.einsum("nf,hfg,mg->hnm", rows, np.asarray(attend), rows)).max())


def doubled(case: tuple) -> tuple:
    with jax.enable_x64(True):
        return tuple(jnp.asarray(array, "f8" if array.dtype == np.float32 else array.dtype) for array in case)


def is_right(chosen: np.ndarray, uniform: np.ndarray, boundaries: np.ndarray, tolerance: float) -> np.ndarray:
    """Whether each choice is the one that its uniform number falls on, give or take the tolerance."""
    padded = np.pad(boundaries, ((0, 0), (1, 1)), constant_values=((0, 0), (-np.inf, np.inf)))
    rows = np.arange(len(chosen))
    return (padded[rows, chosen] <= uniform + tolerance) & (uniform - tolerance <= padded[rows, chosen + 1])
