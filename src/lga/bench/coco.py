"""Searches under COCO's own experiment module: its observer logs every evaluation, and cocopp compares the logs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jax
import numpy as np
from rich.console import Console
from rich.progress import track

from lga.algorithms.run import advance, compiled
from lga.bench.methods import Method
from lga.core.interfaces import Algorithm
from lga.trials import uniform_start


@dataclass(frozen=True)
class CocoSettings:
    dims: tuple[int, ...] = (2, 3, 5, 10, 20)
    functions: tuple[int, ...] = tuple(range(1, 25))
    instances: tuple[int, ...] = tuple(range(1, 16))
    budget: int = 100
    """Evaluations for each dimension."""
    num_children: int = 32
    """Population size of methods that have no rule of their own."""
    seed: int = 0

    @property
    def suite_options(self) -> str:
        def listed(numbers: tuple[int, ...]) -> str:
            return ",".join(map(str, numbers))

        return f"dimensions: {listed(self.dims)} function_indices: {listed(self.functions)}"


def run_coco(method: Method, settings: CocoSettings, out: Path, console: Console) -> Path:
    """One search on every problem of the suite; returns the folder of the logs."""
    try:
        import cocoex
    except ImportError as error:
        raise ImportError("lga bench coco needs COCO's experiment module: pip install 'lga[bench]'.") from error
    instances = ",".join(map(str, settings.instances))
    suite = cocoex.Suite("bbob", f"instances: {instances}", settings.suite_options)
    out.parent.mkdir(parents=True, exist_ok=True)
    folder = f"outer_folder: {out.parent} result_folder: {out.name}"
    observer = cocoex.Observer("bbob", f"{folder} algorithm_name: {method.name} algorithm_info: {method.preset}")

    @cache
    def searcher(num_dims: int) -> Algorithm:
        return compiled(method.algorithm(method.population(settings.num_children, num_dims)))

    # In double precision: COCO's values hold an offset of up to 1,000, and its last target is a gap of 1e-8.
    with jax.enable_x64(True):
        for problem in track(suite, description="problems", total=len(suite), console=console):
            problem.observe_with(observer)
            search(searcher(problem.dimension), method.sigma, problem, settings)
            problem.free()
    return Path(observer.result_folder)


def search(algorithm: Algorithm, sigma: float, problem: Any, settings: CocoSettings) -> None:
    """Generations until the budget is spent or COCO's last target is hit."""
    budget = settings.budget * problem.dimension
    key_start, key_init, key = jax.random.split(problem_key(settings.seed, problem.id), 3)
    start = uniform_start(key_start, algorithm.num_children, problem.dimension)
    state = algorithm.init(key_init, start, values_of(problem, start), sigma)
    while problem.evaluations + algorithm.num_children <= budget and not problem.final_target_hit:
        key, key_ask, key_tell = jax.random.split(key, 3)
        state = advance((key_ask, None, key_tell), algorithm, lambda _, x: (values_of(problem, x), None), state).state


def values_of(problem: Callable[[np.ndarray], float], solutions: jax.Array) -> np.ndarray:
    return np.asarray([problem(x) for x in np.asarray(solutions)])


def problem_key(seed: int, problem_id: str) -> jax.Array:
    """A key of its own for each problem, the same whichever other problems are run."""
    return jax.random.fold_in(jax.random.key(seed), int.from_bytes(problem_id.encode()[-16:]) % (2**31 - 1))
