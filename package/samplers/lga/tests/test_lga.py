"""In the registry: the sampler loads and finds the bottom of a bowl."""

from pathlib import Path

import optuna
import optunahub


def test_the_sampler_finds_the_bottom_of_a_bowl():
    registry = Path(__file__).parents[3]
    sampler = optunahub.load_local_module("samplers/lga", registry_root=str(registry)).LGASampler(seed=0)
    study = optuna.create_study(sampler=sampler)
    study.optimize(lambda trial: trial.suggest_float("x", -5.0, 5.0) ** 2, n_trials=40)
    assert study.best_value < 0.01
