"""Finds the compiled kernels and decides, once a process, whether they are used."""

import ctypes
import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jax

from lga.native.sources import FOLDER, SOURCES, source_digest

LIBRARY = FOLDER / "kernels.so"
HANDLERS = ("split", "fold_in", "uniform", "select", "sample", "blend", "rate", "mutate", "bend", "adapt", "survive")
HANDLERS += ("convolve",)
VARIABLE = "LGA_KERNEL"
CHOICES = ("auto", "native", "jax")
REMEDY = "install a C++ compiler and run `pip install` again"


class KernelUnavailableError(ImportError):
    """The native kernel was asked for and cannot be used; the message says why and what to do."""


@dataclass(frozen=True)
class Status:
    """Which kernel is in use, and why."""

    kernel: str
    """native or jax"""
    reason: str
    instruction_set: str | None = None
    """What the native kernel was compiled for: avx512, avx2 or baseline."""


@cache
def status() -> Status:
    choice = os.environ.get(VARIABLE, "auto")
    if choice not in CHOICES:
        raise ValueError(f"{VARIABLE} is {choice!r}, but must be one of: {', '.join(CHOICES)}.")
    if choice == "jax":
        return Status("jax", f"{VARIABLE} asks for it")
    try:
        library = load()
    except KernelUnavailableError as error:
        if choice == "native":
            raise KernelUnavailableError(f"{VARIABLE} asks for the native kernel, but {error}") from error
        return Status("jax", str(error))
    why = f"{VARIABLE} asks for it" if choice == "native" else f"{LIBRARY.name} is installed"
    return Status("native", why, library.lga_instruction_set().decode())


@cache
def load() -> ctypes.CDLL:
    """The library, its handlers known to XLA."""
    if not LIBRARY.exists():
        raise KernelUnavailableError(f"{LIBRARY.name} was not built: {REMEDY}.")
    try:
        library = ctypes.CDLL(str(LIBRARY))
        library.lga_instruction_set.restype = library.lga_source_digest.restype = ctypes.c_char_p
        library.lga_use_instruction_set.restype = ctypes.c_bool
    except (OSError, AttributeError) as error:
        raise KernelUnavailableError(f"{LIBRARY.name} does not load ({error}): {REMEDY}.") from error
    # Only a checkout has the sources beside the library, and only there can they be newer than it.
    if all((FOLDER / name).exists() for name in SOURCES) and library.lga_source_digest().decode() != source_digest():
        raise KernelUnavailableError(f"{LIBRARY.name} is older than its sources: run `pip install -e .` again.")
    # Asked first: handlers that jaxlib cannot take are refused when its backend starts, and then nothing runs on it.
    if library.lga_interface() > interface_of_jaxlib():
        raise KernelUnavailableError(f"{LIBRARY.name} was built for a later jaxlib than this one: {REMEDY}.")
    try:
        for name in HANDLERS:
            handler = jax.ffi.pycapsule(getattr(library, f"lga_{name}"))
            jax.ffi.register_ffi_target(f"lga_{name}", handler, platform="cpu")
    except Exception as error:
        raise KernelUnavailableError(f"this jaxlib refuses {LIBRARY.name} ({error}): {REMEDY}.") from error
    return library


def interface_of_jaxlib() -> int:
    """The version of XLA's interface for handlers, as 1000 * major + minor; it takes those of earlier ones too."""
    header = (Path(jax.ffi.include_dir()) / "xla/ffi/api/c_api.h").read_text()
    major, minor = (int(re.findall(rf"#define XLA_FFI_API_{part} (\d+)", header)[0]) for part in ("MAJOR", "MINOR"))
    return 1000 * major + minor
