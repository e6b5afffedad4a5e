"""Validation on tasks that look like tuning, drawn with a seed that no training uses."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from lga.algorithms.presets import learned_ga
from lga.meta.config import MetaConfig, Scale
from lga.meta.families import tuning_family
from lga.meta.objective import JUDGES, Trial, searched
from lga.operators.theta import Theta


@dataclass(frozen=True)
class TuningValidation:
    scales: tuple[Scale, ...]
    num_tasks: int = 48
    sigma0: float = 1.0
    seed: int = 20_233


def tuning_validator(protocol: TuningValidation, config: MetaConfig) -> Callable[[Theta], dict[str, Any]]:
    """The function from weights to their score: the mean of the best so far over all evaluations (less is better)."""
    family, judge = tuning_family(config), JUDGES["area"]

    def areas_at(theta: Theta, position: int, scale: Scale):
        key_tasks, key_luck = jax.random.split(jax.random.fold_in(jax.random.key(protocol.seed), position))
        dims = (scale.num_dims, scale.num_dims)
        algorithm = learned_ga(theta, scale.num_children, config.elite_ratio, config.balanced)

        def area(keys):
            task = family.draw(keys[0], dims)
            trial = Trial(task, jnp.asarray(protocol.sigma0), jax.random.key_data(keys[1]))
            return searched(family, trial, algorithm, judge, scale.num_generations)

        keys = (jax.random.split(key, protocol.num_tasks) for key in (key_tasks, key_luck))
        return jax.lax.map(area, tuple(keys))

    compiled = jax.jit(lambda theta: jnp.stack([areas_at(theta, *place) for place in enumerate(protocol.scales)]))

    def validate(theta: Theta) -> dict[str, Any]:
        areas = np.asarray(compiled(theta))
        per_scale = {str(scale): float(own.mean()) for scale, own in zip(protocol.scales, areas, strict=True)}
        return {"score": float(areas.mean()), "median": float(np.median(areas)), "per_scale": per_scale}

    return validate
