"""The folder of a training run: settings, metrics, checkpoint and weights, each written whole or not at all."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:
    fcntl = None  # Windows: there the folder is not locked.

from lga.core.checks import require
from lga.core.tree_io import differences, filled, load_leaves, save_tree, sentence, shapes, write_atomically
from lga.meta.config import MetaConfig, from_json

CONFIG, METRICS, CHECKPOINT, LOCK = "config.json", "metrics.jsonl", "checkpoint.safetensors", ".lock"
BEST, FINAL, CURVES = "best.safetensors", "final.safetensors", "curves.png"


class RunDirectory:
    """One run at a time holds the folder; the lock goes with the process, however that ends."""

    def __init__(self, path: Path, config: MetaConfig, resume: bool):
        path.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.config = config
        self._lock = open(path / LOCK, "w")  # noqa: SIM115 (held for the life of the run)
        try:
            if fcntl is not None:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise ValueError(f"directory is {str(path)!r}, but another run is at work there.") from None
        try:
            self._check_settings(resume)
            write_atomically(path / CONFIG, json.dumps(asdict(config), indent=1).encode())
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
        different = differences(asdict(saved_config(self.path)), asdict(self.config))
        # Schedules count meta-generations, so a longer run begins like a shorter one.
        different.pop("meta_generations", None)
        require(
            not different, f"directory is {str(self.path)!r}, but its run had other settings: {sentence(different)}."
        )

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
            file.write(json.dumps(entry) + "\n")

    def forget_metrics_after(self, meta_generation: int) -> None:
        """Drops what a killed run wrote after its last checkpoint; it will be written again."""
        kept = [entry for entry in read_metrics(self.path) if entry["meta_generation"] <= meta_generation]
        write_atomically(self.path / METRICS, "".join(json.dumps(entry) + "\n" for entry in kept).encode())


def load_checkpoint(path: Path, like: Any) -> tuple[int, Any, dict[str, Any] | None]:
    """(meta_generation, state, best); a run without a checkpoint starts over from the state `like`."""
    if not (path / CHECKPOINT).exists():
        return 0, like, None
    leaves, description = load_leaves(path / CHECKPOINT)
    require(
        description.get("kind") == "checkpoint" and shapes(leaves) == shapes(like),
        f"{path / CHECKPOINT} does not hold the state of this run's meta-optimiser.",
    )
    return description["meta_generation"], filled(like, leaves), description["best"]


def saved_config(path: Path) -> MetaConfig:
    require((path / CONFIG).is_file(), f"directory is {str(path)!r}, but holds no run to resume: there is no {CONFIG}.")
    return from_json(json.loads((path / CONFIG).read_text()))


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """All whole lines; the last may be cut off by a kill."""
    if not (path / METRICS).exists():
        return []
    entries = []
    for line in (path / METRICS).read_text().splitlines():
        try:
            entries.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return entries
