"""The files of HPO-B: found in the data directory, fetched when they are missing, checked in any case.

There are two ways to them. The archives of its authors have all of it. Where these cannot be had, the PyPI package
`bocode` has most of the pools, and three small files say what is missing in it: the initial points, the range of each
task, and how to undo the logarithms that the package takes of some columns.
"""

import hashlib
import importlib.util
import io
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np

from lga.core.checks import require
from lga.core.tree_io import write_atomically
from lga.tasks.data import DOWNLOAD_SECONDS, data_directory

FOLDER = "hpob"
PACKAGE, PACKAGE_FILE = "bocode==1.0.1", "opt_problems/hpo/data/hpob_data.npz"
POOLS, INITIAL_POINTS, RANGES, LOGARITHMS = (
    "hpob_data.npz",
    "bo-initializations.json",
    "summary-stats.json",
    "bocode_logfix_inverse.json",
)
DATA_ARCHIVE, SURROGATE_ARCHIVE = "hpob-data.zip", "saved-surrogates.zip"
SHA256 = {
    POOLS: "0e25453ecbc8a634a17a6f276e31cf00eb5ad4dbb2a28fd3a373525ae3e22519",
    INITIAL_POINTS: "ab33e12c85eb9d01b14aaa90dd30324e0415f0e8f945d021114de70f5a63ede3",
    RANGES: "5a9d0039efd8a91c6923cf6a370a67d0b20c3c6e57c6d57d88631173975481b6",
    LOGARITHMS: "537c94cfddd540f69e7cce23f8d78d952bd90ff7382e09bb83abbc8b8fb70a51",
    DATA_ARCHIVE: "ab1c439e50ffea3d8a3f1e0ad7ee7f03cd3c12df05576de84ad7c3b58fbf3358",
    SURROGATE_ARCHIVE: "bda3a71e8b720efa97ea654a5e883f87aed1345fa35553318980e1d45b7b5662",
}
MIRRORS = {
    DATA_ARCHIVE: "https://rewind.tf.uni-freiburg.de/index.php/s/xdrJQPCTNi2zbfL/download/hpob-data.zip",
    SURROGATE_ARCHIVE: "https://rewind.tf.uni-freiburg.de/index.php/s/rTwPgaxS2Z7NH39/download/saved-surrogates.zip",
}
PIP_SECONDS = 600


class HpobMissing(OSError):
    """The data are not here and cannot be fetched; the message says what to do."""


def folder() -> Path:
    return data_directory() / FOLDER


def has_archives() -> bool:
    return (folder() / DATA_ARCHIVE).is_file()


def has_small_files() -> bool:
    return all((folder() / name).is_file() for name in (INITIAL_POINTS, RANGES, LOGARITHMS))


def checked(name: str, content: bytes) -> bytes:
    require(
        hashlib.sha256(content).hexdigest() == SHA256[name],
        f"{folder() / name} is damaged or another file: its SHA-256 is not the expected one. Delete it.",
    )
    return content


def small_file(name: str) -> dict[str, Any]:
    return json.loads(checked(name, (folder() / name).read_bytes()))


def pools_of_package() -> dict[str, np.ndarray]:
    """The arrays of `bocode`: its file in the data directory or where it is installed; else pip is asked for it."""
    path = folder() / POOLS
    installed = importlib.util.find_spec("bocode")
    if not path.is_file() and installed is not None and installed.submodule_search_locations:
        path = Path(installed.submodule_search_locations[0]) / PACKAGE_FILE
    content = path.read_bytes() if path.is_file() else download_package()
    with np.load(io.BytesIO(checked(POOLS, content)), allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def download_package() -> bytes:
    """The package's file, by pip and so from wherever pip is told to look; it is kept in the data directory."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", scratch, PACKAGE]
        answer = subprocess.run(command, capture_output=True, text=True, timeout=PIP_SECONDS, check=False)
        wheels = list(Path(scratch).glob("*.whl"))
        if answer.returncode or not wheels:
            raise HpobMissing(missing_sentence(f"pip cannot fetch {PACKAGE}"))
        with zipfile.ZipFile(wheels[0]) as wheel:
            content = wheel.read(f"bocode/{PACKAGE_FILE}")
    folder().mkdir(parents=True, exist_ok=True)
    write_atomically(folder() / POOLS, checked(POOLS, content))
    return content


def archive(name: str) -> zipfile.ZipFile:
    """One of the authors' archives, downloaded if it is missing."""
    path = folder() / name
    if not path.is_file():
        try:
            with urlopen(MIRRORS[name], timeout=DOWNLOAD_SECONDS) as response:
                content = checked(name, response.read())
        except (URLError, OSError) as error:
            raise HpobMissing(missing_sentence(f"{MIRRORS[name]} cannot be reached")) from error
        folder().mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    require(found == SHA256[name], f"{path} is damaged or another file: its SHA-256 is not the expected one.")
    return zipfile.ZipFile(path)


def json_in(opened: zipfile.ZipFile, name: str) -> Any:
    """The JSON file of that name, in whatever folder of the archive."""
    found = [member for member in opened.namelist() if Path(member).name == name]
    require(len(found) == 1, f"{opened.filename} has {len(found)} files {name}, but must have one.")
    return json.loads(opened.read(found[0]))


def missing_sentence(reason: str) -> str:
    return (
        f"the data of HPO-B are not in {folder()}, and {reason}: put {DATA_ARCHIVE} and {SURROGATE_ARCHIVE} of its "
        f"authors there, or {INITIAL_POINTS}, {RANGES} and {LOGARITHMS} beside the PyPI package {PACKAGE}, or point "
        "LGA_DATA at a folder that has them."
    )
