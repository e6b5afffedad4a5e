"""An algorithm for your kind of problem: a start and operators that suit it, trained and put to the test.

Tasks are drawn four times, with seeds of their own: to see where optima lie and which population suits, to train, to
validate, and to test. What is reported comes from the last, which nothing was chosen by.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jaxtyping import Float
from rich.table import Table

from lga.algorithms import presets
from lga.bench.own_starts import (
    CHOICE_SEED,
    SIGMAS,
    Choice,
    curves,
    learned_starts,
    shipped_curves,
    sized,
    suited,
)
from lga.bench.statistics import interval_text, mean_interval
from lga.core.checks import require, require_positive_integer
from lga.core.files import write_report
from lga.core.interfaces import Algorithm
from lga.core.variables import START_DEVIATION, InVariables, Variables
from lga.meta.config import MetaConfig, Scale
from lga.meta.families import family_of
from lga.meta.report import write_training_page
from lga.meta.run_directory import BEST
from lga.meta.speed_validation import Curves, best_so_far, log2_evaluations, task_keys
from lga.meta.train import train as meta_train
from lga.operators.theta import Theta
from lga.optimize.minimize import minimize
from lga.report.training import HeldOut
from lga.tasks.family import Family
from lga.weights import DEFAULT_WEIGHTS, resolve

TEST_SEED = 30_017
OUTCOME = "own_tasks.json"

OWN_TASKS = MetaConfig(
    learned=("select", "rate", "sample", "blend", "jitter", "shape", "separable"),
    fixed=("separable",),
    search_space="compact",
    start=DEFAULT_WEIGHTS,
    tasks="own:family",
    scales=("2x4x4-4",),
    sigma0=(1.0, 1.0),
    noise=("none",),
    objective="minN-minT",
    normalization="rank",
    aggregation="mean",
    optimizer="cma_es",
    meta_sigma=0.06,
    averaging=0.8,
    meta_generations=120,
    meta_population=32,
    num_tasks=48,
    validate_every=10,
    validation_sigma0=1.0,
)
"""What a run for one's own tasks starts from; sizes follow from the family and the budget."""


@dataclass(frozen=True)
class Trained:
    """What training for a family gives: weights, the size of a search, where it starts, and the report."""

    weights: Path
    options: dict[str, Any]
    variables: Variables | None
    report: dict[str, Any] = field(repr=False)

    def minimize(self, fun: Callable[[Any], Any], **given: Any) -> Any:
        """`lga.minimize` for a problem of this family."""
        options = {**self.options, "weights": self.weights, **given}
        return minimize(fun, **options) if self.variables is None else minimize_from(self.variables, fun, **options)

    @classmethod
    def load(cls, directory: str | Path) -> "Trained":
        outcome = json.loads((Path(directory) / OUTCOME).read_text())
        told = outcome["variables"] or {}
        arrays = {name: np.asarray(value) for name, value in told.items() if value is not None}
        variables = Variables(**arrays) if arrays else None
        return cls(Path(directory) / BEST, outcome["options"], variables, outcome["report"])


def minimize_from(variables: Variables, fun: Callable[[Any], Any], **options: Any) -> Any:
    """`lga.minimize` in the coordinates that a family was trained in. Whatever these are, bounds hold."""
    inside = InVariables(fun, variables, options.get("vectorized", False))
    x0 = np.zeros(variables.num_dims)
    if variables.first is not None:
        x0 = variables.encode(variables.first[: options.get("popsize")])
    result = minimize(inside, x0=x0, sigma0=START_DEVIATION, **options)
    evaluations = replace(result.evaluations, x=variables.decode(result.evaluations.x))
    x = None if result.x is None else variables.decode(result.x[None])[0]
    result.update(x=x, evaluations=evaluations, population=variables.decode(result.population))
    return result


