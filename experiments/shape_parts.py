"""What each part of the learned shape brings: the same short training, with one part left out at a time."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from experiments.form import Experiment, Outcome
from experiments.variants import VariantsSettings, compare_variants
from lga.meta.config import PRESETS, MetaConfig

OTHERS = ("select", "rate", "sample", "blend", "jitter")
SHAPE = (*OTHERS, "shape")
VARIANTS: dict[str, dict[str, Any]] = {
    "all parts": {},
    "no shape": {"learned": OTHERS},
    "one scale per variable, no matrix": {"learned": (*OTHERS, "separable")},
    "no path": {"without": ("path",)},
    "no negative weights": {"without": ("against",)},
    "no drift": {"without": ("drift",)},
    "constants of the shape fixed": {"fixed": ("shape",)},
    "trained at 50 generations only": {"scales": ("5x10x50-50", "20x16x50-50")},
    "independent noise and survivors": {"without": ("balance",)},
}


def short_training() -> MetaConfig:
    return replace(
        PRESETS["laptop"],
        learned=SHAPE,
        search_space="compact",
        start="strategy",
        scales=("5x10x20-300", "20x16x20-600"),
        sigma0=(0.2, 2.0),
        sigma0_law="log",
        noise=("none",),
        meta_generations=40,
        meta_population=32,
        num_tasks=16,
        objective="anytime",
        normalization="soft",
        meta_sigma=0.1,
        validate_every=20,
        validation_scales=("5x10x50", "5x10x300", "20x16x100", "20x16x600"),
        validation_sigma0=1.0,
    )


def run(settings: VariantsSettings, out: Path, console: Console) -> Outcome:
    return compare_variants(VARIANTS, settings, out / "shape_parts.png", "what is left out", console)


EXPERIMENT = Experiment(
    "what each part of the learned shape brings: the same short training, one part left out at a time",
    {
        "smoke": VariantsSettings(
            replace(
                short_training(),
                family=("small",),
                scales=("2x4x3-6",),
                meta_generations=1,
                meta_population=4,
                num_tasks=2,
                validate_every=1,
                validation_scales=("2x4x3",),
            ),
            num_seeds=1,
            runs=Path("runs/shape_parts-smoke"),
        ),
        "paper": VariantsSettings(short_training(), num_seeds=3, runs=Path("runs/shape_parts")),
    },
    run,
)
