"""Networks evaluated per second: a generation of ours beside the same one by evosax's own problem classes.

Seconds are those of work on one core, not of the clock on the wall: other work on the machine adds little to them.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from rich.console import Console
from rich.table import Table

from experiments.form import Experiment, Outcome
from experiments.timing import Contestant, process_medians
from lga.algorithms.presets import learned_ga
from lga.algorithms.run import compiled
from lga.tasks.control import PAPER_ROBOTS
from lga.tasks.network_task import TaskSize
from lga.tasks.registry import neuro_task
from lga.weights import NETWORK_WEIGHTS

SPREAD = 0.1
NUM_TURNS = 64
EVALUATIONS = {"lga": ("ours", "auto"), "lga, JAX code alone": ("ours", "jax"), "evosax": ("theirs", "auto")}
SEARCH = "search"


@dataclass(frozen=True)
class Workload:
    task: str
    """Of ours."""
    family: str
    """Of evosax: vision, gymnax, brax, or nothing if it has none of it."""
    name: str
    """What it is called there."""
    num_members: int
    num_evaluations: int
    """Images in a batch, or episodes."""
    num_steps: int = 500


WORKLOADS = (
    Workload("mnist", "vision", "MNIST", 32, 128),
    Workload("minatar-breakout", "gymnax", "Breakout-MinAtar", 32, 16),
    Workload("minatar-spaceinvaders", "gymnax", "SpaceInvaders-MinAtar", 32, 16),
    Workload("minatar-asterix", "gymnax", "Asterix-MinAtar", 32, 16),
    Workload("hopper-spring", "brax", "hopper", 32, 2, 100),
    *(Workload(name, "", "", 64, 2, 100) for name in PAPER_ROBOTS),
)


@dataclass(frozen=True)
class Settings:
    """All of a generation's networks have random weights, drawn alike for all contestants."""

    tasks: tuple[str, ...] = tuple(work.task for work in WORKLOADS)
    rounds: int = 7


def ours(work: Workload) -> Callable[[], Any]:
    task = neuro_task(work.task, TaskSize(work.num_evaluations, 2, work.num_steps))
    genomes = SPREAD * jax.random.normal(jax.random.key(0), (work.num_members, task.num_weights))
    evaluate = jax.jit(task.evaluate)
    state = task.init()
    return lambda: evaluate(jax.random.key(1), state, genomes)


def search(work: Workload) -> Callable[[], Any]:
    """What the shipped weights do in a generation beside the evaluation: children, and the next parents."""
    task = neuro_task(work.task, TaskSize(work.num_evaluations, 2, work.num_steps))
    algorithm = compiled(learned_ga(NETWORK_WEIGHTS, work.num_members))
    start = jnp.zeros((work.num_members, task.num_weights))
    state = algorithm.init(jax.random.key(0), start, jnp.zeros(work.num_members), SPREAD)
    turns = cycle(zip(*map(partial(jax.random.split, num=NUM_TURNS), map(jax.random.key, range(3))), strict=True))

    def generation() -> Any:
        nonlocal state
        key_ask, key_luck, key_tell = next(turns)
        children, asked = algorithm.ask(key_ask, state)
        state = algorithm.tell(key_tell, asked, children, jax.random.uniform(key_luck, (work.num_members,)))
        return state

    return generation


def theirs(work: Workload) -> Callable[[], Any]:
    problem = {"vision": vision_problem, "gymnax": gymnax_problem, "brax": brax_problem}[work.family](work)
    solution = problem.sample(jax.random.key(0))
    leaves, tree = jax.tree.flatten(solution)
    keys = jax.random.split(jax.random.key(0), len(leaves))
    population = tree.unflatten(
        SPREAD * jax.random.normal(key, (work.num_members, *leaf.shape)) for key, leaf in zip(keys, leaves, strict=True)
    )
    state = problem.init(jax.random.key(0))
    return lambda: problem.eval(jax.random.key(1), population, state)[0]


