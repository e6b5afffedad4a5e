"""`lga weights`: what is installed, and where it comes from."""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import tyro
from rich.table import Table

from lga.cli.screen import table_console
from lga.core.checks import require, require_known
from lga.operators.evosax_weights import EVOSAX_LGA, evosax_theta
from lga.operators.theta import Theta, config_of, installed_weights, load_theta, ravel_theta

Name = Annotated[str, tyro.conf.Positional]


def list_main(args: list[str]) -> None:
    tyro.cli(list_weights, args=args, prog="lga weights list")


def info_main(args: list[str]) -> None:
    tyro.cli(show_info, args=args, prog="lga weights info")


def export_main(args: list[str]) -> None:
    tyro.cli(export, args=args, prog="lga weights export")


def list_weights() -> None:
    """All installed weights: learned operators, number of weights, training and validation score."""
    table = Table("name", "learned", "weights", "family", "M x J", "meta-generation", "validation score")
    for name, path in installed_weights().items():
        theta, provenance = load_theta(path)
        run = provenance.get("run", {})
        table.add_row(
            name,
            ", ".join(config_of(theta).learned),
            str(ravel_theta(theta)[0].size),
            ", ".join(run.get("family", ["?"])),
            f"{run.get('meta_population', '?')} x {run.get('num_tasks', '?')}",
            str(provenance.get("meta_generation", "?")),
            f"{provenance['validation']['score']:.3f}" if "validation" in provenance else "?",
        )
    table_console().print(table)


def show_info(name: Name) -> None:
    """Everything that is known of some weights, as JSON. NAME is an installed name or a file."""
    theta, provenance = load_theta(find(name))
    config = config_of(theta)
    print(
        json.dumps(
            {"learned": config.learned, "key_dim": config.key_dim, "num_heads": config.num_heads} | provenance, indent=1
        )
    )


def export(name: Name, to: Path) -> None:
    """Copy weights to a file."""
    source = find(name)
    load_theta(source)
    require(not to.exists(), f"to is {str(to)!r}, but that file exists already.")
    shutil.copyfile(source, to)
    print(f"{source} copied to {to}")


def find(name: str) -> Path:
    if Path(name).is_file():
        return Path(name)
    require_known("name", name, installed_weights())
    return installed_weights()[name]


def loaded(names: Iterable[str], num_dims: int) -> dict[str, Theta]:
    """Weights by the names that a comparison shows: installed ones, files, and evosax's."""
    return {label(name): evosax_theta(num_dims) if name == EVOSAX_LGA else load_theta(find(name))[0] for name in names}


def label(name: str) -> str:
    return Path(name).stem if Path(name).is_file() else name
