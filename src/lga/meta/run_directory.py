"""The folder of a training run: settings, metrics, checkpoint and weights, each written whole or not at all.

They belong together. The settings carry their SHA-256, and the checkpoint carries the settings. Each line of the
metrics carries a SHA-256 over itself and over the line before, the first one over the settings: none can be changed,
left out or taken from another run without it being noticed.
"""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lga.core.checks import require
from lga.core.files import Lock, sweep, write_atomically
from lga.core.tree_io import TreeFileError, differences, digest, filled, load_leaves, save_tree, sentence, shapes
from lga.meta.config import MetaConfig, from_json

CONFIG, METRICS, CHECKPOINT, LOCK = "config.json", "metrics.jsonl", "checkpoint.safetensors", ".lock"
BEST, FINAL, CURVES = "best.safetensors", "final.safetensors", "curves.png"
SEAL = "sha256"


class RunDirectory:
    """One run at a time holds the folder; the lock goes with the process, however that ends."""

    def __init__(self, path: Path, config: MetaConfig, resume: bool):
        self.path, self.config = path, config
        self.last_seal = seal_of(config)
        self._lock = Lock(path / LOCK, f"directory is {str(path)!r}, but another run is at work there.")
        try:
            sweep(path)
            for unfinished in path.glob(f".*.{CURVES}"):
                unfinished.unlink()
            self._check_settings(resume)
            if not resume:
                self._write_config()
        except BaseException:
            self.close()
            raise

    def _check_settings(self, resume: bool) -> None:
        require(
            resume or not (self.path / CONFIG).exists(),
            f"directory is {str(self.path)!r}, but holds a run already: continue it with --resume, or name another.",
        )
        if not resume:
            return
        different = different_settings(asdict(saved_config(self.path)), self.config)
        require(
            not different, f"directory is {str(self.path)!r}, but its run had other settings: {sentence(different)}."
        )

    def _write_config(self) -> None:
        settings = asdict(self.config)
        content = json.dumps(settings | {SEAL: digest({}, settings)}, indent=1)
        write_atomically(self.path / CONFIG, content.encode())

    def close(self) -> None:
        self._lock.close()

    def save_checkpoint(self, meta_generation: int, state: Any, best: dict[str, Any] | None) -> None:
        description = {
            "kind": "checkpoint",
            "config": asdict(self.config),
            "meta_generation": meta_generation,
            "best": best,
        }
        try:
            save_tree(self.path / CHECKPOINT, state, description)
        except OSError as error:
            raise OSError(
                f"{self.path / CHECKPOINT} could not be written ({error.strerror}); the last good one is still there."
            ) from error

    def log(self, entry: dict[str, Any]) -> None:
        with open(self.path / METRICS, "a") as file:
            file.write(self._sealed(entry))

    def _sealed(self, entry: dict[str, Any]) -> str:
        self.last_seal = next_seal(self.last_seal, entry)
        return json.dumps(entry | {SEAL: self.last_seal}) + "\n"

    def begin_after(self, meta_generation: int) -> None:
        """Drops metrics that a killed run wrote after its last checkpoint: they will be written again."""
        entries = read_metrics(self.path)[:meta_generation]
        # Runs from before there were seals have none.
        if is_sealed(self.path):
            check_metrics(self.path / METRICS, entries, seal_of(self.config), meta_generation)
        write_atomically(self.path / METRICS, "".join(map(self._sealed, map(without_seal, entries))).encode())
        self._write_config()


def check_metrics(path: Path, entries: list[dict[str, Any]], seal: str, meta_generation: int) -> None:
    for number, entry in enumerate(entries, start=1):
        seal = next_seal(seal, without_seal(entry))
        if entry.get(SEAL) != seal:
            raise TreeFileError(f"{path} is damaged or of another run: line {number} does not match its SHA-256.")
    if len(entries) < meta_generation:
        raise TreeFileError(f"{path} is damaged: it has {len(entries)} whole lines of {meta_generation}.")


def seal_of(config: MetaConfig) -> str:
    """Of the settings that a run cannot change, as far as they are its own: defaults may be added by later versions."""
    return digest({}, {name: now for name, (_, now) in different_settings(asdict(MetaConfig()), config).items()})


def without_seal(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != SEAL}


def next_seal(before: str, entry: dict[str, Any]) -> str:
    return hashlib.sha256(f"{before}\n{json.dumps(entry)}".encode()).hexdigest()


def different_settings(before: dict[str, Any], now: MetaConfig) -> dict[str, tuple[Any, Any]]:
    # Schedules count meta-generations, so a longer run begins like a shorter one.
    different = differences(before, asdict(now))
    return {name: pair for name, pair in different.items() if name != "meta_generations"}


def load_checkpoint(path: Path, like: Any, config: MetaConfig) -> tuple[int, Any, dict[str, Any] | None]:
    """(meta_generation, state, best); a run without a checkpoint starts over from the state `like`."""
    if not (path / CHECKPOINT).exists():
        return 0, like, None
    leaves, description = load_leaves(path / CHECKPOINT)
    require(
        description.get("kind") == "checkpoint" and shapes(leaves) == shapes(like),
        f"{path / CHECKPOINT} does not hold the state of this run's meta-optimiser.",
    )
    different = different_settings(asdict(from_json(description["config"])), config)
    require(not different, f"{path / CHECKPOINT} is of another run: {sentence(different)}.")
    return description["meta_generation"], filled(like, leaves), description["best"]


def saved_config(path: Path) -> MetaConfig:
    require((path / CONFIG).is_file(), f"directory is {str(path)!r}, but holds no run to resume: there is no {CONFIG}.")
    try:
        return from_json(without_seal(read_config(path)))
    except TreeFileError:
        raise
    except (AttributeError, TypeError, ValueError) as error:
        raise TreeFileError(f"{path / CONFIG} is damaged or was not written by lga: {error}") from error


def read_config(path: Path) -> dict[str, Any]:
    try:
        settings = json.loads((path / CONFIG).read_text())
        require(isinstance(settings, dict), "it holds no settings")
    except ValueError as error:
        raise TreeFileError(f"{path / CONFIG} is damaged or was not written by lga: {error}.") from error
    if SEAL in settings and settings[SEAL] != digest({}, without_seal(settings)):
        raise TreeFileError(f"{path / CONFIG} is damaged: its content does not match its SHA-256.")
    return settings


def is_sealed(path: Path) -> bool:
    return SEAL in read_config(path)


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """All whole lines; the last may be cut off by a kill."""
    if not (path / METRICS).exists():
        return []
    entries = []
    for line in (path / METRICS).read_text(errors="replace").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            break
        if not isinstance(entry, dict):
            break
        entries.append(entry)
    return entries
