"""Compiled programs are kept on disk only if somebody asks, in a folder of the user's own."""

import os
import subprocess
import sys

import jax
import pytest

from lga.core import compile_cache
from lga.core.compile_cache import use_compilation_cache


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """A process in which nothing is set yet."""
    before = jax.config.jax_compilation_cache_dir, jax.config.jax_persistent_cache_min_compile_time_secs
    jax.config.update("jax_compilation_cache_dir", None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(compile_cache.SWITCH, raising=False)
    yield tmp_path / "lga" / "compiled"
    jax.config.update("jax_compilation_cache_dir", before[0])
    jax.config.update("jax_persistent_cache_min_compile_time_secs", before[1])


def test_it_is_set_in_the_users_cache_folder(fresh):
    use_compilation_cache()
    assert jax.config.jax_compilation_cache_dir == str(fresh)


def test_one_variable_switches_it_off(fresh, monkeypatch):
    monkeypatch.setenv(compile_cache.SWITCH, "0")
    use_compilation_cache()
    assert jax.config.jax_compilation_cache_dir is None
    assert not fresh.exists()


def test_a_cache_that_was_chosen_before_stays(fresh, tmp_path):
    jax.config.update("jax_compilation_cache_dir", str(tmp_path / "mine"))
    use_compilation_cache()
    assert jax.config.jax_compilation_cache_dir == str(tmp_path / "mine")


def test_the_folder_of_somebody_else_is_not_used(fresh, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 12345, raising=False)
    use_compilation_cache()
    assert jax.config.jax_compilation_cache_dir is None


def test_a_link_and_a_folder_that_all_may_write_to_are_not_used(fresh, tmp_path):
    fresh.mkdir(parents=True)
    fresh.chmod(0o777)
    use_compilation_cache()
    assert jax.config.jax_compilation_cache_dir is None
    fresh.rmdir()
    (tmp_path / "elsewhere").mkdir()
    fresh.symlink_to(tmp_path / "elsewhere")
    use_compilation_cache()
    assert jax.config.jax_compilation_cache_dir is None


def test_a_new_folder_is_the_users_alone(fresh):
    use_compilation_cache()
    assert fresh.stat().st_mode & 0o077 == 0


def test_a_folder_that_cannot_be_made_is_done_without(fresh, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    use_compilation_cache()
    assert jax.config.jax_compilation_cache_dir is None


def test_importing_sets_nothing(tmp_path):
    code = (
        "import jax, lga.optimize.minimize, lga.cli.train, lga.cli.bench, lga.cli.minimize\n"
        "assert jax.config.jax_compilation_cache_dir is None"
    )
    subprocess.run([sys.executable, "-c", code], env=os.environ | {"XDG_CACHE_HOME": str(tmp_path)}, check=True)
    assert not (tmp_path / "lga").exists()
