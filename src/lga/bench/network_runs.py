"""One neuroevolution run as a cell: its size, its test scores, and a checkpoint for the case that it is interrupted."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from lga.algorithms.run import compiled
from lga.bench.cells import Cell
from lga.bench.methods import Method, Size
from lga.core.checks import require_known
from lga.core.tree_io import Leaves, filled, json_form, load_leaves, named_leaves, save_tree, under
from lga.neuroevolution import ONCE, RATES_KEPT_UP, Evolution, Judging, generation, scores_on_test, start
from lga.tasks.network_task import NeuroTask, TaskSize
from lga.tasks.registry import NEURO_TASKS, neuro_task
from lga.weights import EVOSAX_LGA

SECONDS_BETWEEN_CHECKPOINTS = 20.0
ELITE, TASK_STATE = "last_elite", "task_state"


@dataclass(frozen=True)
class Scale:
    """How large a run is, and the grid of settings that all methods are tuned over if it has more than one."""

    num_children: int
    num_generations: int
    test_every: int
    task: TaskSize
    sigmas: tuple[float, ...]
    elite_ratios: tuple[float, ...] = (0.25,)
    tuning_seeds: int = 2
    tuning_generations: int | None = None
    """Length of the runs that settings are chosen by, if it is not that of all runs."""

    @property
    def for_tuning(self) -> "Scale":
        """The same comparison, with runs as long as tuning makes them: tested once, at their end."""
        if self.tuning_generations is None:
            return self
        return replace(self, num_generations=self.tuning_generations, test_every=self.tuning_generations)


# The paper swept the elite ratio over 0, 0.25, 0.5, 1 and the initial rate over three values per family. Here the ratio
# is 0.25, and the rate is the middle one; for the short runs of the small preset it is the largest one. The paper names
# no rates for the pendulum: it has the middle one of the paper's sweep on BBOB.
PAPER: dict[str, Scale] = {
    "pendulum": Scale(256, 500, 10, TaskSize(16, 64, 200), sigmas=(0.5,)),
    "brax": Scale(256, 2000, 20, TaskSize(8, 64, 500), sigmas=(0.05,)),
    "minatar": Scale(256, 4000, 40, TaskSize(16, 64, 500), sigmas=(0.075,)),
    "images": Scale(128, 4000, 40, TaskSize(1024, 10_000), sigmas=(0.025,)),
    "small images": Scale(128, 1000, 20, TaskSize(1024, 10_000), sigmas=(0.025,)),
}
# Sized for some hours of two cores: ten algorithms on all twelve tasks of the paper, with five seeds, and before that
# the paper's sweep with one seed and a quarter of the generations. Runs are a tenth as long as the paper's or shorter,
# so the rates are up to twice its own; the pendulum, for which it names none, needs larger ones.
SWEPT_RATIOS = (0.0, 0.25, 0.5, 1.0)
MEDIUM: dict[str, Scale] = {
    "pendulum": Scale(64, 240, 10, TaskSize(16, 64, 200), (0.5, 1.0, 2.0), SWEPT_RATIOS, 1, 60),
    "brax": Scale(64, 240, 10, TaskSize(2, 32, 500), (0.05, 0.1, 0.2), SWEPT_RATIOS, 1, 60),
    "minatar": Scale(64, 120, 10, TaskSize(16, 64, 500), (0.05, 0.1, 0.2), SWEPT_RATIOS, 1, 30),
    "images": Scale(64, 120, 10, TaskSize(256, 10_000), (0.025, 0.05, 0.1), SWEPT_RATIOS, 1, 30),
    "small images": Scale(64, 240, 10, TaskSize(256, 10_000), (0.025, 0.05, 0.1), SWEPT_RATIOS, 1, 60),
}
SMALL: dict[str, Scale] = {
    "pendulum": Scale(64, 150, 10, TaskSize(16, 64, 200), sigmas=(0.5,)),
    "brax": Scale(32, 30, 3, TaskSize(2, 8, 500), sigmas=(0.1,)),
    "minatar": Scale(64, 50, 5, TaskSize(4, 32, 500), sigmas=(0.1,)),
    "images": Scale(32, 60, 5, TaskSize(64, 1000), sigmas=(0.05,)),
    "small images": Scale(64, 100, 10, TaskSize(128, 1000), sigmas=(0.05,)),
}
SMOKE: dict[str, Scale] = {
    family: replace(scale, num_children=8, num_generations=3, test_every=2, task=TaskSize(2, 2, num_steps=20))
    for family, scale in PAPER.items()
}
SCALES: dict[str, dict[str, Scale]] = {"paper": PAPER, "medium": MEDIUM, "small": SMALL, "smoke": SMOKE}


def scale_of(task: str, preset: str) -> Scale:
    require_known("task", task, NEURO_TASKS)
    require_known("preset", preset, SCALES)
    return SCALES[preset][NEURO_TASKS[task].family]


class Curve(NamedTuple):
    """Test scores of a run, one entry every few generations and one at its end."""

    generations: list[int]
    elite: list[float]
    mean_parent: list[float]


class Run(NamedTuple):
    """All that decides a run."""

    task: str
    task_size: TaskSize
    method: Method
    size: Size
    test_every: int
    seed: int
    judging: Judging = ONCE


def usual_judging(task_name: str, method: Method) -> Judging:
    """Policies are judged by few episodes, which differ much: rates of our learned weights are kept up there."""
    is_policy = "images" not in NEURO_TASKS[task_name].family
    is_ours = method.weights is not None and method.name != EVOSAX_LGA
    return RATES_KEPT_UP if is_policy and is_ours else ONCE


def silence(done: int) -> None:
    pass


def run_cell(run: Run, report: Callable[[int], None] = silence) -> Cell:
    """The curve of one run; `report` is called with the number of generations done."""
    task = {"task": run.task, "task_size": asdict(run.task_size), "test_every": run.test_every, "seed": run.seed}
    if run.judging != ONCE:
        task["judging"] = asdict(run.judging)
    label = f"{run.task}-{run.method.preset}-{run.method.elite_ratio:g}-{run.method.sigma:g}-{run.seed}"
    named_by_preset = run._replace(method=replace(run.method, name=run.method.preset))
    key = run.method.identity | run.size._asdict() | task
    return Cell(label, key, partial(curve_of, named_by_preset, report))


def curve_of(run: Run, report: Callable[[int], None], checkpoint: Path) -> Leaves:
    """The curve, and what a picture of the last elite needs."""
    curve, evolution = measured_run(compiled_task(run.task, run.task_size), run, checkpoint, report)
    scores = {name: np.asarray(values) for name, values in curve._asdict().items()}
    return scores | named_leaves({ELITE: evolution.elite, TASK_STATE: evolution.task_state})


def elite_and_state(task: NeuroTask, leaves: Leaves) -> tuple[Float[Array, " d"], Any] | None:
    """The last elite of a run with the task's state; None if the run is from before they were kept."""
    if ELITE not in leaves:
        return None
    state = filled(task.init(), under(TASK_STATE, leaves))
    return jnp.asarray(leaves[ELITE]), jax.tree.map(jnp.asarray, state)