def train(
    config: MetaConfig | None = None,
    directory: str | Path = "runs/latest",
    *,
    tasks: Family | str | None = None,
    budget: int | None = None,
    dims: int | None = None,
    settings: MetaConfig = OWN_TASKS,
    num_tests: int = 64,
    **options: Any,
) -> Any:
    """Meta-trains: by a configuration, or for a family of tasks.

    Args:
        config: All settings of a run; its best weights are returned. In place of what follows.
        directory: Where the run is kept.
        tasks: A family (see `lga.family`), the name of a built-in one, or FILE.py:NAME. A `Trained` is returned.
        budget: Evaluations that a search of yours may take.
        dims: Variables, for built-in families; yours has its own.
        settings: What decides the training, except for sizes, which follow from the budget.
        num_tests: Tasks that the outcome is tested on.
        options: `resume`, `memory_gib` and `report`, as in a run by configuration.
    """
    if tasks is None:
        require(config is not None, "neither config nor tasks is given, but one of them must say what to train on.")
        assert config is not None
        return meta_train(config, Path(directory), **options)
    require(budget is not None, "budget is missing: how many evaluations may a search take?")
    assert budget is not None
    require_positive_integer("budget", budget)
    return train_for(tasks, budget, dims, Path(directory), settings, num_tests, options)


def train_for(
    tasks: Family | str,
    budget: int,
    dims: int | None,
    directory: Path,
    settings: MetaConfig,
    num_tests: int,
    options: dict[str, Any],
) -> Trained:
    named = replace(settings, tasks=tasks if isinstance(tasks, str) else f"own:{tasks.name}")
    family = family_of(named) if isinstance(tasks, str) else tasks
    num_dims = family.variables.num_dims if family.variables is not None else dims
    require(num_dims is not None, f"dims is missing: {family.name} has tasks of any number of variables.")
    assert num_dims is not None
    usual = resolve(DEFAULT_WEIGHTS).population(num_dims)
    choice = suited(family, learned_starts(family, num_dims, usual, budget), num_dims, usual, budget)
    size = choice.size
    scale = f"{num_dims}x{size.num_children}"
    config = replace(
        named,
        scales=(f"{scale}x{max(size.num_generations // 3, 1)}-{size.num_generations}",),
        validation_scales=(f"{scale}x{size.num_generations}",),
        sigma0=(choice.sigma0, choice.sigma0),
        validation_sigma0=choice.sigma0,
    )
    theta = meta_train(config, directory, family=choice.family, **options)
    report = tested(family, choice, theta, config, sized(num_dims, usual, budget), num_tests)
    told = {"budget": budget, "num_tests": num_tests, **report}
    search = {"popsize": size.num_children, "max_evaluations": budget}
    outcome = Trained(directory / BEST, search, choice.family.variables, told)
    write_report(directory / OUTCOME, as_json(outcome) | {"config": asdict(config)})
    write_training_page(directory, {}, held_out=held_out_of(told))
    return outcome


def as_json(outcome: Trained) -> dict[str, Any]:
    variables = outcome.variables
    plain = {} if variables is None else variables._asdict()
    told = {name: None if one is None else np.asarray(one).tolist() for name, one in plain.items()} or None
    return {"options": outcome.options, "variables": told, "report": outcome.report}


def tested(
    family: Family, choice: Choice, theta: Theta, config: MetaConfig, usual: Scale, num_tests: int
) -> dict[str, Any]:
    """The outcome on tasks that nothing was chosen by, against methods that need no training."""
    started, size = choice.family, choice.size

    def trained(num_children: int) -> Algorithm:
        return presets.learned_ga(theta, num_children, config.elite_ratio, config.balanced)

    own = curves(started, trained, choice.sigma0, size, num_tests, TEST_SEED)
    rows: dict[str, tuple[Curves, Scale, float | None]] = {
        DEFAULT_WEIGHTS: (shipped_curves(family, usual, num_tests, TEST_SEED), usual, None)
    }
    tuned = f"{DEFAULT_WEIGHTS}, tuned, learned start"
    rows[tuned] = (shipped_curves(started, size, num_tests, TEST_SEED, choice.sigma0), size, choice.sigma0)
    # CMA-ES with a full matrix takes minutes to compile.
    for name, build in (("Gaussian GA", presets.gaussian_ga), ("Sep-CMA-ES", presets.sep_cma_es)):
        theirs, sigma0 = tuned_curves(started, build, usual, num_tests)
        rows[f"{name}, tuned, learned start"] = (theirs, usual, sigma0)
    compared = [
        compared_with(name, own, size.num_children, theirs, scale.num_children, sigma0)
        for name, (theirs, scale, sigma0) in rows.items()
    ]
    return {"rows": compared, "verdict": verdict(compared)}


