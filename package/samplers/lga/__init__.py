"""The learned genetic algorithm as a package of OptunaHub; the sampler itself is in `lga.optuna`."""

from lga.optuna import LGASampler

__all__ = ["LGASampler"]
