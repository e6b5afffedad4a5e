"""Validation: training functions in instances, dimensions and population sizes that no training and no test uses."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from lga.algorithms.presets import gaussian_ga, learned_ga
from lga.core.interfaces import Algorithm
from lga.meta.config import MetaConfig, Scale, parse_scale
from lga.operators.theta import Theta
from lga.tasks import bbob
from lga.trials import log_gaps, search_tasks
from lga.weights import DEFAULT_WEIGHTS, resolve

BASELINE_SIGMAS = (0.1, 0.25, 0.5, 1.0)


@dataclass(frozen=True)
class ValidationProtocol:
    """COCO instances far from those that any benchmark reports on, at sizes of search that need not be training's."""

    functions: tuple[str, ...]
    scales: tuple[Scale, ...] = (Scale(5, 32, 50), Scale(20, 32, 50))
    instances: tuple[int, ...] = (101, 102, 103, 104)
    sigma0: float = 0.25
    num_seeds: int = 4
    seed: int = 20_231
    evaluate_start: bool = True


def validation_protocol(config: MetaConfig) -> ValidationProtocol:
    return ValidationProtocol(
        config.validation_functions or config.functions,
        tuple(map(parse_scale, config.validation_scales)),
        sigma0=config.validation_sigma0,
        evaluate_start=config.evaluate_start,
    )


def validator(
    protocol: ValidationProtocol, elite_ratio: float = 1.0, balanced: bool = True
) -> Callable[[Theta], dict[str, Any]]:
    """The function from weights to their score: mean log10 gap (less is better), with its parts."""
    score = algorithm_scorer(protocol)

    def build(theta: Theta) -> Callable[[int], Algorithm]:
        return lambda num_children: learned_ga(theta, num_children, elite_ratio, balanced)

    compiled = jax.jit(lambda theta: score(build(theta), protocol.sigma0))
    return lambda theta: summary(protocol, np.asarray(compiled(theta)))


def algorithm_scorer(protocol: ValidationProtocol) -> Callable[..., Float[Array, "scales functions runs"]]:
    """The function from `build(num_children)` and an initial rate to log10 gaps on the protocol's tasks."""
    tasks = {
        num_dims: bbob.instances(protocol.functions, protocol.instances, num_dims)
        for num_dims in sorted({scale.num_dims for scale in protocol.scales})
    }

    def gaps(build: Callable[[int], Algorithm], sigma0: Float[Array, ""] | float, scale: Scale):
        trace = search_tasks(
            jax.random.key(protocol.seed),
            build(scale.num_children),
            tasks[scale.num_dims],
            sigma0,
            num_seeds=protocol.num_seeds,
            num_generations=scale.num_generations,
            evaluate_start=protocol.evaluate_start,
        )
        return log_gaps(trace).reshape(len(protocol.functions), -1)

    return lambda build, sigma0: jnp.stack([gaps(build, sigma0, scale) for scale in protocol.scales])


def summary(protocol: ValidationProtocol, gaps: np.ndarray) -> dict[str, Any]:
    return {
        "score": float(gaps.mean()),
        "median": float(np.median(gaps)),
        "per_scale": {str(scale): float(part.mean()) for scale, part in zip(protocol.scales, gaps, strict=True)},
        "per_function": dict(zip(protocol.functions, gaps.mean(axis=(0, 2)).tolist(), strict=True)),
    }


def baseline_scores(protocol: ValidationProtocol) -> dict[str, dict[str, float]]:
    """What to hold a run's scores against: by method, mean log10 gap of each function.

    The rate of the hand-designed GA is tuned on the very tasks that it is scored on: it is not put at a disadvantage.
    """
    score = algorithm_scorer(protocol)
    gaussian = jax.jit(lambda sigma0: score(gaussian_ga, sigma0))
    tried = [np.asarray(gaussian(sigma0)) for sigma0 in BASELINE_SIGMAS]
    shipped = resolve(DEFAULT_WEIGHTS)
    ours = jax.jit(lambda theta: score(lambda num_children: learned_ga(theta, num_children), shipped.sigma0))
    gaps = {"Gaussian GA, tuned": min(tried, key=np.mean), shipped.name: np.asarray(ours(shipped.theta))}
    return {name: summary(protocol, own)["per_function"] for name, own in gaps.items()}
