"""Side-by-side timing: contestants take turns, so that a noisy machine is noisy for all of them."""

import multiprocessing
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax

from lga.core.compile_cache import use_compilation_cache


def interleaved_medians(contestants: Sequence[Callable[[], Any]], seconds: float, warm_up: int = 3) -> list[float]:
    """Median seconds a call of each contestant in this process, over as many rounds as fit, at least five."""
    for contestant in contestants:
        for _ in range(warm_up):
            jax.block_until_ready(contestant())
    times: list[list[float]] = [[] for _ in contestants]
    start = time.perf_counter()
    while len(times[0]) < 5 or time.perf_counter() - start < seconds:
        for contestant, own in zip(contestants, times, strict=True):
            own.append(seconds_of(contestant))
    return [statistics.median(own) for own in times]


@dataclass(frozen=True)
class Contestant:
    """What is timed in a process of its own: `build(*args)` returns the function that is called again and again."""

    build: Callable[..., Callable[[], Any]]
    cores: int = 1
    kernel: str = "auto"
    clock: str = "wall"
    """wall, or cpu: seconds of work of all threads, which other work on the machine adds little to."""


CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "cpu": time.process_time}


def process_medians(
    contestants: Mapping[str, Contestant], args: tuple, rounds: int, seconds_a_turn: float = 0.0, warm_up: int = 3
) -> dict[str, float]:
    """Median seconds a call of each contestant, who gets a turn in each round: a call, or as many as fit."""
    context = multiprocessing.get_context("spawn")
    pipes, processes, times = {}, [], {name: [] for name in contestants}
    for name, contestant in contestants.items():
        pipes[name], theirs = context.Pipe()
        processes.append(context.Process(target=serve, args=(contestant, args, seconds_a_turn, warm_up, theirs)))
        processes[-1].start()
        pipes[name].recv()
    for _ in range(rounds):
        for name, pipe in pipes.items():
            pipe.send("go")
            times[name] += pipe.recv()
    for pipe, process in zip(pipes.values(), processes, strict=True):
        pipe.send("stop")
        process.join()
    return {name: statistics.median(own) for name, own in times.items()}


def serve(contestant: Contestant, args: tuple, seconds_a_turn: float, warm_up: int, pipe) -> None:
    """Calls the contestant whenever it is told to, and answers with the seconds that the calls took."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-contestant.cores :])
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    os.environ["LGA_KERNEL"] = contestant.kernel
    jax.config.update("jax_num_cpu_devices", contestant.cores)
    use_compilation_cache()
    call = contestant.build(*args)
    for _ in range(warm_up):
        jax.block_until_ready(call())
    pipe.send("ready")
    while pipe.recv() == "go":
        start, times = time.perf_counter(), [seconds_of(call, CLOCKS[contestant.clock])]
        while time.perf_counter() - start < seconds_a_turn:
            times.append(seconds_of(call, CLOCKS[contestant.clock]))
        pipe.send(times)


def seconds_of(call: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    before = clock()
    jax.block_until_ready(call())
    return clock() - before
