"""The table of all tasks, for listings and for tests that walk it."""

from collections.abc import Callable
from typing import NamedTuple

from jaxtyping import Array, Float, Key

from lga.core.checks import require_known
from lga.core.interfaces import Evaluate
from lga.tasks import bbob
from lga.tasks.control import CONTROL_TASKS
from lga.tasks.network_task import NeuroEntry, NeuroTask, TaskSize
from lga.tasks.tuning import evaluate_tuning, sample_tuning_task
from lga.tasks.vision import VISION_TASKS


class Row(NamedTuple):
    """One line of `lga tasks list`."""

    name: str
    benchmark: str
    number: int
    group: str
    families: tuple[str, ...]
    split: str  # "train" or "hold-out"; "transfer" for tasks that are no functions


class Problem(NamedTuple):
    """One task, as a search sees it."""

    num_dims: int
    evaluate: Evaluate


class Suite(NamedTuple):
    """A family of tasks."""

    rows: Callable[[], list[Row]]
    example: Callable[[Key[Array, ""]], Problem]
    """A random task of the family."""


def bbob_rows() -> list[Row]:
    return [
        Row(
            name=function.name,
            benchmark="bbob",
            number=function.id,
            group=function.group,
            families=tuple(family for family, names in bbob.FAMILIES.items() if function.name in names),
            split="train" if function.name in bbob.FAMILIES["large"] else "hold-out",
        )
        for function in bbob.FUNCTIONS.values()
    ]


def bbob_example(key: Key[Array, ""]) -> Problem:
    task = bbob.sample_task(key, "small", 2, 5)

    def evaluate(key: Key[Array, ""], solutions: Float[Array, "n d"]) -> Float[Array, " n"]:
        return bbob.evaluate_noisy(key, task, solutions)

    return Problem(task.x_opt.shape[0], evaluate)


def tuning_rows() -> list[Row]:
    return [Row("tuning", "tuning", 1, "random", (), "train")]


def tuning_example(key: Key[Array, ""]) -> Problem:
    task = sample_tuning_task(key, 6)

    def evaluate(key: Key[Array, ""], solutions: Float[Array, "n d"]) -> Float[Array, " n"]:
        return evaluate_tuning(key, task, solutions)

    return Problem(6, evaluate)


NEURO_TASKS: dict[str, NeuroEntry] = CONTROL_TASKS | VISION_TASKS


def neuro_task(name: str, size: TaskSize) -> NeuroTask:
    """A neuroevolution task by name. Environments and data are loaded now, and not before."""
    require_known("task", name, NEURO_TASKS)
    return NEURO_TASKS[name].build(size)


def neuro_rows() -> list[Row]:
    return [
        Row(name, "neuroevolution", number, entry.family, (), "transfer")
        for number, (name, entry) in enumerate(NEURO_TASKS.items(), start=1)
    ]


def neuro_example(key: Key[Array, ""]) -> Problem:
    task = neuro_task("digits", TaskSize(num_evaluations=32, num_tests=32))
    return Problem(task.num_weights, lambda key, genomes: task.evaluate(key, task.init(), genomes)[0])


SUITES: dict[str, Suite] = {
    "bbob": Suite(bbob_rows, bbob_example),
    "neuroevolution": Suite(neuro_rows, neuro_example),
    "tuning": Suite(tuning_rows, tuning_example),
}


def rows() -> list[Row]:
    return [row for suite in SUITES.values() for row in suite.rows()]


def row(name: str) -> Row:
    """The row of one task, by name, or by number for the functions of BBOB, which come first."""
    for candidate in rows():
        if name in (candidate.name, str(candidate.number)):
            return candidate
    raise ValueError(
        f"name must be one of {[candidate.name for candidate in rows()]} or a number of theirs, not {name!r}."
    )
