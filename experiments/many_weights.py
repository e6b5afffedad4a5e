"""Many weights, made up: algorithms on tasks of the family `teachers` that no training drew."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from rich.console import Console
from rich.progress import track
from rich.table import Table

from experiments.form import Experiment, Outcome, described
from lga.bench.methods import Method, methods_named
from lga.bench.statistics import interval_text, mean_interval
from lga.core.compile_cache import use_compilation_cache
from lga.core.interfaces import Algorithm
from lga.meta.config import MetaConfig, Scale, parse_scale
from lga.meta.families import teachers_family
from lga.meta.objective import Judge, Trial, searched
from lga.meta.speed_validation import task_keys
from lga.tasks.bbob import log10_gap

# Far from the seeds of training and of its validation.
TUNING_SEED, TEST_SEED = 770_000, 880_000
ELITE_RATIO = 0.25


@dataclass(frozen=True)
class ManyWeightsSettings:
    algorithms: tuple[str, ...] = ("lga-net", "lga-2", "lga-1", "sep_cma_es", "gaussian_ga", "samr_ga", "gesmr_ga")
    """The first one is held against all others."""
    scales: tuple[str, ...] = ("300x32x100", "1000x64x100", "4000x32x100", "12000x32x60")
    sigmas: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)
    num_tasks: int = 24


def last_generation() -> Judge:
    """The true loss of the median child in the end: what a search has come to, without luck."""
    return Judge(lambda: jnp.asarray(jnp.inf), lambda judged, t, _, losses: jnp.median(losses), lambda judged: judged)


def losses_of(algorithm: Algorithm, scale: Scale, num_tasks: int) -> Callable[[int, float], np.ndarray]:
    """The function from a seed and an initial rate to the logarithms of the losses, one for each task."""
    family = teachers_family(MetaConfig())

    @jax.jit
    def losses(keys, sigma) -> Float[Array, " tasks"]:
        def one(pair):
            task = family.draw(pair[0], (scale.num_dims, scale.num_dims))
            trial = Trial(task, sigma, jax.random.key_data(pair[1]))
            return searched(family, trial, algorithm, last_generation(), scale.num_generations)

        return log10_gap(jax.lax.map(one, keys))

    return lambda seed, sigma: np.asarray(losses(task_keys(seed, num_tasks), jnp.asarray(sigma)))


def run(settings: ManyWeightsSettings, out: Path, console: Console) -> Outcome:
    """Every algorithm has the initial rate that does best on other tasks."""
    use_compilation_cache()
    rows: list[dict[str, Any]] = []
    for scale in map(parse_scale, settings.scales):
        ours: np.ndarray | None = None
        for method in track(
            methods_named(settings.algorithms, scale.num_dims), description=str(scale), console=console
        ):
            sigma, losses = tuned_losses(method, scale, settings)
            ours = losses if ours is None else ours
            rows.append(
                {
                    "scale": str(scale),
                    "method": method.name,
                    "sigma0": sigma,
                    "mean_log10_loss": float(losses.mean()),
                    "ours_minus_this": mean_interval(ours - losses)._asdict(),
                }
            )
    table = Table(*HEADER)
    for row in rows:
        table.add_row(*cells(row))
    return Outcome({"config": described(settings), "rows": rows}, table)


def tuned_losses(method: Method, scale: Scale, settings: ManyWeightsSettings) -> tuple[float, np.ndarray]:
    sized = method.over((ELITE_RATIO,), settings.sigmas[:1])
    losses = losses_of(sized.at(*sized.settings[0]).algorithm(scale.num_children), scale, settings.num_tasks)
    sigma = min(settings.sigmas, key=lambda sigma: losses(TUNING_SEED, sigma).mean())
    return sigma, losses(TEST_SEED, sigma)


HEADER = ("weights x children x generations", "algorithm", "initial rate", "mean log10 loss", "first minus this (95 %)")


def cells(row: dict[str, Any]) -> list[str]:
    difference = row["ours_minus_this"]
    shown = "" if difference["mean"] == 0.0 else interval_text(difference, 2, signed=True)
    return [row["scale"], row["method"], f"{row['sigma0']:g}", f"{row['mean_log10_loss']:.2f}", shown]


EXPERIMENT = Experiment(
    "many weights: algorithms on made-up tasks of up to 12,000 weights that no training drew",
    {
        "smoke": ManyWeightsSettings(("lga-2", "samr_ga"), ("40x4x3",), (0.5, 1.0), num_tasks=2),
        "paper": ManyWeightsSettings(),
    },
    run,
)
