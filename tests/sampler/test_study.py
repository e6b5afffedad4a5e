"""Studies that stop and go on, fail, are shared, or were begun by somebody else."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import optuna
import pytest

from lga.optuna import LGASampler
from lga.optuna.sampler import PLACE

optuna.logging.set_verbosity(optuna.logging.ERROR)
TRIALS = 36


def bowl(trial: optuna.Trial) -> float:
    x = [trial.suggest_float(f"x{i}", -5, 5) for i in range(3)]
    gear = trial.suggest_int("gear", 1, 9)
    alloy = trial.suggest_categorical("alloy", ["steel", "brass", "zinc"])
    return sum((one - 2.0) ** 2 for one in x) + (gear - 4) ** 2 + {"steel": 3.0, "brass": 0.0, "zinc": 6.0}[alloy]


def searched(num_trials: int = TRIALS, objective=bowl, sampler=None, **options) -> optuna.Study:
    study = optuna.create_study(sampler=sampler or LGASampler(seed=1), **options)
    study.optimize(objective, n_trials=num_trials)
    return study


def asked(study: optuna.Study) -> list[dict]:
    return [trial.params for trial in study.trials]


def generations(study: optuna.Study) -> list[int]:
    return [trial.system_attrs[PLACE][1] for trial in study.trials if PLACE in trial.system_attrs]


def storage(kind: str, folder) -> optuna.storages.BaseStorage:
    if kind == "sqlite":
        return optuna.storages.RDBStorage(f"sqlite:///{folder}/study.db")
    return optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(f"{folder}/study.log"))


def test_a_search_is_far_better_than_chance():
    chance = searched(120, sampler=optuna.samplers.RandomSampler(seed=1)).best_value
    assert searched(120).best_value < 0.1 * chance


def test_from_the_second_trial_on_all_parameters_are_searched_together():
    study = searched(12)
    assert [PLACE in trial.system_attrs for trial in study.trials] == [False] + [True] * 11
    assert all(set(trial.params) == {"x0", "x1", "x2", "gear", "alloy"} for trial in study.trials)


def test_maximising_mirrors_minimising():
    upside_down = searched(objective=lambda trial: -bowl(trial), direction="maximize")
    assert asked(upside_down) == asked(searched())


@pytest.mark.parametrize("kind", ["sqlite", "journal"])
def test_a_study_that_is_loaded_goes_on_as_if_it_had_never_stopped(kind, tmp_path):
    searched(17, storage=storage(kind, tmp_path), study_name="one")
    resumed = optuna.load_study(study_name="one", storage=storage(kind, tmp_path), sampler=LGASampler(seed=1))
    resumed.optimize(bowl, n_trials=TRIALS - 17)
    assert asked(resumed) == asked(searched())


def test_a_sampler_that_was_pickled_goes_on():
    study = searched(17)
    study.sampler = pickle.loads(pickle.dumps(study.sampler))
    study.optimize(bowl, n_trials=TRIALS - 17)
    assert asked(study) == asked(searched())


def test_a_seed_that_was_not_given_is_kept_in_the_study(tmp_path):
    first = searched(17, sampler=LGASampler(), storage=storage("sqlite", tmp_path), study_name="one")
    again = optuna.load_study(study_name="one", storage=storage("sqlite", tmp_path), sampler=LGASampler())
    first_ask, again_ask = (study.ask(first.trials[-1].distributions).params for study in (first, again))
    assert set(first_ask) == set(again_ask)
    assert len({study._storage.get_study_system_attrs(study._study_id)["lga:seed"] for study in (first, again)}) == 1


WORKER = """
import sys
import optuna
sys.path.insert(0, {tests!r})
from test_study import bowl, storage
from lga.optuna import LGASampler
optuna.logging.set_verbosity(optuna.logging.ERROR)
study = optuna.load_study(study_name="shared", storage=storage({kind!r}, {folder!r}), sampler=LGASampler(seed=1))
study.optimize(bowl, n_trials=20)
"""


@pytest.mark.parametrize("kind", ["sqlite", "journal"])
def test_two_processes_share_a_study_without_repeating_each_other(kind, tmp_path):
    study = optuna.create_study(study_name="shared", storage=storage(kind, tmp_path), sampler=LGASampler(seed=1))
    study.optimize(bowl, n_trials=1)
    code = WORKER.format(tests=str(Path(__file__).parent), kind=kind, folder=str(tmp_path))
    workers = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
    assert [worker.wait(timeout=300) for worker in workers] == [0, 0]
    done = optuna.load_study(study_name="shared", storage=storage(kind, tmp_path))
    places = [tuple(trial.system_attrs[PLACE]) for trial in done.trials[1:]]
    assert len(done.trials) == 41
    assert len(set(places)) >= len(places) - 2
    assert max(generations(done)) >= 2


def test_trials_that_run_at_the_same_time_get_different_children():
    study = searched(1)
    space = study.trials[0].distributions
    running = [study.ask(space) for _ in range(40)]
    assert len({tuple(trial.params.values()) for trial in running}) == 40


def test_stragglers_are_not_wasted():
    """A trial that ends after its generation, with the best value of all, becomes a parent."""
    study = searched(20)
    space = study.trials[0].distributions
    late = study.ask(space)
    study.optimize(bowl, n_trials=14)
    study.tell(late, -100.0)
    study.optimize(bowl, n_trials=14)
    (played,) = study.sampler._played.values()  # pyright: ignore[reportAttributeAccessIssue]
    assert late.number in played.used


def test_failed_and_pruned_trials_do_not_stop_the_search():
    def moody(trial: optuna.Trial) -> float:
        value = bowl(trial)
        if trial.number % 5 == 3:
            raise RuntimeError("no luck")
        if trial.number % 5 == 4:
            trial.report(value, 0)
            raise optuna.TrialPruned
        return float("nan") if trial.number % 7 == 6 else value

    study = optuna.create_study(sampler=LGASampler(seed=1))
    study.optimize(moody, n_trials=120, catch=(RuntimeError,))
    assert max(generations(study)) >= 8
    # Half of the trials taught nothing, and still it is ahead of chance with all of them.
    assert study.best_value < 0.5 * searched(120, sampler=optuna.samplers.RandomSampler(seed=1)).best_value


def test_trials_of_another_sampler_are_the_start():
    study = searched(60, sampler=optuna.samplers.RandomSampler(seed=2))
    before = study.best_value
    study.sampler = LGASampler(seed=1)
    study.optimize(bowl, n_trials=30)
    assert generations(study)[0] == 1
    assert study.best_value < before


def test_an_enqueued_trial_is_learned_from():
    def sphere(trial: optuna.Trial) -> float:
        return sum((trial.suggest_float(f"x{i}", -5, 5) - 4.9) ** 2 for i in range(4))

    study = searched(20, sphere)
    study.enqueue_trial({f"x{i}": 4.9 for i in range(4)})
    study.optimize(sphere, n_trials=60)
    (played,) = study.sampler._played.values()  # pyright: ignore[reportAttributeAccessIssue]
    assert 20 in played.used


def test_the_best_feasible_trial_counts():
    def tank(trial: optuna.Trial) -> float:
        x, y = trial.suggest_float("x", 0, 10), trial.suggest_float("y", 0, 10)
        trial.set_constraint("volume", 12.0 - x * y)
        return x + y

    study = searched(250, tank)
    best = min(trial.value for trial in study.trials if all(one <= 0.0 for one in trial.constraints.values()))
    assert best < 1.02 * 2.0 * np.sqrt(12.0)


def test_parameters_that_come_and_go_are_sampled_one_by_one():
    def shifting(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", -1, 1)
        return x**2 + (trial.suggest_float("y", 0, trial.number + 1.0) if trial.number % 2 else 0.0)

    study = searched(40, shifting)
    assert study.best_value < 1e-2


def test_a_first_point_is_tried_first():
    first = {"x0": 1.5, "x1": -2.0, "x2": 0.25, "gear": 7, "alloy": "zinc"}
    assert searched(3, sampler=LGASampler(seed=1, x0=first)).trials[0].params == first
