"""All problems. Some were looked at to choose settings of the search; the others are for the report alone."""

from experiments.problems import (
    choices,
    control,
    designs,
    learning,
    nist,
    noise,
    regressions,
    simulators,
    waves,
)
from experiments.problems.form import Problem

ROOMS = (nist, designs, simulators, waves, choices, regressions, noise, control, learning)
PROBLEMS: dict[str, Problem] = {name: problem for room in ROOMS for name, problem in room.PROBLEMS.items()}
# Every second one, and three more that were looked at.
CHOSEN_ON = (*tuple(PROBLEMS)[::2], "pressure_vessel", "knapsack", "noisy_bowl")
