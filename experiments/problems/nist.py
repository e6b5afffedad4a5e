"""Nonlinear regressions of NIST's Statistical Reference Datasets, with certified sums of squares.

The boxes are what somebody would draw who knows the rough size of a parameter, and no more.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from experiments.problems.form import Point, Problem, Variable, reals

RELATIVE = 1e-6
"""Of the certified sum of squares, that may be missing."""


def exponential(b: Point, x: Any) -> Any:
    return b[0] * (1.0 - np.exp(-b[1] * x))


def kowalik(b: Point, x: Any) -> Any:
    return b[0] * (x**2 + x * b[1]) / (x**2 + x * b[2] + b[3])


def meyer(b: Point, x: Any) -> Any:
    return b[0] * np.exp(b[1] / (x + b[2]))


def growth(b: Point, x: Any) -> Any:
    return b[0] / (1.0 + np.exp(b[1] - b[2] * x)) ** (1.0 / b[3])


def peak(b: Point, x: Any) -> Any:
    return b[0] / b[1] * np.exp(-0.5 * ((x - b[2]) / b[1]) ** 2)


def cubics(b: Point, x: Any) -> Any:
    return (b[0] + b[1] * x + b[2] * x**2 + b[3] * x**3) / (1.0 + b[4] * x + b[5] * x**2 + b[6] * x**3)


def regression(
    about: str,
    model: Callable[[Point, Any], Any],
    x: Any,
    y: Any,
    certified: float,
    variables: Sequence[Variable],
    evaluations: int,
) -> Problem:
    """The sum of squares in units of the certified one, so that the best is 1."""
    at, observed = np.array(x, float), np.array(y, float)

    def value(b: Point) -> float:
        with np.errstate(all="ignore"):
            return float(np.sum((model(b, at) - observed) ** 2)) / certified

    return Problem(about, variables, value, 1.0, RELATIVE, evaluations, tags=("fit",))


def numbers(text: str) -> list[float]:
    return [float(word) for word in text.split()]


# Where was observed, and what.
MISRA = (
    numbers("77.6 114.9 141.1 190.8 239.9 289.0 332.8 378.4 434.8 477.3 536.8 593.1 689.1 760.0"),
    numbers("10.07 14.73 17.94 23.93 29.61 35.18 40.02 44.82 50.76 55.05 61.01 66.4 75.47 81.78"),
)
BOX = (
    numbers("1 2 3 5 7 10"),
    numbers("109 149 149 191 213 224"),
)
KOWALIK = (
    numbers("4.0 2.0 1.0 0.5 0.25 0.167 0.125 0.1 0.0833 0.0714 0.0625"),
    numbers("0.1957 0.1947 0.1735 0.16 0.0844 0.0627 0.0456 0.0342 0.0323 0.0235 0.0246"),
)
MEYER = (
    range(50, 130, 5),
    numbers("34780 28610 23650 19630 16370 13720 11540 9744 8261 7030 6005 5147 4427 3820 3307 2872"),
)
ONIONS = (
    range(1, 16),
    numbers("16.08 33.83 65.8 97.2 191.55 326.2 386.87 520.53 590.03 651.92 724.93 699.56 689.96 637.56 717.41"),
)
TRANSMITTANCE = (
    numbers(
        "400 405 410 415 420 425 430 435 436.5 438 439.5 441 442.5 444 445.5 447 448.5 450 451.5 453 454.5 456 "
        "457.5 459 460.5 462 463.5 465 470 475 480 485 490 495 500"
    ),
    numbers(
        "0.0001575 0.0001699 0.000235 0.0003102 0.0004917 0.000871 0.0017418 0.00464 0.0065895 0.0097302 "
        "0.0149002 0.023731 0.0401683 0.0712559 0.1264458 0.2073413 0.2902366 0.3445623 0.3698049 0.3668534 "
        "0.3106727 0.2078154 0.1164354 0.0616764 0.03372 0.0194023 0.0117831 0.0074357 0.0022732 0.00088 "
        "0.0004579 0.0002345 0.0001586 0.0001143 0.000071"
    ),
)
MOBILITY = (
    numbers(
        "-3.067 -2.981 -2.921 -2.912 -2.84 -2.797 -2.702 -2.699 -2.633 -2.481 -2.363 -2.322 -1.501 -1.46 -1.274 "
        "-1.212 -1.1 -1.046 -0.915 -0.714 -0.566 -0.545 -0.4 -0.309 -0.109 -0.103 0.01 0.119 0.377 0.79 0.963 "
        "1.006 1.115 1.572 1.841 2.047 2.2"
    ),
    numbers(
        "80.574 84.248 87.264 87.195 89.076 89.608 89.868 90.101 92.405 95.854 100.696 101.06 401.672 390.724 "
        "567.534 635.316 733.054 759.087 894.206 990.785 1090.109 1080.914 1122.643 1178.351 1260.531 1273.514 "
        "1288.339 1327.543 1353.863 1414.509 1425.208 1421.384 1442.962 1464.35 1468.705 1447.894 1457.628"
    ),
)

PROBLEMS = {
    "misra1a": regression(
        "adsorption, NIST Misra1a", exponential, *MISRA, 1.2455138894e-01, reals((1, 1000), (1e-6, 1e-2)), 1000
    ),
    "boxbod": regression(
        "oxygen demand, NIST BoxBOD", exponential, *BOX, 1.1680088766e03, reals((1, 1000), (0, 10)), 500
    ),
    "mgh09": regression(
        "Kowalik and Osborne, NIST MGH09", kowalik, *KOWALIK, 3.0750560385e-04, reals(*[(0, 10)] * 4), 3000
    ),
    "mgh10": regression(
        "thermistor, NIST MGH10", meyer, *MEYER, 8.7945855171e01, reals((1e-4, 0.1), (1000, 10000), (100, 1000)), 4000
    ),
    "rat43": regression(
        "onions, NIST Rat43", growth, *ONIONS, 8.7864049080e03, reals((100, 1000), (0, 10), (0, 5), (0.1, 5)), 2000
    ),
    "eckerle4": regression(
        "transmittance, NIST Eckerle4",
        peak,
        *TRANSMITTANCE,
        1.4635887487e-03,
        reals((0, 10), (1, 20), (400, 500)),
        1500,
    ),
    "thurber": regression(
        "electron mobility, NIST Thurber",
        cubics,
        *MOBILITY,
        5.6427082397e03,
        reals((0, 2000), (0, 3000), (0, 1000), (0, 200), (0, 2), (0, 1), (0, 0.2)),
        7000,
    ),
}
CERTIFIED = {
    "misra1a": (2.3894212918e02, 5.5015643181e-04),
    "boxbod": (2.1380940889e02, 5.4723748542e-01),
    "mgh09": (1.9280693458e-01, 1.9128232873e-01, 1.2305650693e-01, 1.3606233068e-01),
    "mgh10": (5.6096364710e-03, 6.1813463463e03, 3.4522363462e02),
    "rat43": (6.9964151270e02, 5.2771253025e00, 7.5962938329e-01, 1.2792483859e00),
    "eckerle4": (1.5543827178e00, 4.0888321754e00, 4.5154121844e02),
    "thurber": (
        1.2881396800e03,
        1.4910792535e03,
        5.8323836877e02,
        7.5416644291e01,
        9.6629502864e-01,
        3.9797285797e-01,
        4.9727297349e-02,
    ),
}
"""The parameters; a test checks that they give the certified sum of squares."""
