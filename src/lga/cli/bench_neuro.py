"""`lga bench neuro`: networks evolved by several algorithms."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

import tyro

from lga.bench.network_runs import scale_of
from lga.bench.neuro import ALGORITHMS, compare_on_task
from lga.cli.screen import table_console
from lga.core.compile_cache import use_compilation_cache


def main(args: list[str]) -> None:
    tyro.cli(run_neuro, args=args, prog="lga bench neuro")


def run_neuro(
    task: str,
    algorithms: tuple[str, ...] = ALGORITHMS,
    seeds: int = 5,
    preset: Literal["paper", "medium", "small", "smoke"] = "small",
    out: Path | None = None,
    num_children: int | None = None,
    num_generations: int | None = None,
    sigmas: tuple[float, ...] = (),
    elite_ratios: tuple[float, ...] = (),
    tuning_seeds: int | None = None,
    tuning_generations: int | None = None,
    full_episode_sum: bool = False,
    second_filter: int = 5,
    memory_gib: float = 2.0,
    render: bool = False,
    workers: int = 1,
    earlier: Path | None = None,
) -> None:
    """Evolve neural networks with several algorithms: learning curves, a table and a results file.

    Args:
        task: One of the neuroevolution tasks of `lga tasks list`.
        algorithms: Names of hand-designed algorithms, evosax-lga, or installed names or files of weights.
        seeds: Runs of each algorithm.
        preset: paper is the paper's size, medium takes hours and sweeps as the paper does, small takes minutes, smoke
            takes seconds.
        out: Folder of the results, runs/bench/neuro/PRESET if not given; runs that are there already are gone on with.
        num_children: Population size, if not the preset's.
        num_generations: Length of a run, if not the preset's.
        sigmas: Initial mutation rates, if not the preset's; every algorithm is tuned over them if they are several.
        elite_ratios: Parents for each child of the hand-designed algorithms, if not the preset's; tuned over likewise.
        tuning_seeds: Runs for each setting that is tuned over, with seeds that are not reported.
        tuning_generations: Length of these runs, if not that of all.
        full_episode_sum: Rewards count also after an episode has ended.
        second_filter: Width of the second convolution for 28 x 28 images; 3 is the paper's table, 5 its text.
        memory_gib: Budget of the members that are evaluated at once.
        render: Also show the best network of all runs: at play as GIF or, for Brax, as its page; or ten mistakes.
        workers: Processes that work on the runs. The outcome does not depend on it.
        earlier: Folder of an earlier report of the same size, for the rows of all other algorithms.
    """
    scale = scale_of(task, preset)
    given = {
        "num_children": num_children,
        "num_generations": num_generations,
        "sigmas": sigmas or None,
        "elite_ratios": elite_ratios or None,
        "tuning_seeds": tuning_seeds,
        "tuning_generations": tuning_generations,
    }
    size = replace(scale.task, full_episode_sum=full_episode_sum, second_filter=second_filter, memory_gib=memory_gib)
    scale = replace(scale, task=size, **{name: value for name, value in given.items() if value is not None})
    use_compilation_cache()
    folder = out or Path("runs/bench/neuro") / preset
    compare_on_task(task, algorithms, scale, seeds, folder, table_console(), render, workers, earlier)
