"""Meta-training on tasks that look like tuning."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lga.meta.config import MetaConfig, Scale
from lga.meta.objective import JUDGES, candidate_verdicts, sample_trials
from lga.meta.search_space import search_space
from lga.meta.tuning_validation import TuningValidation, tuning_validator

TINY = MetaConfig(
    learned=("sample", "scatter", "screen"),
    search_space="compact",
    tasks="tuning",
    scales=("3x4x6-6",),
    sigma0=(1.0, 1.0),
    num_tasks=3,
    meta_population=4,
    objective="area",
    normalization="rank",
    aggregation="mean",
    optimizer="cma_es",
)


def test_an_area_is_the_mean_of_the_best_so_far():
    judge = JUDGES["area"]
    judged = judge.init()
    for t, gaps in enumerate(([3.0, 4.0], [5.0, 1.0], [2.0, 2.0])):
        judged = judge.see(judged, t, 3, jnp.array(gaps))
    assert float(judge.verdict(judged)) == pytest.approx((3.0 + 1.0 + 1.0) / 3)


def test_candidates_meet_the_same_tasks_and_differ_by_their_numbers():
    start = np.asarray(search_space(TINY).start)
    # An attention that reaches nowhere knows nothing of its past.
    vectors = jnp.asarray(np.stack([start, start, start - 3.0]))
    trials = sample_trials(jax.random.key(0), TINY, 3)
    single = candidate_verdicts(TINY, 4)
    outcomes = np.asarray(jax.jit(lambda w: jax.lax.map(lambda trial: single(w, trial, 6), trials))(vectors))
    assert outcomes.shape == (3, 3)
    np.testing.assert_array_equal(outcomes[:, 0], outcomes[:, 1])
    assert np.all(outcomes[:, 0] != outcomes[:, 2])


def test_validation_has_its_own_tasks_and_repeats_itself():
    theta = search_space(TINY).theta(search_space(TINY).start)
    validate = tuning_validator(TuningValidation((Scale(3, 4, 6),), num_tasks=4), TINY)
    first, again = validate(theta), validate(theta)
    assert first == again
    assert list(first["per_scale"]) == ["3x4x6"]
    assert 0.0 < first["score"] < 1.0


def test_tasks_that_look_like_tuning_need_scales():
    with pytest.raises(ValueError, match="tasks is tuning, which needs scales"):
        replace(TINY, scales=())
