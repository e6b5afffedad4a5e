"""Weights of learned operators: those that ship with the package, files, and the one way from a name to them."""

from lga.weights.evosax import EVOSAX_LGA, theta_from_evosax
from lga.weights.files import load_theta, save_theta
from lga.weights.resolve import DEFAULT_WEIGHTS, NETWORK_WEIGHTS, Weights, installed, resolve, resolve_all

__all__ = [
    "DEFAULT_WEIGHTS",
    "EVOSAX_LGA",
    "NETWORK_WEIGHTS",
    "Weights",
    "installed",
    "load_theta",
    "resolve",
    "resolve_all",
    "save_theta",
    "theta_from_evosax",
]
