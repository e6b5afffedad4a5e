"""The one form of an experiment, and the one way to start it."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, make_dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import tyro
from rich.console import Console
from rich.table import Table

from lga.core.checks import require_known
from lga.core.files import write_report
from lga.core.tree_io import json_form

DEFAULT_PRESET = "paper"


class Outcome(NamedTuple):
    """What an experiment leaves, beside its pictures."""

    report: Any = None
    """Written as JSON; None if the pictures or pages are all there is."""
    table: Table | None = None
    """For the screen."""


@dataclass(frozen=True)
class Experiment:
    shows: str
    """What one learns from it."""
    presets: Mapping[str, Any]
    """A settings dataclass in up to three sizes: smoke (seconds), small (minutes), paper (what the documents show)."""
    run: Callable[[Any, Path, Console], Outcome]
    """What was done already, in the same folder, is not done again."""
    out: Path | None = None
    """Where it writes, if it is not told; under runs/experiments if None."""
    report_name: str | None = None
    """File of the report, if not NAME.json."""


def folder_of(name: str, experiment: Experiment, preset: str) -> Path:
    return experiment.out or Path("runs/experiments") / name / preset


def start(name: str, experiment: Experiment, args: list[str], console: Console) -> Outcome:
    """`NAME [--preset PRESET] [--out FOLDER]`, and any setting of the preset by its own name."""
    preset = chosen_preset(args, experiment)
    settings = experiment.presets[preset]
    presets: Any = Literal[tuple(experiment.presets)]  # pyright: ignore[reportInvalidTypeForm]
    settings_type: Any = tyro.conf.OmitArgPrefixes[type(settings)]
    options: Any = make_dataclass(
        "Options",
        [
            ("preset", presets, field(default=preset)),
            ("out", Path, field(default=folder_of(name, experiment, preset))),
            ("settings", settings_type, field(default=settings)),
        ],
        frozen=True,
    )
    chosen = tyro.cli(options, args=args, prog=f"python -m experiments {name}", description=experiment.shows)
    return carry_out(name, experiment, chosen.settings, chosen.out, console)


def carry_out(name: str, experiment: Experiment, settings: Any, out: Path, console: Console) -> Outcome:
    outcome = experiment.run(settings, out, console)
    if outcome.report is not None:
        report = out / (experiment.report_name or f"{name}.json")
        write_report(report, outcome.report)
    if outcome.table is not None:
        console.print(outcome.table)
    return outcome


def described(settings: Any) -> dict[str, Any]:
    """Settings as a report holds them: without folders, which decide nothing."""
    return json_form({name: value for name, value in asdict(settings).items() if not isinstance(value, Path)})


def chosen_preset(args: list[str], experiment: Experiment) -> str:
    """The settings that the other arguments override depend on it, so it is read before them."""
    words = [word for arg in args for word in arg.split("=", 1)]
    given = words[words.index("--preset") + 1 :] if "--preset" in words else []
    preset = given[0] if given else DEFAULT_PRESET
    require_known("preset", preset, experiment.presets)
    return preset
