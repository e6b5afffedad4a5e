"""Designs that waves go through: an antenna array, a coating, a lens; and atoms that attract each other."""

import numpy as np

from experiments.problems.form import Point, Problem, reals

# An array of twenty antennas, symmetric: the distances between neighbours, in wavelengths.

DIRECTIONS = np.linspace(0.0, 1.0, 361)
OUTSIDE = DIRECTIONS > 0.105
"""Beside the main lobe."""


def side_lobes(distances: Point) -> float:
    """The highest side lobe, in decibels below the main one."""
    places = np.cumsum(distances) - 0.5 * distances[0]
    field = np.abs(np.cos(2.0 * np.pi * np.outer(DIRECTIONS[OUTSIDE], places)).sum(axis=1)) / len(places)
    return float(20.0 * np.log10(max(field.max(), 1e-9)))


# Layers of two materials on glass.

WAVELENGTHS = np.linspace(400.0, 700.0, 31)
HIGH, LOW, GLASS = 2.35, 1.38, 1.52


def reflectance(thickness: Point) -> float:
    """Mean reflectance in percent over the visible range, by the matrices of the layers."""
    electric, magnetic = np.ones_like(WAVELENGTHS, complex), np.full_like(WAVELENGTHS, GLASS, complex)
    for number, width in reversed(list(enumerate(thickness))):
        index = HIGH if number % 2 else LOW
        phase = 2.0 * np.pi * index * width / WAVELENGTHS
        electric, magnetic = (
            np.cos(phase) * electric + 1j * np.sin(phase) / index * magnetic,
            1j * index * np.sin(phase) * electric + np.cos(phase) * magnetic,
        )
    return float(100.0 * np.mean(np.abs((electric - magnetic) / (electric + magnetic)) ** 2))


# A cemented doublet of two glasses: three curvatures, two thicknesses, the distance to the film.

INDICES = np.array([[1.52238, 1.51680, 1.51432], [1.66123, 1.64769, 1.64210], [1.0, 1.0, 1.0]])
HEIGHTS, COLORS = (rays.ravel() for rays in np.meshgrid([-12.0, -8.0, -4.0, 4.0, 8.0, 12.0], range(3)))
FIELD = np.radians([0.0, 1.0])


def spot_size(x: Point) -> float:
    """Root mean square of the spots of two directions on the film, for a focal length of 100, in micrometres."""
    curvatures, distances = x[:3] / 100.0, (*x[3:5], x[5])
    total = 0.0
    for angle in FIELD:
        height, slope = HEIGHTS.copy(), np.full(HEIGHTS.size, angle)
        position, before = np.zeros_like(height), np.ones_like(height)
        for number, curvature in enumerate(curvatures):
            after = INDICES[number][COLORS]
            # Where the ray meets the sphere, by a few steps of Newton's.
            for _ in range(4):
                depth = 1.0 - np.sqrt(np.maximum(1.0 - (curvature * height) ** 2, 1e-6))
                surface = depth / curvature if abs(curvature) > 1e-9 else 0.0 * height
                height = height + np.tan(slope) * (surface - position)
                position = surface
            normal = np.arcsin(np.clip(curvature * height, -0.999, 0.999))
            slope = np.arcsin(np.clip(before / after * np.sin(slope + normal), -0.999, 0.999)) - normal
            position, before = position - distances[number], after
        arrived = height - np.tan(slope) * position
        wanted = 100.0 * np.tan(angle)
        total += float(np.mean((arrived - wanted) ** 2))
    return 1000.0 * float(np.sqrt(total / len(FIELD)))


# Six atoms; the first is at the origin, the second on an axis, the third in a plane.

PLACED = [(1, 0), (2, 0), (2, 1), *[(atom, axis) for atom in range(3, 6) for axis in range(3)]]


def energy(x: Point) -> float:
    """Of Lennard and Jones; the certain minimum of six atoms is an octahedron."""
    atoms = np.zeros((6, 3))
    atoms[tuple(np.transpose(PLACED))] = x
    first, second = np.triu_indices(6, 1)
    squares = np.maximum(np.sum((atoms[first] - atoms[second]) ** 2, axis=1), 0.05)
    return float(4.0 * np.sum(squares**-6 - squares**-3))


PROBLEMS = {
    "antenna": Problem(
        "twenty antennas: least side lobe by their places", reals(*[(0.3, 1.0)] * 10), side_lobes, -23.514422, 0.1, 4000
    ),
    "coating": Problem(
        "eight layers against reflections", reals(*[(0.0, 250.0)] * 8), reflectance, 0.17108373, 0.05, 4000
    ),
    "lens": Problem(
        "a cemented doublet, least spot",
        reals((-5, 5), (-5, 5), (-5, 5), (2, 10), (1, 6), (60, 120)),
        spot_size,
        3.74332529,
        0.01,
        4000,
    ),
    "cluster": Problem("six atoms, least energy", reals(*[(-2.0, 2.0)] * 12), energy, -12.712062, 1e-3, 6000),
}
