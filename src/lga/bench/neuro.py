"""Runs on neuroevolution tasks: their sizes, their algorithms, and files that an interrupted run goes on from."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from lga.algorithms import presets
from lga.algorithms.run import compiled
from lga.core.checks import require_known
from lga.core.interfaces import Algorithm
from lga.core.tree_io import digest, filled, json_form, load_leaves, save_tree
from lga.neuroevolution import Evolution, generation, start, test_scores
from lga.operators.theta import Theta
from lga.tasks.neuro import NeuroTask, TaskSize
from lga.tasks.registry import NEURO_TASKS
from lga.weights import EVOSAX_LGA, resolve

SECONDS_BETWEEN_CHECKPOINTS = 20.0
LEARNED_ELITE_RATIO = 1.0  # as they were trained
STRATEGY_ELITE_RATIO = 0.5  # CMA-ES recombines the better half


@dataclass(frozen=True)
class Scale:
    """How large a run is. The settings of all hand-designed algorithms are the same."""

    num_children: int
    num_generations: int
    test_every: int
    task: TaskSize
    sigma0: float
    elite_ratio: float = 0.25


# The paper swept the elite ratio over 0, 0.25, 0.5, 1 and the initial rate over three values a family. Here the ratio
# is 0.25, and the rate is the middle one; for the short runs of the small preset it is the largest one. The paper names
# no rates for the pendulum: it has the middle one of the paper's sweep on BBOB.
PAPER: dict[str, Scale] = {
    "pendulum": Scale(256, 500, 10, TaskSize(16, 64, 200), sigma0=0.5),
    "brax": Scale(256, 2000, 20, TaskSize(8, 64, 500), sigma0=0.05),
    "minatar": Scale(256, 4000, 40, TaskSize(16, 64, 500), sigma0=0.075),
    "images": Scale(128, 4000, 40, TaskSize(1024, 10_000), sigma0=0.025),
    "small images": Scale(128, 1000, 20, TaskSize(1024, 10_000), sigma0=0.025),
}
SMALL: dict[str, Scale] = {
    "pendulum": Scale(64, 150, 10, TaskSize(16, 64, 200), sigma0=0.5),
    "brax": Scale(32, 30, 3, TaskSize(2, 8, 500), sigma0=0.1),
    "minatar": Scale(64, 50, 5, TaskSize(4, 32, 500), sigma0=0.1),
    "images": Scale(32, 60, 5, TaskSize(64, 1000), sigma0=0.05),
    "small images": Scale(64, 100, 10, TaskSize(128, 1000), sigma0=0.05),
}
SMOKE: dict[str, Scale] = {
    family: replace(scale, num_children=8, num_generations=3, test_every=2, task=TaskSize(2, 2, num_steps=20))
    for family, scale in PAPER.items()
}
SCALES: dict[str, dict[str, Scale]] = {"paper": PAPER, "small": SMALL, "smoke": SMOKE}


def scale_of(task: str, preset: str) -> Scale:
    require_known("task", task, NEURO_TASKS)
    require_known("preset", preset, SCALES)
    return SCALES[preset][NEURO_TASKS[task].family]


class Contender(NamedTuple):
    name: str
    elite_ratio: float
    build: Callable[[int, float], Algorithm]
    fingerprint: str = ""
    """Digest of the weights of a learned algorithm."""


HAND_DESIGNED: dict[str, Callable[[int, float], Algorithm]] = {
    "gaussian_ga": presets.gaussian_ga,
    "mr15_ga": presets.mr15_ga,
    "samr_ga": presets.samr_ga,
    "gesmr_ga": presets.gesmr_ga,
    "sep_cma_es": lambda num_children, _: presets.sep_cma_es(num_children),
}


def contender(name: str, scale: Scale, num_weights: int, weights: dict[str, Theta]) -> Contender:
    """A hand-designed algorithm, evosax's learned one in our engine, or one of the given weights."""
    if name in HAND_DESIGNED:
        ratio = STRATEGY_ELITE_RATIO if name == "sep_cma_es" else scale.elite_ratio
        return Contender(name, ratio, HAND_DESIGNED[name])
    require_known("algorithm", name, [*HAND_DESIGNED, EVOSAX_LGA, *weights])
    theta = resolve(EVOSAX_LGA, num_weights).theta if name == EVOSAX_LGA else weights[name]
    return Contender(
        name,
        LEARNED_ELITE_RATIO,
        lambda num_children, elite_ratio: presets.learned_ga(theta, num_children, elite_ratio),
        digest(theta),
    )


