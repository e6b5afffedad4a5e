"""The optimisers that are compared, each as a user would call it, and the count of what they ask for."""

import contextlib
import math
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

from experiments.optimizers import BudgetUsedError
from experiments.problems.form import Point, Problem, Variable
from lga.optimize.minimize import minimize
from lga.optimize.variables import Integer, Log
from lga.weights import resolve

FEASIBLE = 1e-6
"""Violations up to this, relative to the limit, are none."""
SMALL = 300
"""Budgets up to which Optuna takes part."""


class Counted:
    """A problem that counts evaluations, notes the best of them and ends the search when they are used up."""

    def __init__(self, problem: Problem, seed: int):
        self.problem = problem
        self.low, self.high = problem.ends()
        self.integer = np.array(problem.flags("integer"))
        self.random = np.random.default_rng([seed, 77])
        self.calls = 0
        self.least, self.recommended = math.inf, None
        """The least value of a feasible point that was seen, and the point; a method may recommend another."""

    def rounded(self, x: Any) -> Point:
        inside = np.clip(np.asarray(x, float), self.low, self.high)
        return np.where(self.integer, np.rint(inside), inside)

    def count(self) -> None:
        if self.calls == self.problem.evaluations:
            raise BudgetUsedError
        self.calls += 1

    def violations(self, x: Any) -> Point:
        assert self.problem.violations is not None
        return self.problem.violations(self.rounded(x))

    def value(self, x: Any) -> float:
        """Without counting: for methods that ask for the violations of every point first."""
        point, problem = self.rounded(x), self.problem
        seen = problem.value(point) if problem.noisy is None else problem.noisy(self.random, point)
        broken = 0.0 if problem.violations is None else float(np.sum(problem.violations(point)))
        if seen < self.least and broken <= FEASIBLE:
            self.least, self.recommended = seen, point
        return seen

    def counted_violations(self, x: Any) -> Point:
        self.count()
        return self.violations(x)

    def __call__(self, x: Any) -> float:
        """The value, and a penalty for what is violated."""
        self.count()
        penalty = 0.0
        if self.problem.violations is not None:
            penalty = self.problem.penalty * float(np.sum(self.violations(x)))
        return self.value(x) + penalty

    def true_value(self) -> float:
        """Of the point that is recommended; infinite if nothing feasible was found."""
        return math.inf if self.recommended is None else self.problem.value(self.recommended)


def with_lga(counted: Counted, seed: int) -> None:
    """As the documents say: constraints, noise and the kinds of the variables are told."""
    problem = counted.problem
    options: dict[str, Any] = {"noise": "auto"} if problem.noisy is not None else {}
    value: Callable[[Any], float] = counted
    if problem.violations is not None:
        options["constraints"] = by_number(counted.counted_violations)
        value = counted.value
    bounds = {f"x{place}": as_bounds(variable) for place, variable in enumerate(problem.variables)}
    result = minimize(by_number(value), bounds, max_evaluations=problem.evaluations, seed=seed, **options)
    if problem.noisy is not None and result.x is not None:
        counted.recommended = np.array(list(result.x.values()), float)


def by_number(function: Callable[[Any], Any]) -> Callable[[dict[str, float]], Any]:
    return lambda named: function(list(named.values()))


def as_bounds(variable: Variable) -> Any:
    if variable.category:
        return list(range(int(variable.high) + 1))
    if variable.integer:
        return Integer(int(variable.low), int(variable.high))
    return Log(variable.low, variable.high) if variable.log else (variable.low, variable.high)


def in_box(counted: Counted) -> tuple[list[tuple[float, float]], Callable[[Any], Point]]:
    """Bounds for methods without logarithms, and the point for their variables."""
    log = np.array(counted.problem.flags("log"))
    low, high = (np.where(log, np.log10(np.where(log, end, 1.0)), end) for end in (counted.low, counted.high))
    return list(zip(low.tolist(), high.tolist(), strict=True)), lambda z: np.where(
        log, 10.0 ** np.where(log, z, 0.0), np.asarray(z, float)
    )


def with_differential_evolution(counted: Counted, seed: int) -> None:
    """Called again, with another seed, for as long as evaluations are left: it stops when it has converged."""
    from scipy.optimize import NonlinearConstraint, differential_evolution

    bounds, point = in_box(counted)
    integrality = counted.problem.flags("integer")
    for restart in range(10**6):
        generator: Any = np.random.default_rng([seed, restart])
        if counted.problem.violations is None:
            differential_evolution(lambda z: counted(point(z)), bounds, integrality=integrality, rng=generator)
            continue
        limit = NonlinearConstraint(lambda z: counted.counted_violations(point(z)), -np.inf, FEASIBLE / 100.0)
        differential_evolution(
            lambda z: counted.value(point(z)),
            bounds,
            integrality=integrality,
            constraints=limit,
            polish=False,
            rng=generator,
        )


