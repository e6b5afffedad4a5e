"""Strict settings for all tests: ranks are never promoted in silence, and property tests are the same in every run."""

import os
import tempfile
from pathlib import Path

import jax
import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from lga.tasks import vision
from lga.tasks.data import Images

jax.config.update("jax_numpy_rank_promotion", "raise")
# Tests compile the same programs over and over, in several processes.
jax.config.update("jax_compilation_cache_dir", str(Path(tempfile.gettempdir()) / f"lga-tests-{os.getuid()}"))
# To build a program of lanes takes seconds for each simulator; tests/lanes has its own.
os.environ.setdefault("LGA_LANES", "0")

settings.register_profile(
    "lga",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=25,
    # The first example of a shape compiles, which takes longer than all others.
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("lga")


@pytest.fixture
def no_key_reuse():
    """A random key that is used twice raises an error."""
    with jax.debug_key_reuse(True):
        yield


@pytest.fixture
def ranks_promoted():
    """For evosax, whose code adds vectors to matrices."""
    with jax.numpy_rank_promotion("allow"):
        yield


@pytest.fixture
def random_images(monkeypatch):
    """Random images stand for those of the data files."""
    generator = np.random.default_rng(0)

    def part(number):
        return generator.random((number, 28, 28, 1), dtype=np.float32), np.arange(number, dtype=np.int32) % 10

    images = Images(*part(40), *part(20))
    monkeypatch.setattr(vision, "cached_images", lambda name: images)
