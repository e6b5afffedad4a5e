"""Whole numbers, switches and orders: knapsacks, machines, assignments, gears, subsets."""

from itertools import permutations

import numpy as np

from experiments.problems.form import Point, Problem, choice, integers, reals

# A knapsack of thirty things; too much weight is a violation.

GENERATOR = np.random.default_rng(1978)
WEIGHTS = GENERATOR.integers(10, 100, 30)
WORTH = WEIGHTS + GENERATOR.integers(0, 60, 30)
CAPACITY = int(WEIGHTS.sum() // 3)


def packed(x: Point) -> float:
    return -float(WORTH @ x)


def overweight(x: Point) -> Point:
    return np.maximum(np.array([WEIGHTS @ x - CAPACITY], float), 0.0)


def best_packing() -> float:
    """By dynamic programming."""
    most = np.zeros(CAPACITY + 1)
    for weight, worth in zip(WEIGHTS.tolist(), WORTH.tolist(), strict=True):
        most[weight:] = np.maximum(most[weight:], most[: CAPACITY + 1 - weight] + worth)
    return -float(most[-1])


# Twenty jobs on four machines: when the last one is ready.

JOBS = GENERATOR.integers(5, 60, 20)


def ready(x: Point) -> float:
    return float(np.bincount(x.astype(int), weights=JOBS, minlength=4).max())


# Eight factories in eight towns, coded as keys whose order is the assignment.

PLACES = GENERATOR.uniform(size=(8, 2))
DISTANCES = np.linalg.norm(PLACES[:, None] - PLACES[None], axis=2)
FLOWS = np.triu(GENERATOR.integers(0, 10, (8, 8)), 1)
FLOWS = FLOWS + FLOWS.T


def transport(x: Point) -> float:
    town = np.argsort(x, kind="stable")
    return float(np.sum(FLOWS * DISTANCES[np.ix_(town, town)]))


def best_transport() -> float:
    every = np.array(list(permutations(range(8))))
    cost = sum(
        FLOWS[first, second] * DISTANCES[every[:, first], every[:, second]] for first in range(8) for second in range(8)
    )
    return float(np.min(cost))


# Ten jobs that pass three machines in the same order, coded as keys.

HOURS = GENERATOR.integers(1, 20, (10, 3))


def flow_shop(x: Point) -> float:
    done = np.zeros(3)
    for job in np.argsort(x, kind="stable"):
        done[0] += HOURS[job, 0]
        done[1] = max(done[0], done[1]) + HOURS[job, 1]
        done[2] = max(done[1], done[2]) + HOURS[job, 2]
    return float(done[2])


# Four gears, whose ratio is to be 1 : 6.931.


def gears(x: Point) -> float:
    return float(np.log10((1.0 / 6.931 - x[0] * x[1] / (x[2] * x[3])) ** 2 + 1e-20))


# Which of sixteen columns explain a column: Akaike's criterion.

COLUMNS = GENERATOR.normal(size=(60, 16)) + GENERATOR.normal(size=(60, 1))
TARGET = COLUMNS[:, :6] @ np.array([1.0, -0.8, 0.5, 0.4, -0.3, 0.2]) + GENERATOR.normal(size=60)


def criterion(x: Point) -> float:
    chosen = np.flatnonzero(x > 0.5)
    table = np.column_stack([np.ones(60), COLUMNS[:, chosen]])
    left = TARGET - table @ np.linalg.lstsq(table, TARGET, rcond=None)[0]
    return float(60.0 * np.log(np.mean(left**2)) + 2.0 * chosen.size)


# A heat exchanger out of a catalogue: material, tubes, diameter, length, and how often the water passes.

MATERIALS = np.array([[380.0, 9.0], [50.0, 3.0], [16.0, 5.5], [22.0, 14.0], [205.0, 4.0]])
"""Conductivity, and price for each unit of volume."""


def exchanger_cost(x: Point) -> float:
    material, tubes, passes, diameter, length = int(x[0]), x[1], x[2], x[3], x[4]
    conductivity, price = MATERIALS[material]
    speed = 4.0 * passes / (tubes * diameter**2)
    film = 20.0 * speed**0.8 / diameter**0.2
    transfer = 1.0 / (1.0 / film + 0.3 * diameter / conductivity)
    heat = transfer * tubes * diameter * length
    pumping = 0.02 * speed**2.8 * passes * length / diameter
    return float(price * tubes * diameter * length * 0.1 + pumping + 5.0 * passes + 50.0 * max(0.0, 200.0 - heat))


PROBLEMS = {
    "knapsack": Problem(
        "thirty things for a knapsack",
        integers(*[(0, 1)] * 30),
        packed,
        best_packing(),
        0.0,
        3000,
        overweight,
        penalty=10.0,
        tags=("integers", "constraints"),
    ),
    "machines": Problem(
        "twenty jobs on four machines",
        [choice(4)] * 20,
        ready,
        float(-(-JOBS.sum() // 4)),
        0.0,
        3000,
        tags=("integers",),
    ),
    "factories": Problem(
        "eight factories in eight towns, quadratic assignment",
        reals(*[(0, 1)] * 8),
        transport,
        best_transport(),
        1e-9,
        2000,
    ),
    "flow_shop": Problem("ten jobs through three machines", reals(*[(0, 1)] * 10), flow_shop, 94.0, 0.0, 1500),
    "gears": Problem(
        "four gears for a ratio, log10 of the squared error",
        integers(*[(12, 60)] * 4),
        gears,
        float(np.log10(2.700857e-12)),
        1e-3,
        2000,
        tags=("integers",),
    ),
    "subset": Problem(
        "which of sixteen columns explain a column",
        integers(*[(0, 1)] * 16),
        criterion,
        1.3081247255140553,
        1e-9,
        600,
        tags=("integers",),
    ),
    "exchanger": Problem(
        "a heat exchanger: material, tubes, passes, diameter, length",
        [choice(5), *integers((4, 200), (1, 8)), *reals((0.5, 5.0), (0.5, 10.0))],
        exchanger_cost,
        7.07000665,
        0.01,
        1500,
        tags=("integers",),
    ),
}
