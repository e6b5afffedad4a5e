"""Weights that are all zero, for tests that need some."""

from lga.operators.fold import theta_layout
from lga.operators.theta import ThetaConfig
from lga.weights.resolve import known_by_content

ZERO = known_by_content("zero", theta_layout(ThetaConfig()), {})
