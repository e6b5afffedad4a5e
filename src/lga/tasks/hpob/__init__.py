"""HPO-B: real hyperparameter configurations with their accuracies, as tasks (Arango et al., 2021)."""

from lga.tasks.hpob.files import HpobMissing
from lga.tasks.hpob.pools import NUM_INITIAL, NUM_SEEDS, Pool, Range, load_pools, test_tasks, validation_tasks

__all__ = ["NUM_INITIAL", "NUM_SEEDS", "HpobMissing", "Pool", "Range", "load_pools", "test_tasks", "validation_tasks"]
