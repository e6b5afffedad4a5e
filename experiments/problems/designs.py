"""Engineering designs with constraints, in the units of the literature; constraints are relative to their limits."""

import math

import numpy as np

from experiments.problems.form import Point, Problem, broken, integers, reals

# A welded beam: thickness of the weld, its length, height and width of the beam.


def beam_cost(x: Point) -> float:
    h, length, t, b = x
    return float(1.10471 * h**2 * length + 0.04811 * t * b * (14.0 + length))


def beam_violations(x: Point) -> Point:
    h, length, t, b = x
    load, span, young, shear = 6000.0, 14.0, 30e6, 12e6
    moment = load * (span + length / 2.0)
    arm = math.sqrt(length**2 / 4.0 + ((h + t) / 2.0) ** 2)
    polar = 2.0 * math.sqrt(2.0) * h * length * (length**2 / 12.0 + ((h + t) / 2.0) ** 2)
    direct, twist = load / (math.sqrt(2.0) * h * length), moment * arm / polar
    stress = math.sqrt(direct**2 + direct * twist * length / arm + twist**2)
    bending = 6.0 * load * span / (b * t**2)
    sag = 4.0 * load * span**3 / (young * t**3 * b)
    buckling = 4.013 * young * math.sqrt(t**2 * b**6 / 36.0) / span**2
    buckling *= 1.0 - t / (2.0 * span) * math.sqrt(young / (4.0 * shear))
    return broken(
        stress / 13600.0 - 1.0,
        bending / 30000.0 - 1.0,
        (h - b) / b,
        (0.10471 * h**2 + 0.04811 * t * b * (14.0 + length)) / 5.0 - 1.0,
        0.125 / h - 1.0,
        sag / 0.25 - 1.0,
        load / buckling - 1.0,
    )


# A coil spring: wire, coil, number of coils.


def spring_weight(x: Point) -> float:
    wire, coil, turns = x
    return float((turns + 2.0) * coil * wire**2)


def spring_violations(x: Point) -> Point:
    wire, coil, turns = x
    ratio = (4.0 * coil**2 - wire * coil) / (12566.0 * (coil * wire**3 - wire**4))
    return broken(
        1.0 - coil**3 * turns / (71785.0 * wire**4),
        ratio + 1.0 / (5108.0 * wire**2) - 1.0,
        1.0 - 140.45 * wire / (coil**2 * turns),
        (wire + coil) / 1.5 - 1.0,
    )


# A pressure vessel: shell and head in sixteenths of an inch, radius, length.


def vessel_cost(x: Point) -> float:
    shell, head, radius, length = 0.0625 * x[0], 0.0625 * x[1], x[2], x[3]
    return float(
        0.6224 * shell * radius * length
        + 1.7781 * head * radius**2
        + 3.1661 * shell**2 * length
        + 19.84 * shell**2 * radius
    )


def vessel_violations(x: Point) -> Point:
    shell, head, radius, length = 0.0625 * x[0], 0.0625 * x[1], x[2], x[3]
    volume = math.pi * radius**2 * length + 4.0 / 3.0 * math.pi * radius**3
    return broken(
        0.0193 * radius / shell - 1.0, 0.00954 * radius / head - 1.0, 1296000.0 / volume - 1.0, length / 240.0 - 1.0
    )


# A speed reducer: face, module, teeth, two shafts.


def reducer_weight(x: Point) -> float:
    face, module, teeth, first, second, thin, thick = x
    gears = 0.7854 * face * module**2 * (3.3333 * teeth**2 + 14.9334 * teeth - 43.0934)
    shafts = -1.508 * face * (thin**2 + thick**2) + 7.4777 * (thin**3 + thick**3)
    return float(gears + shafts + 0.7854 * (first * thin**2 + second * thick**2))


def reducer_violations(x: Point) -> Point:
    face, module, teeth, first, second, thin, thick = x
    stress = [
        math.sqrt((745.0 * length / (module * teeth)) ** 2 + load) / (limit * shaft**3)
        for length, shaft, load, limit in ((first, thin, 16.9e6, 110.0), (second, thick, 157.5e6, 85.0))
    ]
    return broken(
        27.0 / (face * module**2 * teeth) - 1.0,
        397.5 / (face * module**2 * teeth**2) - 1.0,
        1.93 * first**3 / (module * teeth * thin**4) - 1.0,
        1.93 * second**3 / (module * teeth * thick**4) - 1.0,
        stress[0] - 1.0,
        stress[1] - 1.0,
        module * teeth / 40.0 - 1.0,
        5.0 * module / face - 1.0,
        face / (12.0 * module) - 1.0,
        (1.5 * thin + 1.9) / first - 1.0,
        (1.1 * thick + 1.9) / second - 1.0,
    )