def tuned_curves(
    family: Family, build: Callable[[int], Algorithm], scale: Scale, num_tasks: int
) -> tuple[Curves, float]:
    """With the initial rate that ends lowest on tasks of the choice, in the mean of ranks; and that rate."""
    algorithm = build(scale.num_children)
    course = jax.jit(lambda keys, sigma0: best_so_far(keys, family, algorithm, sigma0, scale))
    chosen_by = task_keys(CHOICE_SEED + 2, num_tasks)
    ends = np.stack([np.asarray(course(chosen_by, np.float32(sigma0)))[:, -1] for sigma0 in SIGMAS])
    sigma0 = SIGMAS[int(np.argmin(np.argsort(np.argsort(ends, axis=0), axis=0).mean(axis=1)))]
    return np.asarray(course(task_keys(TEST_SEED, num_tasks), np.float32(sigma0))), sigma0


def compared_with(
    name: str,
    own: Curves,
    own_size: int,
    theirs: Float[np.ndarray, "tasks u"],
    their_size: int,
    sigma0: float | None,
) -> dict[str, Any]:
    """Paired over tasks. A win is a lower value at the end; ties are half a win."""
    wins = (own[:, -1] < theirs[:, -1]) + 0.5 * (own[:, -1] == theirs[:, -1])
    saved: Float[np.ndarray, " tasks"] = -log2_evaluations(own, theirs, own_size, their_size)[:, -1]
    return {
        "method": name,
        "sigma0": sigma0,
        "win_rate": mean_interval(wins)._asdict(),
        "log2_times_fewer_evaluations": mean_interval(saved)._asdict(),
        "median_times_fewer_evaluations": float(2.0 ** np.median(saved)),
    }


def verdict(rows: list[dict[str, Any]]) -> str:
    """What the tests say of the first row, the shipped weights as they are, and of the closest; nothing more."""
    shipped_row, *others = rows
    if not is_ahead(shipped_row):
        return f"no gain: use {shipped_row['method']}"
    gain = f"{in_words(shipped_row)[0]} times fewer evaluations than {shipped_row['method']} as it ships"
    closest = min(others, key=lambda row: row["log2_times_fewer_evaluations"]["mean"], default=shipped_row)
    if is_ahead(closest):
        return f"{gain}; {in_words(closest)[0]} times fewer than {closest['method']}, the closest"
    return f"{gain}; but {closest['method']} does as well: the gain is in what it shares with it"


def is_ahead(row: dict[str, Any]) -> bool:
    """By evaluations and by wins, beyond both intervals."""
    fewer, wins = row["log2_times_fewer_evaluations"]["low"], row["win_rate"]["low"]
    return fewer is not None and wins is not None and fewer > 0.0 and wins > 0.5


def held_out_of(report: dict[str, Any]) -> HeldOut:
    """For the page of the run."""
    caption = f"{report['num_tests']} tasks that were not trained on, {report['budget']} evaluations each"
    headings = ["against", "times fewer evaluations (95 %)", "median", "lower at the end (95 %)"]
    rows = []
    for row in report["rows"]:
        fewer, wins = in_words(row)
        rows.append([row["method"], fewer, f"{row['median_times_fewer_evaluations']:.1f}", wins])
    return HeldOut(report["verdict"], caption, headings, rows)


def outcome_table(report: dict[str, Any]) -> Table:
    """For the screen."""
    tests = held_out_of(report)
    table = Table(*tests.headings, title=tests.caption)
    for row in tests.rows:
        table.add_row(*row)
    return table


def in_words(row: dict[str, Any]) -> tuple[str, str]:
    """How many times fewer evaluations (the geometric mean), and how often lower at the end, with intervals."""
    fewer = {name: None if end is None else 2.0**end for name, end in row["log2_times_fewer_evaluations"].items()}
    return interval_text(fewer, 2), interval_text(row["win_rate"], 2)