@lru_cache(maxsize=1)
def compiled_task(name: str, size: TaskSize) -> NeuroTask:
    """Compiled once for all methods and seeds."""
    return evaluations_compiled(neuro_task(name, size))


def evaluations_compiled(task: NeuroTask) -> NeuroTask:
    return task._replace(evaluate=jax.jit(task.evaluate), test=jax.jit(task.test))


def measured_run(task: NeuroTask, run: Run, checkpoint: Path, report: Callable[[int], None]) -> tuple[Curve, Evolution]:
    """The test scores of one run, and how it ended. The checkpoint holds how far it has come."""
    method, num_generations = run.method, run.size.num_generations
    identity = json_form(run_cell(run).key)
    done, curve, leaves = unfinished(checkpoint, identity)
    report(done)
    algorithm = compiled(method.algorithm(run.size.num_children))
    key_run, key_test = jax.random.split(jax.random.key(run.seed))
    evolution = start(jax.random.fold_in(key_run, 0), algorithm, task, method.sigma)
    if done:
        evolution = jax.tree.map(jnp.asarray, filled(evolution, leaves))
    last_save = time.monotonic()
    for number in range(done + 1, num_generations + 1):
        evolution = generation(jax.random.fold_in(key_run, number), algorithm, task, evolution, run.judging)
        if number % run.test_every == 0 or number == num_generations:
            scores = np.asarray(scores_on_test(jax.random.fold_in(key_test, number), task, evolution))
            curve = Curve(*([*own, new] for own, new in zip(curve, (number, *scores.tolist()), strict=True)))
        if number < num_generations and time.monotonic() - last_save > SECONDS_BETWEEN_CHECKPOINTS:
            save_tree(checkpoint, evolution, {"run": identity, "done": number, "curve": curve._asdict()})
            last_save = time.monotonic()
        report(number)
    return curve, evolution


def unfinished(checkpoint: Path, identity: dict) -> tuple[int, Curve, Leaves]:
    """How far this run has come, its scores so far and its state: nothing, if the file is of another or not there."""
    if checkpoint.exists():
        leaves, description = load_leaves(checkpoint)
        if description["run"] == identity:
            return description["done"], Curve(**description["curve"]), leaves
    return 0, Curve([], [], []), {}
