"""HPO-B: all methods on real hyperparameters, discrete (pools of configurations) and continuous (surrogates)."""
