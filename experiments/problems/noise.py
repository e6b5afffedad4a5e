"""Simulators whose answer is another each time. A search is measured by the true value of what it recommends."""

from functools import cache

import numpy as np

from experiments.problems.form import Point, Problem, integers, reals

SCALES = np.logspace(0, 1, 6)
CENTRE = np.array([1.3, -2.2, 0.4, 3.1, -0.7, 1.9])


def bowl(x: Point) -> float:
    return float(np.sum((SCALES * (x - CENTRE)) ** 2)) / 10.0


def measured_bowl(generator: np.random.Generator, x: Point) -> float:
    return bowl(x) + generator.normal()


# A store orders up to `most` when `least` or less is left; what is missing costs more than what lies around.


def store(generator: np.random.Generator, x: Point, days: int) -> float:
    least, most = int(x[0]), int(x[0] + x[1])
    stock, cost = most, 0.0
    for demand in generator.poisson(20, days).tolist():
        if stock <= least:
            cost += 64.0
            stock = most
        stock -= demand
        cost += stock if stock >= 0 else -9.0 * stock
    return cost / days


def month(generator: np.random.Generator, x: Point) -> float:
    return store(generator, x, 60)


@cache
def long_run(least: float, size: float) -> float:
    return store(np.random.default_rng(0), np.array([least, size]), 100_000)


def store_cost(x: Point) -> float:
    return long_run(float(x[0]), float(x[1]))


# A queue: how many servers, at which speed, and how many may wait; customers that are sent away cost most.

CUSTOMERS = 200


def queue(generator: np.random.Generator, x: Point) -> float:
    speed, patience, price = x
    arrivals = np.cumsum(generator.exponential(1.0 / price_demand(price), CUSTOMERS))
    work = generator.exponential(1.0 / speed, CUSTOMERS)
    free, income = 0.0, 0.0
    for arrival, needed in zip(arrivals.tolist(), work.tolist(), strict=True):
        if free - arrival > patience:
            income -= 0.5
            continue
        income += price - 0.3 * max(free - arrival, 0.0)
        free = max(free, arrival) + needed
    return -(income / arrivals[-1] - 0.4 * speed**1.5)


def price_demand(price: float) -> float:
    return 4.0 * np.exp(-0.3 * price)


def mean_queue(x: Point) -> float:
    return float(np.mean([queue(np.random.default_rng([7, number]), x) for number in range(500)]))


PROBLEMS = {
    "noisy_bowl": Problem(
        "six settings of an instrument whose readings deviate by 1",
        reals(*[(-5, 5)] * 6),
        bowl,
        0.0,
        0.1,
        2000,
        noisy=measured_bowl,
        tags=("noise",),
    ),
    "store": Problem(
        "when and how much a store orders, simulated for sixty days",
        integers((0, 100), (1, 150)),
        store_cost,
        49.19218,
        0.3,
        400,
        noisy=month,
        tags=("noise", "integers"),
    ),
    "queue": Problem(
        "speed, patience and price of a queue, simulated for 200 customers",
        reals((0.1, 5.0), (0.0, 10.0), (0.5, 10.0)),
        mean_queue,
        -3.546,
        0.02,
        600,
        noisy=queue,
        tags=("noise",),
    ),
}
