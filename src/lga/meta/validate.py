"""Validation: training functions in instances, dimensions and population sizes that no training and no test uses."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from lga.algorithms.presets import learned_ga
from lga.core.interfaces import Algorithm
from lga.operators.theta import Theta
from lga.tasks import bbob
from lga.trials import log_gaps, search_tasks


@dataclass(frozen=True)
class ValidationProtocol:
    """COCO instances far from those that any benchmark reports on; larger dimension and population than in training."""

    functions: tuple[str, ...]
    instances: tuple[int, ...] = (101, 102, 103, 104)
    dims: tuple[int, ...] = (5, 20)
    num_children: int = 32
    num_generations: int = 50
    sigma0: float = 0.25
    num_seeds: int = 4
    seed: int = 20_231


def validator(protocol: ValidationProtocol, elite_ratio: float = 1.0) -> Callable[[Theta], dict[str, Any]]:
    """The function from weights to their score: mean log10 gap (less is better), with its parts."""
    score = algorithm_scorer(protocol)
    compiled = jax.jit(lambda theta: score(learned_ga(theta, protocol.num_children, elite_ratio), protocol.sigma0))
    return lambda theta: summary(protocol, np.asarray(compiled(theta)))


def algorithm_scorer(protocol: ValidationProtocol) -> Callable[..., Float[Array, "dims functions runs"]]:
    """The function from an algorithm and its initial rate to log10 gaps on the protocol's tasks."""
    tasks = [bbob.instances(protocol.functions, protocol.instances, num_dims) for num_dims in protocol.dims]

    def score(algorithm: Algorithm, sigma0: Float[Array, ""] | float) -> Float[Array, "dims functions runs"]:
        traces = [
            search_tasks(
                jax.random.key(protocol.seed),
                algorithm,
                stacked,
                sigma0,
                num_seeds=protocol.num_seeds,
                num_generations=protocol.num_generations,
            )
            for stacked in tasks
        ]
        return jnp.stack([log_gaps(trace).reshape(len(protocol.functions), -1) for trace in traces])

    return score


def summary(protocol: ValidationProtocol, gaps: np.ndarray) -> dict[str, Any]:
    return {
        "score": float(gaps.mean()),
        "median": float(np.median(gaps)),
        "per_dims": {str(d): float(part.mean()) for d, part in zip(protocol.dims, gaps, strict=True)},
        "per_function": dict(zip(protocol.functions, gaps.mean(axis=(0, 2)).tolist(), strict=True)),
    }


def protocol_description(protocol: ValidationProtocol) -> dict[str, Any]:
    return asdict(protocol)
