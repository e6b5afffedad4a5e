"""`lga.minimize` beside pycma and hand-designed GAs on BBOB, with the suite's noise.

Every method sees the same function: the n-th evaluation of a search meets the same random numbers whoever asks for it.
As in COCO's noisy suite a method is measured by the noise-free gap of the best point that it has evaluated, which it
may not know; the gap of the point that it would recommend stands beside it. It may be interrupted and started again,
as the comparison without noise.
"""

import contextlib
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from experiments.form import Experiment, Outcome
from experiments.optimizers import (
    BUDGETS,
    HIGH,
    LOW,
    OURS,
    BudgetUsedError,
    Counted,
    all_runs,
    compared_pairs,
    described,
    known_runs,
    split_of,
    weights_digest,
    with_pycma,
)
from lga.bench import cells
from lga.bench.methods import HAND_DESIGNED
from lga.bench.statistics import interval_text
from lga.core.tree_io import Leaves
from lga.optimize.minimize import minimize
from lga.tasks import bbob
from lga.tasks.bbob.noise import TARGET

REPORT = "noise.json"
ALL = "all with noise"
MEASURES = ("best", "recommended")
REEVALUATED = 3
"""What the tutorial recommends."""
GENETIC = {method.name: name for name, method in HAND_DESIGNED.items() if method.family == "genetic"}


@dataclass(frozen=True)
class NoiseSettings:
    noise: tuple[str, ...] = tuple(name for name in bbob.NOISE_MODELS if name != "none")
    num_dims: int = 5
    instances: tuple[int, ...] = (26,)
    """COCO instances that nothing else uses. Each search has its own seed."""
    functions: tuple[int, ...] = tuple(range(1, 25))
    workers: int = 1
    scheduler: str | None = None
    """Processes that search at the same time; what they find does not depend on their number."""


# The noise models of `lga.tasks.bbob` for one gap at a time, in NumPy: a call into JAX takes longer than the function.


def gaussian(beta: float, random: np.random.Generator, gap: float, num_dims: int) -> float:
    return gap * math.exp(beta * random.standard_normal())


def uniform(severity: float, random: np.random.Generator, gap: float, num_dims: int) -> float:
    shrink, share = -severity * random.standard_exponential(), random.random()
    stretch = severity * (0.49 + 1 / num_dims) * share * math.log(1e9 / gap)
    return gap * math.exp(shrink + max(stretch, 0.0))


def cauchy(alpha: float, probability: float, random: np.random.Generator, gap: float, num_dims: int) -> float:
    is_outlier, size = random.random() < probability, random.standard_cauchy()
    return gap + alpha * max(1000.0 + is_outlier * size, 0.0)


DISTURBANCES: dict[str, Callable[[np.random.Generator, float, int], float]] = {
    "gaussian_moderate": partial(gaussian, 0.01),
    "gaussian_severe": partial(gaussian, 1.0),
    "uniform_moderate": partial(uniform, 0.01),
    "uniform_severe": partial(uniform, 1.0),
    "cauchy_moderate": partial(cauchy, 0.01, 0.05),
    "cauchy_severe": partial(cauchy, 1.0, 0.2),
}


def noisy_gap(noise: str, random: np.random.Generator, gap: float, num_dims: int) -> float:
    """Gaps below the target stay undisturbed, and noise alone never reaches it."""
    if noise == "none" or gap < TARGET:
        return gap
    return DISTURBANCES[noise](random, gap, num_dims) + 1.01 * TARGET


class Noisy(Counted):
    """A function under noise, that notes the true gaps of the best point so far and of the recommended one."""

    def __init__(self, noise: str, function: int, instance: int, num_dims: int, budgets: tuple[int, ...]):
        super().__init__(function, instance, num_dims, budgets)
        self.noise, self.num_dims = noise, num_dims
        self.random = np.random.default_rng([list(bbob.NOISE_MODELS).index(noise), function, instance])
        self.least, self.recommended = math.inf, np.zeros(num_dims)
        self.is_told = False
        self.recommended_gaps: list[float] = []

    def __call__(self, x: Any) -> float:
        gap = super().__call__(x)
        noisy = noisy_gap(self.noise, self.random, gap, self.num_dims)
        if not self.is_told and noisy < self.least:
            self.least, self.recommended = noisy, np.array(x, float)
        if len(self.recommended_gaps) < len(self.gaps):
            self.recommended_gaps.append(float(self.problem(np.clip(self.recommended, LOW, HIGH))) - self.optimum)
        return noisy

    def recommend(self, x: Any) -> None:
        """What a method would return now. Of those that do not tell it is the point with the least value."""
        self.is_told, self.recommended = True, np.array(x, float)


def with_lga(objective: Noisy, num_dims: int, seed: int, **options: Any) -> None:
    minimize(objective, [(LOW, HIGH)] * num_dims, seed=seed, max_evaluations=objective.marks[-1], **options)


def with_reevaluation(objective: Noisy, num_dims: int, seed: int) -> None:
    with_lga(objective, num_dims, seed, reevaluate=REEVALUATED, callback=lambda result: objective.recommend(result.x))


def with_pycmas_favorite(objective: Noisy, num_dims: int, seed: int, **options: Any) -> None:
    """It recommends the mean of its distribution: that of the restart whose last generation has the least median."""
    favorites: dict[Any, tuple[float, np.ndarray]] = {}

    def note(strategy: Any) -> None:
        favorites[strategy] = (float(np.median(strategy.fit.fit)), strategy.result.xfavorite)
        objective.recommend(min(favorites.values(), key=lambda pair: pair[0])[1])

    with_pycma(objective, num_dims, seed, callback=note, **options)


