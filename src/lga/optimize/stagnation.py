"""When a run has nothing more to give, and how large the next one is."""

import math

# The size that the learned operators were trained with; larger ones were worse on the training functions.
FIRST_SIZE = 16
LARGEST_GROWTH = 3
# Coordinates of size 5 have a resolution of 5e-7 in float32: below a fifth of that, mutation does nothing.
SMALLEST_RATE = 1e-7
# Improvements by less than this share of the value are not worth going on for.
SMALLEST_GAIN = 1e-12


def population_size(first: int, restarts: int) -> int:
    """Doubled by each of the first restarts."""
    return first * 2 ** min(restarts, LARGEST_GROWTH)


class Stagnation:
    """Notices a run that no longer improves, or whose mutations have become too small to move anything."""

    def __init__(self, num_dims: int):
        self.patience = 40 + 4 * num_dims
        self.best = math.inf
        self.waited = 0

    def notices(self, best: float, largest_rate: float) -> bool:
        """To be told of each generation."""
        gain = SMALLEST_GAIN * abs(best) if math.isfinite(best) else 0.0
        if best < self.best - gain or not math.isfinite(self.best):
            self.best, self.waited = best, 0
        else:
            self.waited += 1
        return self.waited >= self.patience or largest_rate < SMALLEST_RATE
