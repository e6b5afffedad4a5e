"""Side-by-side timing: contestants take turns in one process, so that a noisy machine is noisy for all of them."""

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax


def interleaved_medians(contestants: Sequence[Callable[[], Any]], seconds: float, warm_up: int = 3) -> list[float]:
    """Median seconds a call of each contestant, over as many rounds as fit, at least five."""
    for contestant in contestants:
        for _ in range(warm_up):
            jax.block_until_ready(contestant())
    times: list[list[float]] = [[] for _ in contestants]
    start = time.perf_counter()
    while len(times[0]) < 5 or time.perf_counter() - start < seconds:
        for contestant, own in zip(contestants, times, strict=True):
            before = time.perf_counter()
            jax.block_until_ready(contestant())
            own.append(time.perf_counter() - before)
    return [statistics.median(own) for own in times]
