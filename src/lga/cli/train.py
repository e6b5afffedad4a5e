"""`lga train`: meta-training from the command line."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import jax
import tyro
from rich.console import Console

from lga.analysis import figures
from lga.bench.own_tasks import OWN_TASKS, outcome_table
from lga.bench.own_tasks import train as train_own
from lga.cli.devices import use_cores
from lga.core.checks import require
from lga.core.compile_cache import use_compilation_cache
from lga.meta.config import PRESETS, MetaConfig
from lga.meta.live import LiveReport
from lga.meta.report import PAGE, write_training_page
from lga.meta.run_directory import BEST, CURVES, read_metrics, saved_config
from lga.meta.train import train
from lga.meta.validate import baseline_scores, validation_protocol
from lga.weights import load_theta


@dataclass(frozen=True)
class Train:
    """Meta-train a learned genetic algorithm. Every setting of the preset can be overridden."""

    preset: Literal["smoke", "laptop", "standard", "paper"] = "laptop"
    """Where the settings start from."""
    out: Path = Path("runs/latest")
    """Directory of the run; it must not hold one already."""
    resume: Path | None = None
    """Continue the run in this directory, with its settings."""
    budget: int | None = None
    """Train for one kind of task (--tasks FILE.py:NAME, or a built-in family) and this many evaluations of a search,
    starting from the shipped weights; the outcome is tested on tasks that training did not see."""
    num_dims: int | None = None
    """With a budget: the number of variables, for built-in families. Yours has its own."""
    tensorboard: bool = False
    """Also write the metrics for TensorBoard, into the run directory."""
    compare: bool = True
    """Score a hand-designed GA and the shipped weights on the functions of validation too, for the report."""
    memory_gib: float = 8.0
    """Memory for the searches that run at once on a device."""
    devices: int | None = None
    """CPU devices to spread the candidates over; as many as cores if not given. The outcome does not depend on it."""
    coordinator: str | None = None
    """host:port of the first process, for runs over several processes; all of them see the same run directory."""
    num_processes: int = 1
    process_id: int = 0
    config: tyro.conf.OmitArgPrefixes[MetaConfig] = field(default_factory=MetaConfig)


def main(args: list[str]) -> None:
    options = tyro.cli(Train, args=args, default=defaults(args), prog="lga train")
    use_compilation_cache()
    use_cores(options.devices)
    require(
        options.num_processes == 1 or options.coordinator is not None,
        f"num_processes is {options.num_processes}, so coordinator must name the first process as host:port.",
    )
    if options.coordinator is not None:
        jax.distributed.initialize(options.coordinator, options.num_processes, options.process_id)
    directory = options.resume or options.out
    console = Console(quiet=jax.process_index() != 0)
    console.print(f"run directory: {directory}")
    if options.budget is not None:
        train_for_tasks(options, directory, console)
        return
    with LiveReport(options.config.meta_generations, console) as live:
        train(
            options.config,
            directory,
            resume=options.resume is not None,
            memory_gib=options.memory_gib,
            report=reporter(directory, live, options.tensorboard),
        )
    if jax.process_index() == 0:
        draw_curves(directory)
        _, provenance = load_theta(directory / BEST)
        scores = {}
        if options.compare and options.config.tasks == "bbob":
            console.print("comparing with a hand-designed GA and with the shipped weights")
            own = {"this run": provenance["validation"]["per_function"]}
            scores = own | baseline_scores(validation_protocol(options.config))
        console.print(f"report: {write_training_page(directory, scores)}")
        console.print(
            f"best weights: {directory / BEST}, from meta-generation {provenance['meta_generation']} "
            f"with validation score {provenance['validation']['score']:.3f} (mean log10 gap)"
        )


def train_for_tasks(options: Train, directory: Path, console: Console) -> None:
    """For one family: what suits it, training, and the test."""
    console.print("looking where optima lie, and which population suits")
    with LiveReport(options.config.meta_generations, console) as live:
        trained = train_own(
            tasks=options.config.tasks,
            budget=options.budget,
            dims=options.num_dims,
            directory=directory,
            settings=options.config,
            resume=options.resume is not None,
            memory_gib=options.memory_gib,
            report=reporter(directory, live, options.tensorboard),
        )
    console.print(outcome_table(trained.report))
    console.print(f"verdict: {trained.report['verdict']}", style="bold")
    console.print(f"report: {directory / PAGE}")
    console.print(f"use it: lga.Trained.load({str(directory)!r}).minimize(fun)")


def defaults(args: list[str]) -> Train:
    """The settings that the given arguments override: those of the named preset, or of the run to resume."""
    if named(args, "--budget"):
        return Train(config=OWN_TASKS)
    if resume := named(args, "--resume"):
        return Train(resume=Path(resume), config=saved_config(Path(resume)))
    preset = named(args, "--preset") or Train.preset
    return Train(config=PRESETS.get(preset, PRESETS[Train.preset]))


def named(args: list[str], option: str) -> str | None:
    for position, arg in enumerate(args):
        if arg == option and position + 1 < len(args):
            return args[position + 1]
        if arg.startswith(f"{option}="):
            return arg.split("=", 1)[1]
    return None


def reporter(directory: Path, live: LiveReport, tensorboard: bool) -> Callable[[dict[str, Any]], None]:
    write_scalars = tensorboard_writer(directory) if tensorboard else lambda entry: None

    def report(entry: dict[str, Any]) -> None:
        live(entry)
        write_scalars(entry)
        if "validation" in entry:
            draw_curves(directory)

    return report


def tensorboard_writer(directory: Path) -> Callable[[dict[str, Any]], None]:
    try:
        from tensorboardX import SummaryWriter
    except ImportError as error:
        raise ImportError("tensorboard is on, but needs tensorboardX: pip install 'lga[tensorboard]'.") from error
    writer = SummaryWriter(str(directory))

    def write(entry: dict[str, Any]) -> None:
        scalars = entry | {"validation": entry.get("validation", {}).get("score")}
        for name, value in scalars.items():
            if isinstance(value, int | float) and name != "meta_generation":
                writer.add_scalar(name, value, entry["meta_generation"])
        writer.flush()

    return write


def draw_curves(directory: Path) -> None:
    # Drawn beside and moved, so that whoever looks at the picture never finds half of it.
    partial = directory / f".{os.getpid()}.{CURVES}"
    figures.training_curves(read_metrics(directory), partial)
    os.replace(partial, directory / CURVES)
