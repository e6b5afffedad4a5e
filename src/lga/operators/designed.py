"""Numbers of learned operators that were set by hand: where training may start from, and which of them it may move."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp

from lga.operators.fold import FoldedTheta, folded_layout
from lga.operators.theta import JitterTheta, ThetaConfig

SHAPES = ("shape", "separable")


def strategy_numbers(config: ThetaConfig) -> FoldedTheta:
    """Operators that make the algorithm an evolution strategy with matrix adaptation.

    Children replace parents almost always, all as often; every parent moves to the weighted mean of all of them, the
    better ones heavier; rates are nearly equal, and follow the path.
    """
    zeros = folded_layout(config)
    select, blend = zeros.select, zeros.blend
    if select is None or blend is None or zeros.jitter is None:
        raise ValueError(f"learned is {config.learned}, but an evolution strategy needs select, blend and jitter.")
    rank, constant = 1, -1
    score = select.score.at[:, constant, constant].set(4.0)
    attend = blend.attend.at[:, constant, rank].set(-6.0)
    gate = replace(blend.gate, bias=jnp.full_like(blend.gate.bias, 9.0))
    # Mirrored noise tells the length of the path well, so that it may be followed faster than usual.
    quick = {
        name: replace(numbers, step=jnp.array([0.5, 0.0]))
        for name in SHAPES
        if (numbers := getattr(zeros, name)) is not None
    }
    return replace(
        zeros,
        select=replace(select, score=score),
        blend=replace(blend, attend=attend, gate=gate),
        jitter=JitterTheta(jnp.full(1, -2.0)),
        **quick,
    )


# Numbers of the shape that switch a part of it off: all of these are logarithms of what a term is multiplied by.
OFF = -30.0
PARTS: dict[str, dict[str, float]] = {
    "path": {"one": OFF, "step": OFF, "drift": 0.0},
    "against": {"against": OFF},
    "drift": {"drift": 0.0},
}
"""Parts of a shape that a search can do without, and the numbers that say so."""


def without_parts(numbers: FoldedTheta, steps: FoldedTheta, parts: Sequence[str]) -> tuple[FoldedTheta, FoldedTheta]:
    """The numbers with some parts of the shape switched off, and steps of zero for what would have no effect."""
    for part in parts:
        for name in SHAPES:
            shape, moves = getattr(numbers, name), getattr(steps, name)
            if shape is None:
                continue
            off = {field: jnp.array([value, 0.0]) for field, value in PARTS[part].items()}
            numbers = replace(numbers, **{name: replace(shape, **off)})
            steps = replace(steps, **{name: replace(moves, **{field: jnp.zeros(2) for field in off})})
    return numbers, steps


def fixed_operators(steps: FoldedTheta, names: Sequence[str]) -> FoldedTheta:
    """The steps without those of the named operators."""
    return replace(steps, **{name: jax.tree.map(jnp.zeros_like, getattr(steps, name)) for name in names})


def compact_steps(config: ThetaConfig) -> FoldedTheta:
    """How large a step of each number is, relative to the meta-optimiser's; zero where it stays as it is.

    What is moved sees ranks, ages, rates and constants only: a search then does not change when fitness is replaced by
    any increasing function of it. Of redundant heads one is moved.
    """
    steps = jax.tree.map(jnp.zeros_like, folded_layout(config))
    rank, constant = jnp.array([1]), -1
    of_two = jnp.array([1, -1])
    if steps.select is not None:
        attend = steps.select.attend.at[0, of_two, rank].set(1.0)
        score = steps.select.score.at[0, 1, of_two].set(1.0).at[0, constant, jnp.array([0, 1, -1])].set(1.0)
        steps = replace(steps, select=replace(steps.select, attend=attend, score=score))
    if steps.rate is not None:
        # Features: flag, rank, z-score, z-score of the rate, the rate's place in its range, 1.
        attend = steps.rate.attend.at[0, jnp.array([[1], [3], [-1]]), jnp.array([[1, 3]])].set(1.0)
        value = steps.rate.value.at[0, jnp.array([1, 3, 4, -1])].set(1.0)
        steps = replace(steps, rate=replace(steps.rate, attend=attend, value=value))
    rank_and_age = jnp.array([[1, 3]])
    if steps.sample is not None:
        attend = steps.sample.attend.at[0, of_two[:, None], rank_and_age].set(1.0)
        value = steps.sample.value.at[0, rank_and_age[0]].set(1.0)
        steps = replace(steps, sample=replace(steps.sample, attend=attend, value=value))
    if steps.blend is not None:
        attend = steps.blend.attend.at[:, of_two[:, None], rank_and_age].set(1.0)
        kernel = steps.blend.gate.kernel.at[rank_and_age[0]].set(1.0)
        gate = replace(steps.blend.gate, kernel=kernel, bias=jnp.ones_like(steps.blend.gate.bias))
        steps = replace(steps, blend=replace(steps.blend, attend=attend, gate=gate))
    if steps.jitter is not None:
        steps = replace(steps, jitter=JitterTheta(jnp.ones(1)))
    for name, size in {**dict.fromkeys(SHAPES, 2.0), "scatter": 1.0, "screen": 1.0, "regress": 1.0}.items():
        numbers = getattr(steps, name)
        if numbers is not None:
            moves = jax.tree.map(partial(jnp.full_like, fill_value=size), numbers)
            steps = replace(steps, **{name: moves})
    return steps