def convolutional(filters: tuple[tuple[int, int], ...], pooled: bool, hidden: tuple[int, ...], outputs: int) -> Any:
    from flax import linen as nn

    class Network(nn.Module):
        """The network of our task, in Flax; where actions are wanted, they are drawn."""

        @nn.compact
        def __call__(self, images, key):
            values = images
            for number, width in filters:
                values = nn.relu(nn.Conv(number, (width, width))(values))
                values = nn.max_pool(values, (2, 2), (2, 2)) if pooled else values
            batch = images.shape[:-3]
            values = values.reshape(*batch, -1)
            for size in hidden:
                values = nn.relu(nn.Dense(size)(values))
            logits = nn.Dense(outputs)(values)
            return logits if pooled else jax.random.categorical(key, logits)

    return Network()


def vision_problem(work: Workload) -> Any:
    from evosax.problems.vision.torchvision import TorchVisionProblem

    from lga.tasks.vision import cached_images

    images = cached_images(work.task)

    class Images(TorchVisionProblem):
        """With our copy of the images: its own loader needs another package and a download."""

        def get_mnist(self):
            train, test = (images.train, images.train_labels), (images.test, images.test_labels)
            return train, test, [train], [test]

    return Images(work.name, convolutional(((8, 5), (16, 5)), True, (), 10), work.num_evaluations)


def gymnax_problem(work: Workload) -> Any:
    import gymnax
    from evosax.problems.rl.gymnax import GymnaxProblem

    policy = convolutional(((16, 3),), False, (32,), gymnax.make(work.name)[0].num_actions)
    return GymnaxProblem(
        work.name,
        policy,
        episode_length=work.num_steps,
        num_rollouts=work.num_evaluations,
        use_normalize_obs=False,
    )


def brax_problem(work: Workload) -> Any:
    from brax import envs
    from evosax.problems.rl.brax import BraxProblem
    from flax import linen as nn

    num_actions = envs.get_environment(work.name, backend="spring").action_size

    class Policy(nn.Module):
        @nn.compact
        def __call__(self, observation, key):
            return jnp.tanh(nn.Dense(num_actions)(observation))

    return BraxProblem(work.name, Policy(), episode_length=work.num_steps, num_rollouts=work.num_evaluations)


BUILDERS = {"ours": ours, "theirs": theirs, SEARCH: search}


def run(settings: Settings, out: Path, console: Console) -> Outcome:
    contestants = {
        name: Contestant(BUILDERS[builder], kernel=kernel, clock="cpu")
        for name, (builder, kernel) in (EVALUATIONS | {SEARCH: (SEARCH, "auto")}).items()
    }
    rows = []
    for work in (work for work in WORKLOADS if work.task in settings.tasks):
        console.print(f"{work.task} ...")
        taking_part = {name: one for name, one in contestants.items() if work.family or one.build is not theirs}
        seconds = process_medians(taking_part, (work,), settings.rounds)
        searching = seconds.pop(SEARCH)
        rows.append(
            asdict(work)
            | {
                "networks_per_second": {name: work.num_members / own for name, own in seconds.items()},
                "share_of_search": searching / (searching + seconds["lga"]),
            }
        )
    table = Table("task", *(f"{name}, networks / s" for name in EVALUATIONS), "evosax / lga, time", "search")
    for row in rows:
        speeds = row["networks_per_second"]
        table.add_row(row["task"], *speeds_text(speeds), ratio_text(speeds, "evosax"), share_text(row))
    return Outcome({"rounds": settings.rounds, "rows": rows}, table)


def speeds_text(speeds: dict[str, float]) -> list[str]:
    return [f"{speeds[name]:,.0f}" if name in speeds else "" for name in EVALUATIONS]


def ratio_text(speeds: dict[str, float], other: str) -> str:
    return f"{speeds['lga'] / speeds[other]:.1f}" if other in speeds else ""


def share_text(row: dict[str, Any]) -> str:
    return f"{100 * row['share_of_search']:.1f} %"


EXPERIMENT = Experiment(
    "networks per second, beside evosax's problem classes",
    {
        "smoke": Settings(("mnist",), rounds=1),
        "small": Settings(rounds=3),
        "paper": Settings(),
    },
    run,
)
