"""Neuroevolution tasks in the smallest size."""

import pytest

from lga.bench.network_runs import scale_of
from lga.tasks.registry import NEURO_TASKS, neuro_task

# One of each family; Brax takes long to compile.
QUICK = ("pendulum", "minatar-breakout", "mnist", "digits")
ALL_TASKS = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in NEURO_TASKS]


def smoke_task(name):
    return neuro_task(name, scale_of(name, "smoke").task)
