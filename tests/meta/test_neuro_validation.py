"""Validation on networks, beside validation on functions."""

import dataclasses
import json

import numpy as np
import pytest

from lga.analysis import figures
from lga.meta import neuro_validation
from lga.meta.config import MetaConfig
from lga.meta.neuro_validation import VALIDATION_TASKS, neuro_validator
from lga.meta.run_directory import METRICS, read_metrics
from lga.meta.train import train
from lga.operators.fold import theta_layout
from lga.operators.theta import ThetaConfig
from lga.tasks.network_task import TaskSize
from lga.weights import resolve
from meta.tiny import TINY

pytestmark = pytest.mark.usefixtures("ranks_promoted", "random_images")


@pytest.fixture
def short(monkeypatch):
    """Runs of a few generations."""
    for name, settings in VALIDATION_TASKS.items():
        size = TaskSize(4, 20, num_steps=20)
        monkeypatch.setitem(VALIDATION_TASKS, name, settings._replace(num_children=8, num_generations=3, size=size))
    monkeypatch.setattr(neuro_validation, "NUM_SEEDS", 1)


def test_training_logs_and_draws_the_scores_on_networks(tmp_path, short):
    config = dataclasses.replace(TINY, meta_generations=4, validate_every=2, validation_tasks=("digits", "pendulum"))
    train(config, tmp_path)
    validated = [entry["validation"] for entry in read_metrics(tmp_path) if "validation" in entry]
    assert len(validated) == 2
    for validation in validated:
        assert set(validation["neuroevolution"]) == {"digits", "pendulum"}
        assert 0.0 <= validation["neuroevolution"]["digits"] <= 1.0
        assert validation["neuroevolution"]["pendulum"] < 0.0
    figures.training_curves(read_metrics(tmp_path), tmp_path / "curves.png")
    assert (tmp_path / "curves.png").stat().st_size > 0


def test_training_is_not_changed_by_what_it_is_validated_on(tmp_path, short):
    plain = dataclasses.replace(TINY, meta_generations=4, validate_every=2)
    first = train(plain, tmp_path / "plain")
    second = train(dataclasses.replace(plain, validation_tasks=("digits",)), tmp_path / "more")
    np.testing.assert_array_equal(first.select.query.kernel, second.select.query.kernel)
    lines = (tmp_path / "plain" / METRICS).read_text().splitlines()
    assert all("neuroevolution" not in json.loads(line).get("validation", {}) for line in lines)


def test_other_tasks_are_refused():
    with pytest.raises(
        ValueError, match="validation_tasks is 'hopper', but must be one of: digits, mnist-14, pendulum"
    ):
        MetaConfig(validation_tasks=("hopper",))


@pytest.mark.slow
def test_learned_weights_do_better_on_digits_than_weights_of_zero():
    validate = neuro_validator(("digits",))
    learned, zero = (validate(theta)["digits"] for theta in (resolve("lga-1").theta, theta_layout(ThetaConfig())))
    assert learned > zero
