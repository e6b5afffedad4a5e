"""No read or write beyond an array, and no undefined behaviour, over random shapes and values."""

import shutil
import subprocess
from pathlib import Path

import pytest

from lga.native import library

SECONDS = 20
FLAGS = {"avx512": ["-mavx512f", "-mavx512vl", "-mavx512dq", "-mavx512bw", "-mfma"], "avx2": ["-mavx2", "-mfma"]}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_a_fuzz_of_shapes_and_values_finds_nothing(instruction_set, tmp_path):
    program = tmp_path / "fuzz"
    sources = [str(Path(__file__).with_name("fuzz.cc")), str(library.FOLDER / "kernels.cc")]
    sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-static-libasan"]
    # The kernels assume finite numbers, the fuzz does not: it looks for NaN.
    flags = ["-std=c++17", "-O1", "-g", "-Wno-psabi", f"-DLGA_INSTRUCTION_SET={instruction_set}"]
    command = ["g++", *flags, *sanitizers, *FLAGS.get(instruction_set, []), f"-I{library.FOLDER}", *sources]
    built = subprocess.run([*command, "-o", str(program)], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    result = subprocess.run([str(program), str(SECONDS), "1"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert int(result.stdout.split()[0]) > 100
