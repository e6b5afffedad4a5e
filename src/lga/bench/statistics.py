"""Numbers that claims rest on: paired differences with intervals."""

from typing import NamedTuple

import numpy as np
from scipy import stats

SMALLEST_GAP = 1e-8
"""Gaps below count as this: COCO's last target."""


def log10_gaps(gaps: np.ndarray) -> np.ndarray:
    return np.log10(np.maximum(gaps, SMALLEST_GAP))


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


class Ranking(NamedTuple):
    """Mean ranks over blocks (functions), with Friedman's test and Nemenyi's critical difference."""

    mean_ranks: dict[str, float]
    p_value: float
    critical_difference: float


def ranking(scores: dict[str, np.ndarray], confidence: float = 0.95) -> Ranking:
    """Ranks the methods on every block (less is better, ties share ranks)."""
    table = np.stack(list(scores.values()), axis=1)
    num_blocks, num_methods = table.shape
    mean_ranks = stats.rankdata(table, axis=1).mean(axis=0)
    p_value = stats.friedmanchisquare(*table.T).pvalue if num_methods > 2 else float("nan")
    spread = np.sqrt(num_methods * (num_methods + 1) / (6.0 * num_blocks))
    quantile = stats.studentized_range.ppf(confidence, num_methods, np.inf) / np.sqrt(2.0)
    return Ranking(dict(zip(scores, mean_ranks.tolist(), strict=True)), float(p_value), float(quantile * spread))


def runtime_profile(best_so_far: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Share of all pairs of run and target that are reached, for each generation (the last axis): COCO's ECDF."""
    reached = best_so_far[..., None, :] <= targets[:, None]
    return reached.reshape(-1, best_so_far.shape[-1]).mean(axis=0)
