"""Models of differential equations that are fitted to data."""

from collections.abc import Callable

import numpy as np

from experiments.problems.form import Point, Problem, Variable, reals

Pair = tuple[float, float]
FARTHEST = 1e6
"""What runs away stays there."""


def trajectory(change: Callable[[float, float], Pair], start: Pair, step: float, number: int) -> np.ndarray:
    """Runge and Kutta's classical steps, in plain numbers: arrays of two would take ten times as long."""
    states = [start]
    for _ in range(number):
        x, y = states[-1]
        a, b = change(x, y)
        c, d = change(x + 0.5 * step * a, y + 0.5 * step * b)
        e, f = change(x + 0.5 * step * c, y + 0.5 * step * d)
        g, h = change(x + step * e, y + step * f)
        after = (x + step / 6.0 * (a + 2.0 * c + 2.0 * e + g), y + step / 6.0 * (b + 2.0 * d + 2.0 * f + h))
        states.append((limited(after[0]), limited(after[1])))
    return np.array(states)


def limited(x: float) -> float:
    return min(max(x, -FARTHEST), FARTHEST)


def predators(b: Point) -> np.ndarray:
    birth, eaten, death, growth = map(float, b)

    def change(prey: float, hunters: float) -> Pair:
        return prey * (birth - eaten * hunters), hunters * (growth * prey - death)

    return trajectory(change, (10.0, 5.0), 0.1, 100)[::5]


PREDATORS = (1.1, 0.4, 0.4, 0.1)
"""The parameters that the data were made with."""
HUNTED = predators(np.array(PREDATORS))


def predators_misfit(b: Point) -> float:
    return float(np.sum((predators(b) - HUNTED) ** 2))


IN_BED = np.array([3, 8, 26, 76, 225, 298, 258, 233, 189, 128, 68, 29, 14, 4], float)
"""Boys in bed in an English boarding school, January and February 1978; there were 763."""


def epidemic_misfit(b: Point) -> float:
    """Infection and recovery per day, and how many were infected at first."""

    infection, recovery, first = map(float, b)

    def change(well: float, ill: float) -> Pair:
        caught = infection * well * ill / 763.0
        return -caught, caught - recovery * ill

    ill = trajectory(change, (763.0 - first, first), 0.25, 52)[::4, 1]
    return float(np.sum((ill - IN_BED) ** 2))


CELLS, TIMES = 32, 40
ALONG_ROD = (np.arange(CELLS) + 0.5) / CELLS


def rod(b: Point) -> np.ndarray:
    """Temperatures of a rod: diffusivity, and place, width and strength of what heats it. Implicit steps in time."""
    diffusivity, place, width, strength = b
    source = strength * np.exp(-0.5 * ((ALONG_ROD - place) / width) ** 2)
    flow = diffusivity * CELLS**2
    matrix = (
        (1.0 + 2.0 * flow * 0.05) * np.eye(CELLS) - flow * 0.05 * np.eye(CELLS, k=1) - flow * 0.05 * np.eye(CELLS, k=-1)
    )
    backward = np.linalg.inv(matrix)
    heat, seen = np.zeros(CELLS), []
    for _ in range(TIMES):
        heat = backward @ (heat + 0.05 * source)
        seen.append(heat[::8])
    return np.array(seen)


HEATED = rod(np.array([0.02, 0.35, 0.06, 3.0]))


def rod_misfit(b: Point) -> float:
    return float(np.sum((rod(b) - HEATED) ** 2))


REACTOR_TIMES = np.linspace(0.0, 2.0, 21)


def reactor(b: Point) -> np.ndarray:
    """Three reactions in a row, at rates that are orders of magnitude apart: the amounts have a closed form."""
    first, second, third = b
    a = np.exp(-first * REACTOR_TIMES)
    gap = np.where(abs(second - first) < 1e-9, 1e-9, second - first)
    middle = first / gap * (a - np.exp(-second * REACTOR_TIMES))
    end = np.exp(-third * REACTOR_TIMES) * np.cumsum(third * middle) * 0.1
    return np.stack([a, middle, end])


REACTED = reactor(np.array([30.0, 0.7, 3.0]))


def reactor_misfit(b: Point) -> float:
    return float(np.sum((reactor(b) - REACTED) ** 2))


PROBLEMS = {
    "predators": Problem(
        "Lotka and Volterra's equations, four rates",
        reals(*[(0.01, 2.0)] * 4),
        predators_misfit,
        0.0,
        1e-4,
        1500,
        tags=("fit",),
    ),
    "epidemic": Problem(
        "an epidemic in a school, three parameters",
        reals((0, 10), (0, 5), (0.01, 20)),
        epidemic_misfit,
        3589.880876,
        0.5,
        800,
        tags=("fit",),
    ),
    "rod": Problem(
        "where a rod is heated: a partial differential equation",
        [Variable(1e-4, 1.0, log=True), *reals((0, 1), (0.01, 0.5), (0, 20))],
        rod_misfit,
        0.0,
        1e-6,
        2000,
        tags=("fit",),
    ),
    "reactor": Problem(
        "three rates of reactions, searched in decades",
        reals(*[(1e-3, 1e3)] * 3, log=True),
        reactor_misfit,
        0.0,
        1e-8,
        1000,
        tags=("fit",),
    ),
}
