import numpy as np
import pytest

from lga.algorithms import presets
from lga.bench.protocol import Budget, Method, Tuned, baselines, learned, measure, tune
from lga.operators.fold import theta_layout
from lga.operators.theta import ThetaConfig
from lga.tasks import bbob
from lga.trials import log_gaps

TASKS = bbob.instances(("sphere",), (1, 2), 3)
BUDGET = Budget(num_children=8, num_generations=10, num_seeds=3)


def test_tuning_finds_the_rate_that_is_not_absurd():
    method = Method("Gaussian GA", presets.gaussian_ga, (0.0, 0.5), (1e-6, 0.5, 1e6))
    assert tune(method, TASKS, BUDGET, seed=0).sigma == 0.5


def test_measured_traces_repeat_and_have_one_row_for_each_task_and_seed():
    tuned = Tuned(Method("SAMR-GA", presets.samr_ga, (0.5,), (0.5,)), 0.5, 0.5, 0.0)
    first, second = (np.asarray(measure(tuned, TASKS, BUDGET, seed=3).best_so_far) for _ in range(2))
    assert first.shape == (2, 3, 10)
    np.testing.assert_array_equal(first, second)


def test_two_methods_start_from_equal_points():
    """In the first generation nothing but the children can differ, and random search's do not depend on the start."""
    methods = [Method(str(rho), presets.gaussian_ga, (rho,), (1e-12,)) for rho in (0.0, 1.0)]
    starts = [
        measure(Tuned(m, m.elite_ratios[0], 1e-12, 0.0), TASKS, BUDGET, seed=3).best_so_far[..., 0] for m in methods
    ]
    np.testing.assert_allclose(starts[0], starts[1], rtol=1e-5)


@pytest.mark.usefixtures("ranks_promoted")
@pytest.mark.parametrize("method", baselines((0.5,), (0.5,)), ids=lambda method: method.name)
def test_every_baseline_is_measured(method):
    gaps = log_gaps(measure(Tuned(method, method.elite_ratios[0], 0.5, 0.0), TASKS, BUDGET, seed=0))
    assert np.isfinite(np.asarray(gaps)).all()


def test_a_learned_ga_is_measured_untuned():
    method = learned("ours", theta_layout(ThetaConfig()))
    assert tune(method, TASKS, BUDGET, seed=0)[1:3] == (1.0, 0.25)
