"""The 24 BBOB functions: COCO's instances, and a distribution of random tasks."""

from lga.tasks.bbob.evaluation import coco_value, evaluate, evaluate_noisy, observe
from lga.tasks.bbob.family import FAMILIES, family_members, find_function, sample_task
from lga.tasks.bbob.functions import FUNCTIONS
from lga.tasks.bbob.gap import SMALLEST_GAP, log10_gap
from lga.tasks.bbob.noise import NOISE_MODELS
from lga.tasks.bbob.suite import instance, instances, stack
from lga.tasks.bbob.task import Task

__all__ = [
    "FAMILIES",
    "FUNCTIONS",
    "NOISE_MODELS",
    "SMALLEST_GAP",
    "Task",
    "coco_value",
    "evaluate",
    "evaluate_noisy",
    "family_members",
    "find_function",
    "instance",
    "instances",
    "log10_gap",
    "observe",
    "sample_task",
    "stack",
]
