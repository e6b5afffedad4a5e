"""Decay of the meta-mean (the paper's figure 3): does it help what is learned to carry over to networks?"""

from typing import Any

from experiments.sweep import training_study

VARIANTS: dict[str, dict[str, Any]] = {
    "lambda 0": {},
    "lambda 0.005": {"mean_decay": 0.005},
    "lambda 0.02": {"mean_decay": 0.02},
}

EXPERIMENT = training_study(
    "regularization",
    "figure 3: decay of the meta-mean, watched on two functions and two network tasks",
    VARIANTS,
    "decay of the meta-mean",
)
