"""`LGA_KERNEL` decides, and what was decided is told."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lga.native import library

SEARCH = """
import sys, jax, jax.numpy as jnp, numpy as np, lga
from lga.native import status
theta = lga.init_theta(jax.random.key(0))
algorithm = lga.learned_ga(theta, 16)
start = jax.random.uniform(jax.random.key(1), (16, 6), minval=-5, maxval=5)

def search(key):
    return lga.run(key, algorithm, lambda k, x: jnp.sum(x**2, axis=1), start, 0.3, int(sys.argv[2]))[1].best_so_far

traces = jax.jit(jax.vmap(search))(jax.random.split(jax.random.key(2), int(sys.argv[3])))
np.save(sys.argv[1], traces)
print(status().kernel)
"""


def python(code: str, *args: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code, *args], capture_output=True, text=True, env={**os.environ, **environment}
    )


def searched(folder: Path, kernel: str, num_generations: int, num_seeds: int) -> np.ndarray:
    path = folder / f"{kernel}.npy"
    result = python(SEARCH, str(path), str(num_generations), str(num_seeds), LGA_KERNEL=kernel)
    assert result.stdout.split() == [kernel], result.stderr
    return np.load(path)


def test_both_kernels_walk_the_same_way_while_rounding_is_small(tmp_path):
    native, jax = (searched(tmp_path, kernel, 5, 8) for kernel in ("native", "jax"))
    np.testing.assert_allclose(native, jax, rtol=1e-3)


@pytest.mark.slow
def test_both_kernels_search_equally_well(tmp_path):
    """Late generations differ by chance (a rounding decides a draw, once in a while), not in distribution."""
    native, jax = (np.log10(searched(tmp_path, kernel, 60, 64)[:, -1]) for kernel in ("native", "jax"))
    standard_error = np.sqrt((native.var() + jax.var()) / 64)
    assert abs(native.mean() - jax.mean()) < 4 * standard_error


STATUS = "from lga.native import status; s = status(); print(s.kernel, '|', s.reason)"


def test_automatic_choice_takes_the_native_kernel():
    assert python(STATUS, LGA_KERNEL="auto").stdout.startswith("native")


def test_jax_can_be_asked_for():
    assert python(STATUS, LGA_KERNEL="jax").stdout == "jax | LGA_KERNEL asks for it\n"


def test_an_unknown_choice_is_refused_with_a_sentence():
    result = python(STATUS, LGA_KERNEL="fortran")
    assert "LGA_KERNEL is 'fortran', but must be one of: auto, native, jax." in result.stderr


def test_info_tells_the_kernel_and_its_reason():
    result = subprocess.run(
        [sys.executable, "-m", "lga", "info"], capture_output=True, text=True, env={**os.environ, "LGA_KERNEL": "jax"}
    )
    assert "jax: LGA_KERNEL asks for it" in result.stdout


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A copy of the library's folder, with nothing loaded yet."""
    folder = tmp_path / "native"
    shutil.copytree(library.FOLDER, folder)
    monkeypatch.setattr(library, "FOLDER", folder)
    monkeypatch.setattr(library, "LIBRARY", folder / library.LIBRARY.name)
    monkeypatch.setattr("lga.native.sources.FOLDER", folder)
    for function in (library.load, library.status):
        function.cache_clear()
    yield folder
    for function in (library.load, library.status):
        function.cache_clear()


def test_a_missing_library_means_jax_and_says_what_to_do(elsewhere, monkeypatch):
    library.LIBRARY.unlink()
    monkeypatch.setenv("LGA_KERNEL", "auto")
    assert library.status().kernel == "jax"
    assert "was not built: install a C++ compiler" in library.status().reason


def test_a_missing_library_that_was_asked_for_is_an_error(elsewhere, monkeypatch):
    library.LIBRARY.unlink()
    monkeypatch.setenv("LGA_KERNEL", "native")
    with pytest.raises(library.KernelUnavailableError, match="asks for the native kernel, but kernels.so was not"):
        library.status()


def test_a_library_older_than_its_sources_is_not_used(elsewhere, monkeypatch):
    with open(elsewhere / "vector.h", "a") as file:
        file.write("// changed\n")
    monkeypatch.setenv("LGA_KERNEL", "auto")
    assert library.status().kernel == "jax"
    assert "older than its sources" in library.status().reason


def test_a_damaged_library_is_not_used(elsewhere, monkeypatch):
    library.LIBRARY.unlink()
    library.LIBRARY.write_bytes(b"no library")
    monkeypatch.setenv("LGA_KERNEL", "auto")
    assert library.status().kernel == "jax"
    assert "does not load" in library.status().reason


def test_double_precision_and_other_generators_are_left_to_jax(monkeypatch):
    import jax
    import jax.numpy as jnp

    from lga import native
    from lga.core.random import mutate

    monkeypatch.setattr("lga.native.dispatch.status", lambda: native.Status("native", "test"))
    key, index = jax.random.key(0), jnp.zeros(2, jnp.int32)

    def program(key, dtype):
        return str(jax.make_jaxpr(lambda x, s: mutate(key, x, index, s))(jnp.zeros((1, 3), dtype), jnp.ones(2, dtype)))

    assert "lga_mutate" in program(key, jnp.float32)
    assert "lga_mutate" not in program(jax.random.key(0, impl="rbg"), jnp.float32)
    with jax.enable_x64(True):
        assert "lga_mutate" not in program(key, jnp.float64)


def test_a_program_for_another_platform_holds_no_native_call(monkeypatch):
    import jax
    import jax.numpy as jnp

    from lga import native
    from lga.core.random import uniform

    monkeypatch.setattr("lga.native.dispatch.status", lambda: native.Status("native", "test"))
    draw = jax.jit(lambda key: uniform(key, 4) + jnp.ones(4)).trace(jax.random.key(0))
    assert "lga_uniform" in draw.lower(lowering_platforms=("cpu",)).as_text()
    assert "lga_uniform" not in draw.lower(lowering_platforms=("tpu",)).as_text()
