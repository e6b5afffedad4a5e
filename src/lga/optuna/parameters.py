"""Optuna's distributions as the variables of a search, and back.

A number is one variable, in steps or in its logarithm where the distribution says so. A choice among two is a whole
number; a choice among more is one variable for each, of which the largest wins: so no order is made up.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
    distribution_to_json,
)

CHOSEN, OTHERS = 0.75, 0.25
"""Where the variables of a choice are, in [0, 1], if all that is known is which of them won."""


class Variable(NamedTuple):
    low: float
    high: float
    integer: bool = False
    log: bool = False


def variables_of(distribution: BaseDistribution) -> list[Variable]:
    if isinstance(distribution, CategoricalDistribution):
        number = len(distribution.choices)
        return [Variable(0, 1, integer=True)] if number == 2 else [Variable(0, 1)] * number
    assert isinstance(distribution, FloatDistribution | IntDistribution)
    is_whole = isinstance(distribution, IntDistribution)
    if distribution.log or distribution.step is None:
        return [Variable(distribution.low, distribution.high, is_whole, distribution.log)]
    return [Variable(0, round((distribution.high - distribution.low) / distribution.step), integer=True)]


def value_of(distribution: BaseDistribution, x: Sequence[float]) -> Any:
    """What Optuna calls the value at the variables x."""
    if isinstance(distribution, CategoricalDistribution):
        place = round(x[0]) if len(x) == 1 else int(np.argmax(x))
        return distribution.choices[place]
    assert isinstance(distribution, FloatDistribution | IntDistribution)
    if distribution.log or distribution.step is None:
        number = x[0]
    else:
        number = distribution.low + distribution.step * round(x[0])
    kind = int if isinstance(distribution, IntDistribution) else float
    return kind(min(max(number, distribution.low), distribution.high))


def position_of(distribution: BaseDistribution, value: Any) -> list[float]:
    """Variables at which the distribution has this value."""
    if isinstance(distribution, CategoricalDistribution):
        place, number = int(distribution.to_internal_repr(value)), len(distribution.choices)
        return [float(place)] if number == 2 else [CHOSEN if other == place else OTHERS for other in range(number)]
    assert isinstance(distribution, FloatDistribution | IntDistribution)
    if distribution.log or distribution.step is None:
        return [float(value)]
    return [float(round((value - distribution.low) / distribution.step))]


@dataclass(frozen=True)
class Parameters:
    """The parameters that are searched for, by name: those that can have more than one value."""

    distributions: Mapping[str, BaseDistribution]

    @property
    def variables(self) -> list[Variable]:
        return [one for distribution in self.distributions.values() for one in variables_of(distribution)]

    @property
    def digest(self) -> str:
        """Equal for equal parameters, and no others."""
        described = {name: distribution_to_json(one) for name, one in self.distributions.items()}
        return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:12]

    def values(self, x: Float[np.ndarray, " d"]) -> dict[str, Any]:
        """Of all parameters, by name, at the variables x."""
        found, start = {}, 0
        for name, distribution in self.distributions.items():
            end = start + len(variables_of(distribution))
            found[name] = value_of(distribution, x[start:end].tolist())
            start = end
        return found

    def has(self, params: Mapping[str, Any], distributions: Mapping[str, BaseDistribution]) -> bool:
        """Whether a trial has all of these parameters, and with values that are possible here."""
        return all(
            name in params
            and isinstance(distributions[name], type(own))
            and own._contains(own.to_internal_repr(params[name]))
            for name, own in self.distributions.items()
        )

    def position(self, params: Mapping[str, Any]) -> Float[np.ndarray, " d"]:
        parts = [position_of(distribution, params[name]) for name, distribution in self.distributions.items()]
        return np.array([number for part in parts for number in part])


def only_value(distribution: BaseDistribution) -> Any:
    if isinstance(distribution, CategoricalDistribution):
        return distribution.choices[0]
    assert isinstance(distribution, FloatDistribution | IntDistribution)
    return distribution.low


def split(space: Mapping[str, BaseDistribution]) -> tuple[Parameters, dict[str, Any]]:
    """What there is to search for, and the values of the parameters that have only one."""
    several = {name: one for name, one in space.items() if not one.single()}
    return Parameters(several), {name: only_value(one) for name, one in space.items() if one.single()}
