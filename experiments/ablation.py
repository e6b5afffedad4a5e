"""Which operators are learned (the paper's figure 9); the others are the hand-designed ones of a Gaussian GA."""

from typing import Any

from experiments.sweep import training_study

VARIANTS: dict[str, dict[str, Any]] = {
    "selection and rate": {},
    "selection": {"learned": ("select",)},
    "rate": {"learned": ("rate",)},
    "selection, rate, crossover": {"learned": ("select", "rate", "cross")},
    "selection, rate, sampling": {"learned": ("select", "rate", "sample")},
    "all four": {"learned": ("select", "rate", "cross", "sample")},
}

EXPERIMENT = training_study(
    "ablation",
    "figure 9: meta-training of subsets of selection, rate, crossover and sampling",
    VARIANTS,
    "what is learned",
)
