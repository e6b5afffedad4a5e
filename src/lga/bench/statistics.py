"""Numbers that claims rest on: paired differences with intervals."""

from typing import NamedTuple

import numpy as np
from scipy import stats


class Interval(NamedTuple):
    mean: float
    low: float
    high: float


def mean_interval(values: np.ndarray, confidence: float = 0.95, seed: int = 0) -> Interval:
    """Mean with a bootstrap interval over independent values (basic percentile method)."""
    values = np.asarray(values, float).ravel()
    if values.size < 2 or np.ptp(values) == 0.0:
        return Interval(float(values.mean()), float(values.mean()), float(values.mean()))
    found = stats.bootstrap(
        (values,),
        np.mean,
        confidence_level=confidence,
        method="percentile",
        n_resamples=4000,
        rng=np.random.default_rng(seed),
    )
    return Interval(float(values.mean()), float(found.confidence_interval.low), float(found.confidence_interval.high))
