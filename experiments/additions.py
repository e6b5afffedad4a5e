"""What each addition to the paper's algorithm brings: the same short training, with one thing changed at a time."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from experiments.form import Experiment, Outcome
from experiments.variants import VariantsSettings, compare_variants
from lga.meta.config import PRESETS, MetaConfig

PAPERS = ("select", "rate")
# From the paper's operators and search space, one step at a time.
VARIANTS: dict[str, dict[str, Any]] = {
    "select, rate; moving all weights": {"learned": PAPERS, "search_space": "weights"},
    "select, rate; moving folded numbers": {"learned": PAPERS},
    "and learned sampling": {"learned": (*PAPERS, "sample")},
    "and jitter instead": {"learned": (*PAPERS, "jitter")},
    "and blending instead": {"learned": (*PAPERS, "blend")},
    "sampling, jitter and blending": {"learned": (*PAPERS, "sample", "blend", "jitter")},
}


def short_training() -> MetaConfig:
    """The laptop's, by the paper's meta-optimiser: it can move all weights as well as the folded numbers."""
    steps = {"learning_rate": 0.03, "learning_rate_decay": 0.995, "learning_rate_final": 0.003, "meta_sigma": 0.1}
    return replace(PRESETS["laptop"], meta_generations=100, optimizer="open_es", averaging=0.0, **steps)


def run(settings: VariantsSettings, out: Path, console: Console) -> Outcome:
    return compare_variants(VARIANTS, settings, out / "additions.png", "what is learned", console)


EXPERIMENT = Experiment(
    "what each addition to the paper's algorithm brings: the same short training, one thing changed at a time",
    {
        "smoke": VariantsSettings(
            replace(PRESETS["smoke"], optimizer="open_es", averaging=0.0, meta_generations=2, validate_every=1),
            num_seeds=1,
            runs=Path("runs/additions-smoke"),
        ),
        "paper": VariantsSettings(short_training(), num_seeds=2, runs=Path("runs/additions")),
    },
    run,
)
