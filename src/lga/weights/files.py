"""A theta in a file: its tensors, their configuration and where they come from."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import jax

from lga.core.checks import require
from lga.core.tree_io import TreeFileError, load_tree, save_tree, shapes
from lga.operators.fold import theta_layout
from lga.operators.theta import Theta, ThetaConfig, config_of

KIND = "theta"


def save_theta(path: str | Path, theta: Theta, provenance: Mapping[str, Any]) -> str:
    """Writes the weights with their configuration and where they come from; returns the SHA-256."""
    config = config_of(theta)
    require(
        shapes(theta) == shapes(layout_of(asdict(config))),
        f"theta has tensors that do not fit {config}, but a file holds one theta, with one size of attention.",
    )
    return save_tree(path, theta, {"kind": KIND, "config": asdict(config), "provenance": dict(provenance)})


def load_theta(path: str | Path) -> tuple[Theta, dict[str, Any]]:
    """The weights and their provenance."""

    def layout(description: dict[str, Any]) -> Theta:
        kind = description.get("kind")
        if kind != KIND:
            raise TreeFileError(f"{path} holds {kind!r}, not the weights of learned operators.")
        return layout_of(description["config"])

    theta, description = load_tree(path, layout)
    return jax.device_put(theta), description["provenance"]


def layout_of(config: Mapping[str, Any]) -> Theta:
    """The shapes alone: to make zeros of each shape would take longer than to read the file."""
    return shapes_of(ThetaConfig(tuple(config["learned"]), config["key_dim"], config["num_heads"]))


@cache
def shapes_of(config: ThetaConfig) -> Theta:
    return jax.eval_shape(lambda: theta_layout(config))
