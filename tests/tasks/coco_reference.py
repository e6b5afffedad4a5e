"""COCO's own values, from its C code (`cocoex`) and from the C++ of `ioh`."""

import cocoex
import ioh
import numpy as np

DIMS = (2, 3, 5, 10, 20, 40)
INSTANCES = (1, 2, 3, 5, 10, 50)
NUM_FUNCTIONS = 24

_suite = cocoex.Suite("bbob", f"instances: {','.join(map(str, INSTANCES))}", "")


def coco_values(function_id: int, instance: int, points: np.ndarray) -> np.ndarray:
    problem = _suite.get_problem_by_function_dimension_instance(function_id, points.shape[1], instance)
    return np.array([problem(point) for point in points])


def ioh_problem(function_id: int, instance: int, num_dims: int):
    return ioh.get_problem(function_id, instance, num_dims, ioh.ProblemClass.BBOB)


def ioh_values(function_id: int, instance: int, points: np.ndarray) -> np.ndarray:
    problem = ioh_problem(function_id, instance, points.shape[1])
    return np.array([problem(point) for point in points])
