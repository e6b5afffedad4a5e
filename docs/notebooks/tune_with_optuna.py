# %% [markdown]
# # Tune a model with Optuna
# `LGASampler` is a sampler like Optuna's own: categories, whole numbers and logarithmic scales, all searched together.

# %%
import numpy as np
import optuna

from lga.optuna import LGASampler

optuna.logging.set_verbosity(optuna.logging.WARNING)
draw = np.random.default_rng(0)
inputs = np.sort(draw.uniform(-1.0, 1.0, 60))
targets = np.sin(4.0 * inputs) + 0.1 * draw.normal(size=60)
train, test = slice(0, None, 2), slice(1, None, 2)


def validation_error(trial):
    """Ridge regression on features that are chosen too."""
    degree = trial.suggest_int("degree", 1, 12)
    ridge = trial.suggest_float("ridge", 1e-8, 1e2, log=True)
    basis = trial.suggest_categorical("basis", ["powers", "cosines"])
    powers = inputs[:, None] ** np.arange(degree + 1)
    features = powers if basis == "powers" else np.cos(np.arange(degree + 1) * np.arccos(inputs)[:, None])
    fitted = features[train]
    weights = np.linalg.solve(fitted.T @ fitted + ridge * np.eye(degree + 1), fitted.T @ targets[train])
    return float(np.mean((features[test] @ weights - targets[test]) ** 2))


# %%
study = optuna.create_study(sampler=LGASampler(seed=0))
study.optimize(validation_error, n_trials=40)
print(study.best_params, study.best_value)
