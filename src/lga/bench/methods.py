"""The one roster: what a method is called, how it is built, what of it is tuned, and how large its population is."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log
from typing import Any, NamedTuple

from lga.algorithms import presets
from lga.algorithms.strategies import evolution_strategy, evosax_learned_ga, open_es
from lga.core.checks import require
from lga.core.interfaces import Algorithm
from lga.weights import Weights, resolve_all

LEARNED_ELITE_RATIO = 1.0  # as they were trained
STRATEGY_ELITE_RATIO = 0.5  # CMA-ES recombines the better half


def given_population(num_children: int, num_dims: int) -> int:
    """As large as the comparison says."""
    return num_children


def cma_population(num_children: int, num_dims: int) -> int:
    """The default of CMA-ES."""
    return 4 + int(3 * log(num_dims))


@dataclass(frozen=True)
class SuitedPopulation:
    """What suits the weights, and `lga.minimize` starts with."""

    weights: Weights

    def __call__(self, num_children: int, num_dims: int) -> int:
        return self.weights.population(num_dims)


class Size(NamedTuple):
    """How a method spends its evaluations, after those of its initial solutions."""

    num_children: int
    num_generations: int


@dataclass(frozen=True)
class Method:
    """An algorithm as it enters a comparison, with the grid that it may be tuned over; one setting is a tuned method.

    It can be pickled, and all that decides a search is in `identity` and `Size`.
    """

    name: str
    preset: str
    family: str
    """genetic, learned, strategy, random or peer: another package's own."""
    tunes: tuple[str, ...] = ("elite_ratio", "sigma")
    """What a comparison's grid replaces; the rest stays as it is here."""
    elite_ratios: tuple[float, ...] = (0.5,)
    sigmas: tuple[float, ...] = (0.5,)
    best_shares: tuple[float | None, ...] = (None,)
    """For weights that blend parents: the share that children start from as they are, None for blends of them."""
    population: Callable[[int, int], int] = given_population
    """The rule from the comparison's population size and the number of dimensions to the method's own."""
    weights: Weights | None = None

    @property
    def settings(self) -> list[tuple[float, float]]:
        """All pairs of elite ratio and initial rate."""
        return [(elite_ratio, sigma) for elite_ratio in self.elite_ratios for sigma in self.sigmas]

    @property
    def candidates(self) -> list["Method"]:
        """Itself with each one of all its settings."""
        return [
            replace(self.at(*setting), best_shares=(best_share,))
            for best_share in self.best_shares
            for setting in self.settings
        ]

    @property
    def elite_ratio(self) -> float:
        return self.setting[0]

    @property
    def sigma(self) -> float:
        return self.setting[1]

    @property
    def setting(self) -> tuple[float, float]:
        num_settings = len(self.candidates)
        require(num_settings == 1, f"{self.name} has {num_settings} settings: it must be tuned first.")
        return self.settings[0]

    @property
    def best_share(self) -> float | None:
        return self.best_shares[0]

    @property
    def identity(self) -> dict[str, Any]:
        """What decides the searches of a tuned method, beside its size."""
        digest = self.weights.digest if self.weights is not None else ""
        own = {"preset": self.preset, "weights": digest, "elite_ratio": self.elite_ratio, "sigma": self.sigma}
        return own if self.best_share is None else own | {"best_share": self.best_share}

    def at(self, elite_ratio: float, sigma: float) -> "Method":
        return replace(self, elite_ratios=(elite_ratio,), sigmas=(sigma,))

    def over(self, elite_ratios: Sequence[float], sigmas: Sequence[float]) -> "Method":
        """With the grid of a comparison, for what is tuned."""
        grid = {"elite_ratios": tuple(elite_ratios), "sigmas": tuple(sigmas)}
        return replace(self, **{name: grid[name] for name in grid if name.removesuffix("s") in self.tunes})

    def size(self, num_children: int, num_generations: int, num_dims: int, evaluate_start: bool = True) -> Size:
        """Its own population, and as many generations as the comparison's number of evaluations allows for."""
        own = self.population(num_children, num_dims)
        at_start = int(evaluate_start)
        generations = num_children * (num_generations + at_start) // own - at_start
        require(generations >= 1, f"{self.name} has a population of {own}, and no evaluations for a generation.")
        return Size(own, generations)

    def algorithm(self, num_children: int) -> Algorithm:
        if self.weights is not None:
            theta = self.weights.theta
            return presets.learned_ga(theta, num_children, self.elite_ratio, best_share=self.best_share)
        if self.family == "strategy":
            return STRATEGIES[self.preset](num_children)
        if self.family == "peer":
            return PEERS[self.preset](num_children, self.elite_ratio)
        if self.family == "genetic":
            return presets.ALGORITHMS[self.preset](num_children, self.elite_ratio)
        return presets.ALGORITHMS[self.preset](num_children)


