"""What a candidate is tried on: families of tasks, as the meta-objective sees them."""

from collections.abc import Callable
from typing import Any, NamedTuple

from jaxtyping import Array, Float, Key

from lga.meta.config import MetaConfig
from lga.tasks import bbob
from lga.tasks.tuning import observe_tuning, sample_tuning_task

Observe = Callable[[Key[Array, ""], Any, Float[Array, "n d"]], tuple[Float[Array, " n"], Float[Array, " n"]]]


class Family(NamedTuple):
    draw: Callable[[Key[Array, ""], tuple[int, int]], Any]
    """(key, least and most dimensions) -> task"""
    observe: Observe
    """(key, task, solutions) -> (true values, what a search sees of them)"""
    num_coordinates: Callable[[Any], int]
    num_initial: int | None
    """Solutions that a search is given; None for as many as it has children."""
    evaluate_start: bool
    """Whether their values are known."""


def family_of(config: MetaConfig) -> Family:
    return FAMILIES[config.tasks](config)


def bbob_family(config: MetaConfig) -> Family:
    return Family(
        draw=lambda key, dims: bbob.sample_task(key, config.functions, dims[0], dims[1], config.noise),
        observe=bbob.observe,
        num_coordinates=lambda task: task.x_opt.shape[-1],
        num_initial=None,
        evaluate_start=config.evaluate_start,
    )


def tuning_family(config: MetaConfig) -> Family:
    # As many initial solutions as HPO-B gives.
    return Family(
        draw=lambda key, dims: sample_tuning_task(key, dims[1]),
        observe=observe_tuning,
        num_coordinates=lambda task: task.levels.shape[-1],
        num_initial=5,
        evaluate_start=True,
    )


FAMILIES: dict[str, Callable[[MetaConfig], Family]] = {"bbob": bbob_family, "tuning": tuning_family}
