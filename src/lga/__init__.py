"""Learned genetic algorithms: attention-based operators discovered by meta-black-box optimisation.

What is named in `__all__` is for users; everything else may change. Names are imported when they are first used, so
that worker processes that only need a part do not import JAX.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lga import operators as operators
    from lga import weights as weights
    from lga.algorithms.genetic import genetic_algorithm as genetic_algorithm
    from lga.algorithms.presets import ALGORITHMS as ALGORITHMS
    from lga.algorithms.presets import cma_es as cma_es
    from lga.algorithms.presets import distilled_ga as distilled_ga
    from lga.algorithms.presets import gaussian_ga as gaussian_ga
    from lga.algorithms.presets import gesmr_ga as gesmr_ga
    from lga.algorithms.presets import learned_ga as learned_ga
    from lga.algorithms.presets import ma_es as ma_es
    from lga.algorithms.presets import mr15_ga as mr15_ga
    from lga.algorithms.presets import random_search as random_search
    from lga.algorithms.presets import samr_ga as samr_ga
    from lga.algorithms.presets import sep_cma_es as sep_cma_es
    from lga.algorithms.run import Trace as Trace
    from lga.algorithms.run import run as run
    from lga.analysis.result import plot as plot
    from lga.bench.own_tasks import Trained as Trained
    from lga.bench.own_tasks import train as train
    from lga.meta.config import MetaConfig as MetaConfig
    from lga.neuroevolution import Judging as Judging
    from lga.operators.fold import init_theta as init_theta
    from lga.operators.theta import Theta as Theta
    from lga.operators.theta import ThetaConfig as ThetaConfig
    from lga.optimize.evolve import evolve as evolve
    from lga.optimize.minimize import minimize as minimize
    from lga.optimize.optimizer import Optimizer as Optimizer
    from lga.optimize.variables import Integer as Integer
    from lga.optimize.variables import Log as Log
    from lga.tasks import bbob as bbob
    from lga.tasks.family import family as family
    from lga.weights import load_theta as load_theta
    from lga.weights import save_theta as save_theta

__version__ = "0.1.0"

HOMES = {
    "lga": ("operators", "weights"),
    "lga.algorithms.genetic": ("genetic_algorithm",),
    "lga.algorithms.presets": (
        "ALGORITHMS",
        "cma_es",
        "distilled_ga",
        "gaussian_ga",
        "gesmr_ga",
        "learned_ga",
        "ma_es",
        "mr15_ga",
        "random_search",
        "samr_ga",
        "sep_cma_es",
    ),
    "lga.algorithms.run": ("Trace", "run"),
    "lga.analysis.result": ("plot",),
    "lga.bench.own_tasks": ("Trained", "train"),
    "lga.meta.config": ("MetaConfig",),
    "lga.neuroevolution": ("Judging",),
    "lga.operators.fold": ("init_theta",),
    "lga.operators.theta": ("Theta", "ThetaConfig"),
    "lga.optimize.evolve": ("evolve",),
    "lga.optimize.minimize": ("minimize",),
    "lga.optimize.optimizer": ("Optimizer",),
    "lga.optimize.variables": ("Integer", "Log"),
    "lga.tasks": ("bbob",),
    "lga.tasks.family": ("family",),
    "lga.weights": ("load_theta", "save_theta"),
}
HOME_OF = {name: home for home, names in HOMES.items() for name in names}
__all__ = sorted(HOME_OF)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in HOME_OF:
        raise AttributeError(f"module 'lga' has no attribute {name!r}")
    home = HOME_OF[name]
    is_module = home in ("lga", "lga.tasks")
    value = import_module(f"{home}.{name}") if is_module else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
