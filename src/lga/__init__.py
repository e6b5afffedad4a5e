"""Learned genetic algorithms: attention-based operators discovered by meta-black-box optimisation.

Names are imported when they are first used, so that worker processes that only need a part do not import JAX.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lga.algorithms.genetic import genetic_algorithm as genetic_algorithm
    from lga.algorithms.presets import cma_es as cma_es
    from lga.algorithms.presets import gaussian_ga as gaussian_ga
    from lga.algorithms.presets import gesmr_ga as gesmr_ga
    from lga.algorithms.presets import learned_ga as learned_ga
    from lga.algorithms.presets import mr15_ga as mr15_ga
    from lga.algorithms.presets import preset as preset
    from lga.algorithms.presets import random_search as random_search
    from lga.algorithms.presets import samr_ga as samr_ga
    from lga.algorithms.presets import sep_cma_es as sep_cma_es
    from lga.algorithms.run import Trace as Trace
    from lga.algorithms.run import run as run
    from lga.operators.fold import init_theta as init_theta
    from lga.operators.theta import Theta as Theta
    from lga.operators.theta import ThetaConfig as ThetaConfig
    from lga.optimize.minimize import minimize as minimize
    from lga.optimize.optimizer import Optimizer as Optimizer
    from lga.weights import load_theta as load_theta
    from lga.weights import save_theta as save_theta

__version__ = "0.1.0"

HOMES = {
    "lga.algorithms.genetic": ("genetic_algorithm",),
    "lga.algorithms.presets": (
        "cma_es",
        "gaussian_ga",
        "gesmr_ga",
        "learned_ga",
        "mr15_ga",
        "preset",
        "random_search",
        "samr_ga",
        "sep_cma_es",
    ),
    "lga.algorithms.run": ("Trace", "run"),
    "lga.operators.fold": ("init_theta",),
    "lga.operators.theta": ("Theta", "ThetaConfig"),
    "lga.optimize.minimize": ("minimize",),
    "lga.optimize.optimizer": ("Optimizer",),
    "lga.weights": ("load_theta", "save_theta"),
}
HOME_OF = {name: home for home, names in HOMES.items() for name in names}
__all__ = sorted([*HOME_OF, "presets"])  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name == "presets":
        value: Any = tuple(import_module("lga.algorithms.presets").PRESETS)
    elif name in HOME_OF:
        value = getattr(import_module(HOME_OF[name]), name)
    else:
        raise AttributeError(f"module 'lga' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
