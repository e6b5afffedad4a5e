"""What a candidate is tried on: the built-in families of tasks, and those of users."""

from collections.abc import Callable

import jax.numpy as jnp

from lga.meta.config import MetaConfig
from lga.tasks import bbob
from lga.tasks.family import Family, find_family
from lga.tasks.small_networks import observe_curve, sample_curve
from lga.tasks.teachers import observe_teacher_task, sample_teacher_task
from lga.tasks.tuning import observe_tuning, sample_tuning_task


def family_of(config: MetaConfig) -> Family:
    """By name, or by FILE.py:NAME."""
    return find_family(config.tasks) if ":" in config.tasks else FAMILIES[config.tasks](config)


def bbob_family(config: MetaConfig) -> Family:
    """Functions of BBOB in random instances, with and without noise."""
    return Family(
        name="bbob",
        draw=lambda key, dims: bbob.sample_task(key, config.functions, dims[0], dims[1], config.noise),
        observe=bbob.observe,
        num_coordinates=lambda task: task.x_opt.shape[-1],
        evaluate_start=config.evaluate_start,
    )


def tuning_family(config: MetaConfig) -> Family:
    """Functions in a box that look like the tuning of a model."""
    # As many initial solutions as HPO-B gives.
    return Family(
        name="tuning",
        draw=lambda key, dims: sample_tuning_task(key, dims[1]),
        observe=observe_tuning,
        num_coordinates=lambda task: task.levels.shape[-1],
        num_initial=5,
    )


def curves_family(config: MetaConfig) -> Family:
    """Weights of small networks, fitted to random curves."""
    return Family(
        name="curves",
        draw=lambda key, dims: sample_curve(key, dims[1]),
        observe=observe_curve,
        num_coordinates=lambda task: task.blank.shape[-1],
    )


def teachers_family(config: MetaConfig) -> Family:
    """Many weights: networks with random teachers, and quadratics, judged by batches."""
    return Family(
        name="teachers",
        draw=lambda key, dims: sample_teacher_task(key, dims[1]),
        observe=observe_teacher_task,
        num_coordinates=lambda task: task.target.shape[-1],
        start=lambda key, count, num_dims: jnp.zeros((count, num_dims)),
    )


FAMILIES: dict[str, Callable[[MetaConfig], Family]] = {
    "bbob": bbob_family,
    "tuning": tuning_family,
    "curves": curves_family,
    "teachers": teachers_family,
}