STRATEGIES: dict[str, Callable[[int], Algorithm]] = {
    "sep_cma_es": presets.sep_cma_es,
    "cma_es": partial(evolution_strategy, "CMA_ES"),
}
"""To compare with: evosax's, as all of the tables have them."""
PEERS: dict[str, Callable[..., Algorithm]] = {
    "evosax_learned_ga": evosax_learned_ga,
    "open_es": lambda num_children, elite_ratio: open_es(num_children),
}


def strategy(name: str, preset: str, population: Callable[[int, int], int] = given_population) -> Method:
    return Method(name, preset, "strategy", ("sigma",), (STRATEGY_ELITE_RATIO,), population=population)


# By the names that people type.
HAND_DESIGNED: dict[str, Method] = {
    "gaussian_ga": Method("Gaussian GA", "gaussian_ga", "genetic"),
    "mr15_ga": Method("MR-1/5 GA", "mr15_ga", "genetic"),
    "samr_ga": Method("SAMR-GA", "samr_ga", "genetic"),
    "gesmr_ga": Method("GESMR-GA", "gesmr_ga", "genetic"),
    "sep_cma_es": strategy("Sep-CMA-ES", "sep_cma_es"),
    "cma_es": strategy("CMA-ES", "cma_es"),
    "cma_es_default": strategy("CMA-ES, default population", "cma_es", cma_population),
    "random_search": Method("random search", "random_search", "random", ()),
}
# CMA-ES with a full matrix takes long to compile, for each population size and number of dimensions.
QUICK_BASELINES = tuple(method for method in HAND_DESIGNED.values() if method.preset != "cma_es")


# What was learned, as rules by hand: no baseline, so not among the hand-designed.
DISTILLED_GA = Method("distilled GA", "distilled_ga", "genetic")
DISTILLED_AS_IT_IS = replace(DISTILLED_GA, name="distilled GA, untuned", tunes=()).at(1.0, 0.5)
# evosax's learned GA run by evosax itself: over the grid like all others, and as it comes, with its own initial rate.
EVOSAX_LEARNED_GA = Method("evosax's LearnedGA", "evosax_learned_ga", "peer")
EVOSAX_AS_IT_COMES = replace(EVOSAX_LEARNED_GA, name="evosax's LearnedGA, untuned", tunes=()).at(1.0, 1.0)


# Made for networks, and compared with there alone.
OPEN_ES = Method("OpenES", "open_es", "peer", ("sigma",), (STRATEGY_ELITE_RATIO,))
BY_NAME = HAND_DESIGNED | {OPEN_ES.preset: OPEN_ES}


def learned(weights: Weights, tunes: tuple[str, ...] = ("elite_ratio", "sigma")) -> Method:
    return Method(
        weights.name, "learned_ga", "learned", tunes, (LEARNED_ELITE_RATIO,), (weights.sigma0,), weights=weights
    )


def as_shipped(weights: Weights) -> Method:
    """What a user gets: nothing is tuned."""
    return learned(weights, tunes=())


def require_own_names(methods: Sequence[Method]) -> None:
    """A comparison tells methods apart by name: two of one name would be one row, with the figures of the second."""
    names = [method.name for method in methods]
    twice = sorted({name for name in names if names.count(name) > 1})
    require(not twice, f"two methods would both be shown as {', '.join(twice)}: rename a file of weights.")


def methods_named(names: Sequence[str], num_dims: int) -> Iterator[Method]:
    """Methods by name; evosax-lga, installed names and files of weights are learned ones.

    Of a learned method only the rate is tuned: the elite ratio is that of its training.
    """
    sources = [name for name in names if name not in BY_NAME]
    taken = [*BY_NAME, *(method.name for method in BY_NAME.values())]
    found = dict(zip(sources, resolve_all(sources, num_dims, taken).values(), strict=True))
    for name in names:
        yield BY_NAME[name] if name in BY_NAME else learned(found[name], ("sigma",))
