"""Numbers, whole numbers and a choice, searched together."""

import math

import optuna
import optunahub


def objective(trial: optuna.Trial) -> float:
    rate = trial.suggest_float("rate", 1e-5, 1.0, log=True)
    layers = trial.suggest_int("layers", 1, 8)
    kind = trial.suggest_categorical("kind", ["wide", "deep"])
    wanted = 3 if kind == "wide" else 5
    return (math.log10(rate) + 3) ** 2 + (layers - wanted) ** 2 + (0.5 if kind == "wide" else 0.0)


if __name__ == "__main__":
    sampler = optunahub.load_module("samplers/lga").LGASampler(seed=0)
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=60)
    print(study.best_params, study.best_value)
