"""Neuroevolution as part of validation: does what was learned on functions carry over to networks? (paper, figure 3)"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from lga.algorithms.presets import learned_ga
from lga.neuroevolution import evolve, scores_on_test
from lga.operators.theta import Theta
from lga.tasks.network_task import NeuroTask, TaskSize
from lga.tasks.registry import neuro_task

VALIDATION_SEED = 20_232
NUM_SEEDS = 2


class NeuroValidation(NamedTuple):
    num_children: int
    num_generations: int
    sigma0: float
    size: TaskSize


VALIDATION_TASKS: dict[str, NeuroValidation] = {
    "pendulum": NeuroValidation(32, 50, 0.5, TaskSize(4, 64, 200)),
    "mnist-14": NeuroValidation(32, 50, 0.05, TaskSize(128, 1000)),
    "digits": NeuroValidation(32, 50, 0.05, TaskSize(128, 1000)),
}


def neuro_validator(names: Sequence[str], elite_ratio: float = 1.0) -> Callable[[Theta], dict[str, float]]:
    """The function from weights to the mean test score of the elite on each task (more is better)."""
    scorers = {name: elite_scorer(VALIDATION_TASKS[name], name, elite_ratio) for name in names}
    return lambda theta: {name: float(score(theta)) for name, score in scorers.items()}


def elite_scorer(settings: NeuroValidation, name: str, elite_ratio: float) -> Callable[[Theta], Float[Array, ""]]:
    task: NeuroTask = neuro_task(name, settings.size)

    @jax.jit
    def score(theta: Theta) -> Float[Array, ""]:
        algorithm = learned_ga(theta, settings.num_children, elite_ratio)

        def of_seed(key: Key[Array, ""]) -> Float[Array, ""]:
            key_run, key_test = jax.random.split(key)
            evolution = evolve(key_run, algorithm, task, settings.sigma0, settings.num_generations)
            return scores_on_test(key_test, task, evolution)[0]

        return jnp.mean(jax.lax.map(of_seed, jax.random.split(jax.random.key(VALIDATION_SEED), NUM_SEEDS)))

    return score