# Three bars that hold a load.


def three_bars_weight(x: Point) -> float:
    return float((2.0 * math.sqrt(2.0) * x[0] + x[1]) * 100.0)


def three_bars_violations(x: Point) -> Point:
    a, b = x
    both = math.sqrt(2.0) * a**2 + 2.0 * a * b
    with np.errstate(divide="ignore", invalid="ignore"):
        loads = (np.array([math.sqrt(2.0) * a + b, b, both / (a + math.sqrt(2.0) * b)])) / both
    return broken(*(2.0 * loads / 2.0 - 1.0))


# Ten bars on two walls: areas of the bars, limits of stress (25 ksi) and displacement (2 in).

NODES = 360.0 * np.array([[2, 1], [2, 0], [1, 1], [1, 0], [0, 1], [0, 0]])
BARS = np.array([[4, 2], [2, 0], [5, 3], [3, 1], [2, 3], [0, 1], [4, 3], [5, 2], [2, 1], [3, 0]])
ALONG = NODES[BARS[:, 1]] - NODES[BARS[:, 0]]
LENGTHS = np.linalg.norm(ALONG, axis=1)
YOUNG, LOADS = 1e7, np.array([0, 0, 0, -1e5, 0, 0, 0, -1e5])
# By how much a bar becomes longer when its nodes move; the last two nodes are on the wall.
STRETCH = np.zeros((10, 12))
for bar, (start, end) in enumerate(BARS):
    STRETCH[bar, 2 * end : 2 * end + 2] += ALONG[bar] / LENGTHS[bar]
    STRETCH[bar, 2 * start : 2 * start + 2] -= ALONG[bar] / LENGTHS[bar]
STRETCH = STRETCH[:, :8]


def ten_bars_weight(areas: Point) -> float:
    return float(0.1 * areas @ LENGTHS)


def ten_bars_violations(areas: Point) -> Point:
    stiffness = STRETCH.T @ ((YOUNG * areas / LENGTHS)[:, None] * STRETCH)
    moved = np.linalg.solve(stiffness, LOADS)
    stress = YOUNG * (STRETCH @ moved) / LENGTHS
    return broken(*(np.abs(stress) / 25000.0 - 1.0), *(np.abs(moved) / 2.0 - 1.0))


PROBLEMS = {
    "welded_beam": Problem(
        "welded beam, cost",
        reals((0.1, 2), (0.1, 10), (0.1, 10), (0.1, 2)),
        beam_cost,
        1.724852309,
        1e-3,
        4000,
        beam_violations,
        penalty=100.0,
        tags=("constraints",),
    ),
    "spring": Problem(
        "coil spring, weight",
        reals((0.05, 2), (0.25, 1.3), (2, 15)),
        spring_weight,
        0.012665233,
        1e-5,
        3000,
        spring_violations,
        penalty=10.0,
        tags=("constraints",),
    ),
    "pressure_vessel": Problem(
        "pressure vessel, cost; plates come in sixteenths of an inch",
        [*integers((1, 99), (1, 99)), *reals((10, 200), (10, 240))],
        vessel_cost,
        6059.714335,
        1.0,
        4000,
        vessel_violations,
        penalty=1e5,
        tags=("constraints", "integers"),
    ),
    "speed_reducer": Problem(
        "speed reducer, weight",
        [
            *reals((2.6, 3.6), (0.7, 0.8)),
            *integers((17, 28)),
            *reals((7.3, 8.3), (7.3, 8.3), (2.9, 3.9), (5.0, 5.5)),
        ],
        reducer_weight,
        2994.471066,
        0.1,
        4000,
        reducer_violations,
        penalty=1e4,
        tags=("constraints", "integers"),
    ),
    "three_bars": Problem(
        "truss of three bars, weight",
        reals((0, 1), (0, 1)),
        three_bars_weight,
        263.895843,
        1e-3,
        1000,
        three_bars_violations,
        penalty=1e3,
        tags=("constraints",),
    ),
    "ten_bars": Problem(
        "truss of ten bars, weight",
        reals(*[(0.1, 35.0)] * 10),
        ten_bars_weight,
        5060.853,
        5.0,
        8000,
        ten_bars_violations,
        penalty=1e4,
        tags=("constraints",),
    ),
}
