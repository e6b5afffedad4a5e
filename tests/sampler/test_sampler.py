"""Optuna's own tests of samplers, and what is promised beyond them."""

import optuna
import pytest
from optuna.testing.pytest_samplers import BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase

from lga.optuna import LGASampler

optuna.logging.set_verbosity(optuna.logging.ERROR)


class TestLGASampler(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):
    @pytest.fixture
    def sampler(self):
        return lambda: LGASampler(seed=0)
