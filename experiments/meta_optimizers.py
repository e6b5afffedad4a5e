"""Who moves the weights (the paper's figure 15)."""

from typing import Any

from experiments.sweep import training_study

VARIANTS: dict[str, dict[str, Any]] = {
    "OpenES": {},
    "SNES": {"optimizer": "snes"},
    "PGPE": {"optimizer": "pgpe"},
    "Sep-CMA-ES": {"optimizer": "sep_cma_es"},
    "CMA-ES": {"optimizer": "cma_es"},
    "GA": {"optimizer": "ga"},
}

EXPERIMENT = training_study("meta_optimizers", "figure 15: meta-optimisers", VARIANTS, "meta-optimiser")