class Curve(NamedTuple):
    """Test scores of a run, one entry every few generations and one at its end."""

    generations: list[int]
    elite: list[float]
    mean_parent: list[float]


def evaluations_compiled(task: NeuroTask) -> NeuroTask:
    """Compiled once for all algorithms and seeds."""
    return task._replace(evaluate=jax.jit(task.evaluate), test=jax.jit(task.test))


def measured_run(
    task_name: str,
    task: NeuroTask,
    entry: Contender,
    scale: Scale,
    seed: int,
    file: Path,
    report: Callable[[int], None],
) -> Curve:
    """The test scores of one run. Its file holds how far it has come; `report` is called with that number."""
    cell = cell_of(task_name, entry, scale, seed)
    saved = load_run(file, cell)
    report(saved.done)
    if saved.done == scale.num_generations:
        return saved.curve
    algorithm = compiled(entry.build(scale.num_children, entry.elite_ratio))
    key_run, key_test = jax.random.split(jax.random.key(seed))
    evolution = start(jax.random.fold_in(key_run, 0), algorithm, task, scale.sigma0)
    if saved.done:
        evolution = restored(evolution, saved.tensors)
    curve = saved.curve
    last_save = time.monotonic()
    for number in range(saved.done + 1, scale.num_generations + 1):
        evolution = generation(jax.random.fold_in(key_run, number), algorithm, task, evolution)
        at_end = number == scale.num_generations
        if number % scale.test_every == 0 or at_end:
            scores = test_scores(jax.random.fold_in(key_test, number), task, evolution)
            curve = extended(curve, number, np.asarray(scores))
        if at_end or time.monotonic() - last_save > SECONDS_BETWEEN_CHECKPOINTS:
            save_run(file, cell, number, curve, None if at_end else evolution)
            last_save = time.monotonic()
        report(number)
    return curve


def extended(curve: Curve, number: int, scores: Float[np.ndarray, "2"]) -> Curve:
    return Curve([*curve.generations, number], [*curve.elite, float(scores[0])], [*curve.mean_parent, float(scores[1])])


class SavedRun(NamedTuple):
    done: int
    curve: Curve
    tensors: dict[str, np.ndarray]


def save_run(file: Path, cell: dict[str, Any], done: int, curve: Curve, evolution: Evolution | None) -> None:
    """A finished run leaves its curve alone: None has no tensors."""
    save_tree(file, evolution, {"cell": cell, "done": done, "curve": curve._asdict()})


def load_run(file: Path, cell: dict[str, Any]) -> SavedRun:
    """What the file has of this run: nothing, if it is of another or not there."""
    if file.exists():
        tensors, description = load_leaves(file)
        if description["cell"] == cell:
            return SavedRun(description["done"], Curve(**description["curve"]), tensors)
    return SavedRun(0, Curve([], [], []), {})


def restored(like: Evolution, tensors: dict[str, np.ndarray]) -> Evolution:
    return jax.tree.map(jnp.asarray, filled(like, tensors))


def cell_of(task_name: str, entry: Contender, scale: Scale, seed: int) -> dict[str, Any]:
    """All that decides a run, as JSON holds it."""
    settings = {"task": task_name, "algorithm": entry.name, "elite_ratio": entry.elite_ratio, "seed": seed}
    return json_form(settings | {"weights": entry.fingerprint, "scale": asdict(scale)})
