"""The smallest training run that is still one: seconds, not minutes."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from lga.meta.config import MetaConfig

TINY = MetaConfig(
    family=("sphere",),
    noise=("none",),
    dims=(2, 3),
    num_children=(8,),
    num_generations=(10, 10),
    meta_population=16,
    num_tasks=8,
    meta_generations=30,
    validate_every=10,
)

TINY_ARGUMENTS = [
    *("--preset", "smoke", "--family", "sphere", "--noise", "none", "--dims", "2", "3"),
    *("--num-children", "8", "--num-generations", "10", "10"),
    *("--meta-population", "16", "--num-tasks", "8", "--meta-generations", "30", "--validate-every", "10"),
    "--no-compare",
]


def lga_process(*arguments: str, cache: Path) -> subprocess.Popen:
    """The command line in a process of its own; programs compiled by one such process serve the next."""
    return subprocess.Popen(
        [sys.executable, "-m", "lga", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"XDG_CACHE_HOME": str(cache)},
    )


def finish(process: subprocess.Popen) -> str:
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output
    return output


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
