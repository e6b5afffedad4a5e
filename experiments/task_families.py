"""Functions that are trained on (the paper's figure 14): one, five or ten."""

from typing import Any

from experiments.sweep import training_study

VARIANTS: dict[str, dict[str, Any]] = {
    "large": {},
    "medium": {"family": ("medium",)},
    "small": {"family": ("small",)},
}

EXPERIMENT = training_study(
    "task_families", "figure 14: one, five or ten functions to train on", VARIANTS, "family of functions"
)
