"""`lga weights`: what is installed, and where it comes from."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import jax
import tyro
from rich.table import Table

from lga.cli.screen import table_console
from lga.core.checks import require
from lga.operators.fold import fold, unfold
from lga.operators.theta import config_of, ravel_theta
from lga.weights import installed, resolve, save_theta

Name = Annotated[str, tyro.conf.Positional]


def list_main(args: list[str]) -> None:
    tyro.cli(list_weights, args=args, prog="lga weights list")


def info_main(args: list[str]) -> None:
    tyro.cli(show_info, args=args, prog="lga weights info")


def export_main(args: list[str]) -> None:
    tyro.cli(export, args=args, prog="lga weights export")


def average_main(args: list[str]) -> None:
    tyro.cli(average, args=args, prog="lga weights average")


def list_weights() -> None:
    """All installed weights: learned operators, number of weights, training and validation score."""
    table = Table("name", "learned", "weights", "family", "M x J", "meta-generation", "validation score")
    for name in installed():
        weights = resolve(name)
        theta, provenance = weights.theta, weights.provenance
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
    weights = resolve(name)
    print(json.dumps(asdict(config_of(weights.theta)) | dict(weights.provenance), indent=1))


def export(name: Name, to: Path) -> None:
    """Copy weights to a file."""
    weights = resolve(name)
    require(not to.exists(), f"to is {str(to)!r}, but that file exists already.")
    save_theta(to, weights.theta, weights.provenance)
    print(f"{name} written to {to}")


def average(names: Annotated[tuple[str, ...], tyro.conf.Positional], to: Path) -> None:
    """Write the mean of several weights, taken over the numbers that they fold into.

    Runs that went on from the same start end in one valley, and their mean is often better than each of them.
    """
    require(len(names) >= 2, f"{len(names)} weights are named, but a mean needs at least 2.")
    require(not to.exists(), f"to is {str(to)!r}, but that file exists already.")
    all_weights = [resolve(name) for name in names]
    configs = [config_of(weights.theta) for weights in all_weights]
    require(len(set(configs)) == 1, f"the weights differ in what they are of ({configs}), but must be alike.")
    folded = jax.tree.map(lambda *numbers: sum(numbers) / len(numbers), *(fold(one.theta) for one in all_weights))
    origins = [{"digest": weights.digest, **weights.provenance} for weights in all_weights]
    run = origins[0].get("run", {})
    save_theta(to, unfold(folded, configs[0].key_dim), {"run": run, "mean_of": origins})
    print(f"the mean of {', '.join(names)} written to {to}")
