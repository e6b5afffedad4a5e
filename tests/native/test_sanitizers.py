"""No read or write beyond an array, and no undefined behaviour, over random shapes and values, right and wrong ones."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import jax
import pytest

from lga.native import library
from lga.native.sources import HANDLERS, KERNELS, source_digest

SECONDS = 20
FLAGS = {"avx512": ["-mavx512f", "-mavx512vl", "-mavx512dq", "-mavx512bw", "-mfma"], "avx2": ["-mavx2", "-mfma"]}
# The kernels assume finite numbers, the fuzz does not: it looks for NaN.
COMMON = ["-std=c++17", "-O1", "-g", "-Wno-psabi", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
COMMON += [f"-I{library.FOLDER}"]
COMPILER = shutil.which("g++") or "g++"

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")]


def compiled(flags: list[str], sources: list[Path], out: Path) -> Path:
    built = subprocess.run(
        [COMPILER, *COMMON, *flags, *map(str, sources), "-o", str(out)], capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    return out


def test_a_fuzz_of_shapes_and_values_finds_nothing(instruction_set, tmp_path):
    flags = [f"-DLGA_INSTRUCTION_SET={instruction_set}", "-static-libasan", *FLAGS.get(instruction_set, [])]
    sources = [Path(__file__).with_name("fuzz.cc"), library.FOLDER / "kernels.cc"]
    program = compiled(flags, sources, tmp_path / "fuzz")
    result = subprocess.run([str(program), str(SECONDS), "1"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert int(result.stdout.split()[0]) > 100


def test_handlers_that_are_given_wrong_shapes_read_and_write_nothing_beyond_them(tmp_path):
    """The tests of wrong shapes, with a library in which every access is checked."""
    # Shapes are checked before an instruction set is chosen, so one is enough.
    about = ["-DLGA_INSTRUCTION_SET=baseline", f'-DLGA_SOURCE_DIGEST="{source_digest()}"']
    sources = [library.FOLDER / name for name in (*HANDLERS, KERNELS)]
    flags = ["-shared", "-fPIC", "-isystem", jax.ffi.include_dir(), *about]
    built = compiled(flags, sources, tmp_path / "kernels.so")
    runtime = [
        subprocess.run(
            [COMPILER, f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in ("libasan.so", "libubsan.so", "libstdc++.so")
    ]
    environment = {
        "LD_PRELOAD": " ".join(runtime),
        # Python itself frees little at its end, and JAX sees exceptions of its own.
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "LGA_TESTED_LIBRARY": str(built),
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "cache"),
    }
    tests = [str(Path(__file__).with_name("test_shapes.py")), "-k", "handlers", "-n", "0", "-q"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *tests], capture_output=True, text=True, env=os.environ | environment
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    assert "ERROR: AddressSanitizer" not in done.stdout + done.stderr
