"""Regressions of many coefficients: with absolute deviations, ill-conditioned, and sparse."""

import numpy as np

from experiments.problems.form import Point, Problem, reals

GENERATOR = np.random.default_rng(1805)

TEN = GENERATOR.normal(size=(60, 10)) * np.logspace(0, 1, 10)
TEN_SEEN = TEN @ GENERATOR.uniform(-2, 2, 10) + GENERATOR.standard_t(2, 60)


def absolute_deviations(b: Point) -> float:
    return float(np.abs(TEN @ b - TEN_SEEN).mean())


HUNDRED = GENERATOR.normal(size=(150, 100)) * np.logspace(0, 1.5, 100)
TRUE = GENERATOR.uniform(-3, 3, 100)
HUNDRED_SEEN = HUNDRED @ TRUE + GENERATOR.normal(size=150)


def squares(b: Point) -> float:
    return float(np.mean((HUNDRED @ b - HUNDRED_SEEN) ** 2))


LEAST_SQUARES = squares(np.linalg.lstsq(HUNDRED, HUNDRED_SEEN, rcond=None)[0])

WIDE = GENERATOR.normal(size=(80, 100))
WIDE_SEEN = WIDE[:, :8] @ GENERATOR.uniform(-3, 3, 8) + 0.3 * GENERATOR.normal(size=80)


def lasso(b: Point) -> float:
    return float(0.5 * np.mean((WIDE @ b - WIDE_SEEN) ** 2) + 0.1 * np.abs(b).sum())


PROBLEMS = {
    "absolute_deviations": Problem(
        "ten coefficients by least absolute deviations",
        reals(*[(-5, 5)] * 10),
        absolute_deviations,
        1.17756111475,
        1e-3,
        5000,
        tags=("fit",),
    ),
    "least_squares_100": Problem(
        "a hundred coefficients, condition 1000",
        reals(*[(-5, 5)] * 100),
        squares,
        LEAST_SQUARES,
        1.0,
        10_000,
        tags=("fit",),
    ),
    "lasso_100": Problem(
        "a hundred coefficients, of which few matter",
        reals(*[(-5, 5)] * 100),
        lasso,
        1.42424029420,
        0.1,
        8000,
        tags=("fit",),
    ),
}
