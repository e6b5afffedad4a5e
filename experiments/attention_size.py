"""Width and heads of the attention (the paper's figure 13)."""

from typing import Any

from experiments.sweep import training_study

VARIANTS: dict[str, dict[str, Any]] = {
    "2 heads, 16": {},
    "1 head, 8": {"num_heads": 1, "key_dim": 8},
    "2 heads, 32": {"key_dim": 32},
    "4 heads, 32": {"num_heads": 4, "key_dim": 32},
}

EXPERIMENT = training_study(
    "attention_size", "figure 13: heads and width of the attention", VARIANTS, "heads, width over all heads"
)
