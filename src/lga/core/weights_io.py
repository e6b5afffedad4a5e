"""Named tensors on disk: safetensors with a schema version, a description and a SHA-256. Nothing is ever unpickled."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from lga.core.checks import require

SCHEMA_VERSION = 1
ENTRY = "lga"


class WeightFileError(ValueError):
    """A file of tensors that cannot be trusted or understood; the message says why."""


def json_form(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings as they come back from a file's description: lists for tuples."""
    return json.loads(json.dumps(settings))


def write_atomically(path: Path, content: bytes) -> None:
    """All of the content or, if anything fails, the file as it was."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with open(partial, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def digest(tensors: dict[str, np.ndarray], description: dict[str, Any]) -> str:
    """SHA-256 over names, types, shapes and bytes of all tensors, and over the description."""
    sha = hashlib.sha256(json.dumps(description, sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = np.asarray(tensors[name], order="C")
        sha.update(f"{name} {tensor.dtype.str} {tensor.shape}".encode())
        sha.update(tensor.tobytes())
    return sha.hexdigest()


def save_tensors(path: str | Path, tensors: dict[str, np.ndarray], description: dict[str, Any]) -> str:
    """Writes the tensors with their JSON description and returns the SHA-256 that the file carries."""
    sha = digest(tensors, description)
    # One entry: safetensors writes several in random order, and equal weights must make equal files.
    header = {"schema_version": SCHEMA_VERSION, "description": description, "sha256": sha}
    contiguous = {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()}
    write_atomically(Path(path), save(contiguous, metadata={ENTRY: json.dumps(header, sort_keys=True)}))
    return sha


def load_tensors(path: str | Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The tensors and their description, after all checks."""
    path = Path(path)
    require(path.is_file(), f"path is {str(path)!r}, but must be an existing file of tensors.")
    try:
        with safe_open(path, framework="numpy") as file:
            header = json.loads((file.metadata() or {})[ENTRY])
            # The version comes first: what else a newer file holds is not for us to read.
            version = int(header["schema_version"])
            if version > SCHEMA_VERSION:
                raise WeightFileError(
                    f"{path} has schema version {version}, but this lga reads versions up to {SCHEMA_VERSION}: "
                    "update lga."
                )
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (the handle is no dict)
        description, expected = header["description"], header["sha256"]
    except WeightFileError:
        raise
    except KeyError as error:
        raise WeightFileError(f"{path} is damaged or was not written by lga: it has no {error} entry.") from error
    except (SafetensorError, TypeError, ValueError, OSError) as error:
        raise WeightFileError(f"{path} is damaged or was not written by lga: {error}.") from error
    if digest(tensors, description) != expected:
        raise WeightFileError(f"{path} is damaged: its content does not match its SHA-256 {expected[:12]}…")
    return tensors, description
