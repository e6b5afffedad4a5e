"""The paper's studies of meta-training: one recipe, one thing changed at a time, watched on functions and networks."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from experiments.form import Experiment, Outcome
from experiments.variants import Variants, VariantsSettings, compare_variants, draw_panels
from lga.meta.config import MetaConfig

# A function that training has and one that it never has, and the paper's two network tasks.
WATCHED: dict[str, Any] = {
    "validation_functions": ("rastrigin", "sharp_ridge"),
    "validation_scales": ("10x16x50",),
    "validation_tasks": ("pendulum", "mnist-14"),
}
RUNS = Path("runs/studies")

PAPER = VariantsSettings(replace(MetaConfig(), **WATCHED), num_seeds=3, runs=RUNS)
# An eight hundredth of the paper's inner generations, so the steps of the meta-mean are three times as large.
SMALL = replace(
    PAPER,
    training=replace(
        PAPER.training, meta_generations=60, meta_population=64, num_tasks=32, learning_rate=0.03, validate_every=20
    ),
)
SMOKE = VariantsSettings(
    replace(
        PAPER.training,
        meta_generations=2,
        meta_population=4,
        num_tasks=2,
        num_generations=(3, 3),
        validate_every=1,
        validation_scales=("2x4x3",),
        validation_tasks=(),
    ),
    num_seeds=1,
    runs=Path("runs/studies-smoke"),
)


def training_study(name: str, shows: str, variants: Variants, heading: str) -> Experiment:
    """An experiment of the one form: variants of the paper's recipe."""

    def run(settings: VariantsSettings, out: Path, console: Console) -> Outcome:
        return compare_variants(variants, settings, out / f"{name}.png", heading, console, draw_panels)

    return Experiment(shows, {"smoke": SMOKE, "small": SMALL, "paper": PAPER}, run)
