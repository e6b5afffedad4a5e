"""How many BBOB evaluations a second: lga beside evosax and ioh, on the ten functions of the paper's largest family.

lga and evosax evaluate the same batch of solutions under noise, tasks x members x solutions, padded to ten dimensions.
evosax is vmapped over tasks and members; lga maps over tasks and vmaps over members. ioh, which has no batches and no
noise, evaluates one solution after another in ten dimensions.
"""

import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import ioh
import jax
import numpy as np
from evosax.problems import MetaBBOBProblem
from rich.console import Console
from rich.table import Table

from experiments.form import Experiment, Outcome
from lga.tasks import bbob

EVOSAX_NAMES = {"rastrigin": "rastrigin_rotated"}  # All others have the same names.
EVOSAX_NOISE = ["noiseless", "gaussian", "uniform", "cauchy"]
MIN_DIMS, MAX_DIMS = 2, 10


@dataclass(frozen=True)
class Settings:
    """Sizes of the batch."""

    tasks: int = 64
    members: int = 64
    solutions: int = 16
    repeats: int = 3


@dataclass(frozen=True)
class Speed:
    library: str
    evaluations_per_second: float
    lga_is_faster_by: float


def seconds_per_call(call: Callable[[], Any], at_least: float = 0.3) -> float:
    """The mean over as many calls as fill `at_least` seconds, so that short and long calls are disturbed alike."""
    calls, start = 0, time.perf_counter()
    while (passed := time.perf_counter() - start) < at_least:
        call()
        calls += 1
    return passed / calls


def lga_call(keys: jax.Array, solutions: jax.Array) -> Callable[[], Any]:
    sample = jax.jit(lambda keys: jax.lax.map(lambda key: bbob.sample_task(key, "large", MIN_DIMS, MAX_DIMS), keys))
    over_members = jax.vmap(bbob.evaluate_noisy, in_axes=(None, None, 0))
    evaluate = jax.jit(lambda *batch: jax.lax.map(lambda one: over_members(*one), batch))
    tasks = sample(keys)
    return lambda: evaluate(keys, tasks, solutions).block_until_ready()


def evosax_call(keys: jax.Array, solutions: jax.Array) -> Callable[[], Any]:
    problem = MetaBBOBProblem(
        fn_names=[EVOSAX_NAMES.get(name, name) for name in bbob.FAMILIES["large"]],
        min_num_dims=MIN_DIMS,
        max_num_dims=MAX_DIMS,
        noise_config={"noise_model_names": EVOSAX_NOISE, "use_stabilization": True},
    )
    params = jax.vmap(problem.sample_params)(keys)
    state = problem.init(keys[0], jax.tree.map(lambda leaf: leaf[0], params))

    def one(key: jax.Array, solutions: jax.Array, params: Any) -> jax.Array:
        fitness, _, _ = problem.eval(key, solutions, state, params)
        return fitness

    evaluate = jax.jit(jax.vmap(jax.vmap(one, in_axes=(None, 0, None))))
    return lambda: evaluate(keys, solutions, params).block_until_ready()


def ioh_call(solutions: np.ndarray) -> Callable[[], Any]:
    ids = [bbob.FUNCTIONS[name].id for name in bbob.FAMILIES["large"]]
    problems = [ioh.get_problem(number, 1, solutions.shape[-1], ioh.ProblemClass.BBOB) for number in ids]
    points = list(solutions.reshape(len(problems), -1, solutions.shape[-1]))
    return lambda: [problem(list(block)) for problem, block in zip(problems, points, strict=True)]


def run(settings: Settings, out: Path, console: Console) -> Outcome:
    key_tasks, key_solutions = jax.random.split(jax.random.key(0))
    keys = jax.random.split(key_tasks, settings.tasks)
    shape = (settings.tasks, settings.members, settings.solutions, MAX_DIMS)
    solutions = jax.random.uniform(key_solutions, shape, minval=-5.0, maxval=5.0)
    batch = settings.tasks * settings.members * settings.solutions
    ioh_solutions = np.asarray(solutions, dtype=np.float64).reshape(-1, MAX_DIMS)[: min(batch, 10_000) // 10 * 10]

    contestants = {
        "lga": (lga_call(keys, solutions), batch),
        f"evosax {version('evosax')}": (evosax_call(keys, solutions), batch),
        f"ioh {version('ioh')}": (ioh_call(ioh_solutions), len(ioh_solutions)),
    }
    for call, _ in contestants.values():
        call()  # compiles
    # Rounds, not blocks: whatever else the machine does falls on all contestants.
    rounds = [
        {name: seconds_per_call(call) / evaluations for name, (call, evaluations) in contestants.items()}
        for _ in range(settings.repeats)
    ]
    outcomes = [
        Speed(
            library=name,
            evaluations_per_second=statistics.median(1 / seconds[name] for seconds in rounds),
            lga_is_faster_by=statistics.median(seconds[name] / seconds["lga"] for seconds in rounds),
        )
        for name in contestants
    ]

    table = Table("library", "evaluations / s", "lga is faster by", title="BBOB, family 'large', D <= 10")
    for outcome in outcomes:
        table.add_row(outcome.library, f"{outcome.evaluations_per_second:,.0f}", f"{outcome.lga_is_faster_by:.1f}")
    report = {
        "batch": {"tasks": settings.tasks, "members": settings.members, "solutions": settings.solutions},
        "repeats": settings.repeats,
        "machine": {"processor": platform.machine(), "devices": str(jax.devices()), "jax": jax.__version__},
        "outcomes": [asdict(outcome) for outcome in outcomes],
    }
    return Outcome(report, table)


EXPERIMENT = Experiment(
    "BBOB evaluations per second, beside evosax and ioh",
    {"smoke": Settings(tasks=4, members=4, solutions=4, repeats=1), "paper": Settings()},
    run,
)