def with_dual_annealing(counted: Counted, seed: int) -> None:
    from scipy.optimize import dual_annealing

    bounds, point = in_box(counted)
    wide = [
        (low - 0.5, high + 0.5) if integer else (low, high)
        for (low, high), integer in zip(bounds, counted.integer, strict=True)
    ]
    for restart in range(10**6):
        generator: Any = np.random.default_rng([seed, restart])
        dual_annealing(lambda z: counted(point(z)), wide, rng=generator)


def with_pycma(counted: Counted, seed: int) -> None:
    """BIPOP restarts from uniform points, a first deviation of a fifth of the box, and its handling of integers."""
    import cma

    bounds, point = in_box(counted)
    low, high = np.transpose(bounds)
    # In units of the box: half a step more for whole numbers, so that the outermost are as likely as the others.
    low, high = np.where(counted.integer, low - 0.5, low), np.where(counted.integer, high + 0.5, high)
    generator = np.random.default_rng(seed)
    whole = np.flatnonzero(counted.integer).tolist()
    scale = np.where(counted.integer, 1.0, high - low)
    options = {
        "bounds": [(low / scale).tolist(), (high / scale).tolist()],
        "CMA_stds": ((high - low) / scale / 5.0).tolist(),
        "integer_variables": whole,
        "verbose": -9,
        "seed": seed + 1,
        "maxfevals": counted.problem.evaluations,
    }
    noisy = counted.problem.noisy is not None

    def note(strategy: Any) -> None:
        if noisy:
            counted.recommended = counted.rounded(point(strategy.result.xfavorite * scale))

    def start() -> Point:
        return generator.uniform(low, high) / scale

    while True:
        cma.fmin2(
            lambda z: counted(point(np.asarray(z) * scale)), start, 1.0, options, restarts=9, bipop=True, callback=note
        )


def with_nevergrad(counted: Counted, seed: int) -> None:
    """NGOpt, which chooses an algorithm by the kinds and number of the variables and by the budget."""
    import nevergrad as ng
    from nevergrad.optimization import metamodel

    # nevergrad 1.0 turns an array of one element into a float, which NumPy no longer does by itself.
    metamodel.float = lambda value: np.asarray(value, float).item()  # pyright: ignore[reportAttributeAccessIssue]

    def parameter(variable: Any) -> Any:
        if variable.category:
            return ng.p.Choice(list(range(int(variable.high) + 1)))
        if variable.log:
            return ng.p.Log(lower=variable.low, upper=variable.high)
        scalar = ng.p.Scalar(lower=variable.low, upper=variable.high)
        return scalar.set_integer_casting() if variable.integer else scalar

    kinds = {(one.category, one.log, one.integer) for one in counted.problem.variables}
    space: Any = ng.p.Tuple(*map(parameter, counted.problem.variables))
    if kinds == {(False, False, False)}:
        space = ng.p.Array(lower=counted.low, upper=counted.high, shape=counted.low.shape)
    space.random_state.seed(seed)
    optimizer = ng.optimizers.NGOpt(parametrization=space, budget=counted.problem.evaluations)
    for _ in range(counted.problem.evaluations):
        candidate = optimizer.ask()
        optimizer.tell(candidate, counted(candidate.value))
    if counted.problem.noisy is not None:
        counted.recommended = counted.rounded(optimizer.provide_recommendation().value)


def with_optuna(counted: Counted, seed: int) -> None:
    """Its TPE sampler."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def suggested(trial: Any, name: str, variable: Any) -> float:
        if variable.category:
            return trial.suggest_categorical(name, list(range(int(variable.high) + 1)))
        if variable.integer:
            return trial.suggest_int(name, int(variable.low), int(variable.high))
        return trial.suggest_float(name, variable.low, variable.high, log=variable.log)

    def objective(trial: Any) -> float:
        variables = enumerate(counted.problem.variables)
        return counted([suggested(trial, f"x{place}", variable) for place, variable in variables])

    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, n_trials=counted.problem.evaluations)


class Method(NamedTuple):
    search: Callable[[Counted, int], None]
    identity: Callable[[], str]
    """What the outcome depends on."""
    most_seeds: int = 10**6
    most_evaluations: int = 10**9
    is_slow: bool = False


def package(name: str) -> Callable[[], str]:
    return lambda: version(name)


OURS = "lga"
METHODS: dict[str, Method] = {
    OURS: Method(with_lga, lambda: resolve().digest),
    "SciPy differential_evolution": Method(with_differential_evolution, package("scipy")),
    "SciPy dual_annealing": Method(with_dual_annealing, package("scipy")),
    "pycma": Method(with_pycma, package("cma")),
    "nevergrad NGOpt": Method(with_nevergrad, package("nevergrad"), most_seeds=3, most_evaluations=2000, is_slow=True),
    "Optuna TPE": Method(with_optuna, package("optuna"), most_evaluations=SMALL),
}


def searched(method: str, problem: Problem, seed: int) -> Counted:
    """The problem after a method has used up its evaluations, or has ended before."""
    counted = Counted(problem, seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.suppress(BudgetUsedError):
        warnings.simplefilter("ignore")
        METHODS[method].search(counted, seed)
    return counted
