"""Learned genetic algorithms: attention-based operators discovered by meta-black-box optimisation."""

from lga.algorithms.genetic import genetic_algorithm
from lga.algorithms.presets import (
    PRESETS,
    cma_es,
    gaussian_ga,
    gesmr_ga,
    learned_ga,
    mr15_ga,
    preset,
    random_search,
    samr_ga,
    sep_cma_es,
)
from lga.algorithms.run import Trace, run
from lga.operators.theta import Theta, ThetaConfig, init_theta, load_theta, load_weights, save_theta

__version__ = "0.1.0"

presets = tuple(PRESETS)

__all__ = [
    "Theta",
    "ThetaConfig",
    "Trace",
    "cma_es",
    "gaussian_ga",
    "genetic_algorithm",
    "gesmr_ga",
    "init_theta",
    "learned_ga",
    "load_theta",
    "load_weights",
    "mr15_ga",
    "preset",
    "presets",
    "random_search",
    "run",
    "samr_ga",
    "save_theta",
    "sep_cma_es",
]
