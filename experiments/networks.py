"""Neuroevolution runs that studies share: each a cell, found again by all that decides it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track

from lga.bench.cells import outcome
from lga.bench.methods import Method
from lga.bench.network_runs import Run, Scale, compiled_task, run_cell, scale_of

CELLS = Path("runs/studies/cells")


def elite_curves(
    task: str, scale: Scale, methods: Sequence[Method], num_seeds: int, cells: Path, console: Console
) -> tuple[list[int], np.ndarray]:
    """Generations of the tests, and the test scores of the elites [methods, seeds, tests]; methods have one setting."""
    num_weights = compiled_task(task, scale.task).num_weights
    jobs = [(method, seed) for method in methods for seed in range(num_seeds)]
    found = []
    for method, seed in track(jobs, description=task, console=console):
        size = method.size(scale.num_children, scale.num_generations, num_weights)
        found.append(outcome(run_cell(Run(task, scale.task, method, size, scale.test_every, seed)), cells))
    generations = found[0]["generations"].tolist()
    return generations, np.reshape([leaves["elite"] for leaves in found], (len(methods), num_seeds, -1))


def scale_for(task: str, preset: str, num_children: int | None, num_generations: int | None) -> Scale:
    """The size that the neuroevolution comparison has for the task, or a smaller one; tested four times."""
    scale = scale_of(task, preset)
    generations = num_generations or scale.num_generations
    return replace(
        scale,
        num_children=num_children or scale.num_children,
        num_generations=generations,
        test_every=max(1, generations // 4),
    )
