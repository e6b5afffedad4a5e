"""What several tests of searches need."""

import signal

import pytest


@pytest.fixture
def ctrl_c_works():
    """Shells start processes in the background with Ctrl-C ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