def with_noise_handling(objective: Noisy, num_dims: int, seed: int, most_evaluations: int) -> None:
    """Evaluates some solutions again, and raises its step size and the evaluations of each solution under noise."""
    import cma

    class Handler(cma.NoiseHandler):
        """A class, because each restart makes its own."""

        def __init__(self, num_dims: int):
            super().__init__(num_dims, [1, 1, most_evaluations])

    with_pycmas_favorite(objective, num_dims, seed, noise_handler=Handler)


METHODS: dict[str, Callable[[Noisy, int, int], None]] = {
    OURS: with_lga,
    f"lga reevaluate={REEVALUATED}": with_reevaluation,
    "pycma": with_pycmas_favorite,
    "pycma NoiseHandler": partial(with_noise_handling, most_evaluations=1),
    "pycma NoiseHandler up to 30": partial(with_noise_handling, most_evaluations=30),
} | {name: partial(with_lga, algorithm=preset) for name, preset in GENETIC.items()}


def identities() -> dict[str, str]:
    """What the outcome of each method depends on."""
    packages = {"pycma": version("cma"), OURS: weights_digest()}
    return {method: "" if method in GENETIC else packages[method.split()[0]] for method in METHODS}


class NoisySearch(NamedTuple):
    """One search."""

    method: str
    noise: str
    function: int
    instance: int
    num_dims: int
    budgets: tuple[int, ...] = BUDGETS

    @property
    def name(self) -> str:
        return f"{self.method}, {self.noise}, f{self.function}, instance {self.instance}, {self.num_dims}-D"


def gaps_of(search: NoisySearch, checkpoint: Path | None = None) -> Leaves:
    """The gaps at the budgets."""
    objective = Noisy(search.noise, search.function, search.instance, search.num_dims, search.budgets)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(BudgetUsedError):
            METHODS[search.method](objective, search.num_dims, 1000 * search.function + search.instance)
    return {"best": np.asarray(objective.gaps), "recommended": np.asarray(objective.recommended_gaps)}


def cell_of(search: NoisySearch) -> cells.Cell:
    return cells.Cell(
        search.name, search._asdict() | {"identity": identities()[search.method]}, partial(gaps_of, search)
    )


def searches(settings: NoiseSettings) -> Iterator[NoisySearch]:
    for method in METHODS:
        for noise in settings.noise:
            for function in settings.functions:
                for instance in settings.instances:
                    yield NoisySearch(method, noise, function, instance, settings.num_dims)


def log_gaps(leaves: Leaves) -> dict[str, list[float]]:
    return {measure: bbob.log10_gap(leaves[measure]).tolist() for measure in MEASURES}


def run(settings: NoiseSettings, out: Path, console: Console) -> Outcome:
    known, planned = known_runs(out / REPORT, identities()), list(searches(settings))
    runs = all_runs(planned, known, cell_of, log_gaps, out / "cells", settings.workers, console, settings.scheduler)
    report = {
        "config": described(settings),
        "identities": identities(),
        "rows": list(summaries(settings, runs)),
        "runs": runs,
    }
    return Outcome(report, summary_table(report))


Runs = dict[str, dict[str, list[float]]]


def groups(settings: NoiseSettings) -> dict[str, tuple[str, ...]]:
    """What is averaged over: all models of noise, then each alone."""
    noisy = tuple(noise for noise in settings.noise if noise != "none")
    return ({ALL: noisy} if noisy else {}) | {noise: (noise,) for noise in settings.noise}


def summaries(settings: NoiseSettings, runs: Runs) -> Iterator[dict[str, Any]]:
    """One row for each group of noise models, split, budget and method."""
    for group, models in groups(settings).items():
        for split in ("hold-out", "train"):
            functions = [function for function in settings.functions if split_of(function) == split]
            for number, budget in enumerate(BUDGETS if functions else ()):
                for method in METHODS:
                    row = {"noise": group, "split": split, "num_dims": settings.num_dims, "budget": budget}
                    yield row | {"method": method} | compared(settings, runs, method, models, functions, number)


def compared(
    settings: NoiseSettings, runs: Runs, method: str, models: tuple[str, ...], functions: list[int], number: int
) -> dict[str, Any]:
    """Gaps of a method at one of the budgets, and ours minus theirs, by each measure."""

    def gap(method: str, measure: str, noise: str, function: int, instance: int) -> float:
        return runs[NoisySearch(method, noise, function, instance, settings.num_dims).name][measure][number]

    def pairs(measure: str, function: int) -> list[tuple[float, float]]:
        on = [(measure, noise, function, instance) for noise in models for instance in settings.instances]
        return [(gap(method, *one), gap(OURS, *one)) for one in on]

    return {measure: compared_pairs([pairs(measure, function) for function in functions]) for measure in MEASURES}


def summary_table(report: dict[str, Any]) -> Table:
    best, recommended = "log10 gap of the best point", "of the recommended"
    minus = "lga minus method (95 %, over functions)"
    table = Table("noise", "functions", "evaluations", "method", best, minus, recommended, minus)
    for row in report["rows"]:
        measured = [
            text
            for measure in MEASURES
            for text in (
                f"{row[measure]['mean_log10_gap']:.2f}",
                "" if row["method"] == OURS else interval_text(row[measure]["ours_minus_theirs"], 2, signed=True),
            )
        ]
        table.add_row(row["noise"], row["split"], f"{row['budget'] * row['num_dims']:,}", row["method"], *measured)
    return table


EXPERIMENT = Experiment(
    "lga.minimize beside pycma and hand-designed GAs on BBOB with noise",
    {
        "smoke": NoiseSettings(("none", "gaussian_severe"), 2, (26,), (1, 3)),
        "small": NoiseSettings(("gaussian_severe", "uniform_severe", "cauchy_severe"), 5, (26,)),
        "paper": NoiseSettings(),
    },
    run,
)
