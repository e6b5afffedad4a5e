"""`lga.optuna.LGASampler`: the learned GA as a sampler of Optuna."""

try:
    from lga.optuna.sampler import LGASampler
except ModuleNotFoundError as error:
    if error.name != "optuna":
        raise
    raise ModuleNotFoundError("lga.optuna needs Optuna: pip install 'lga[optuna]'.", name="optuna") from error

__all__ = ["LGASampler"]
