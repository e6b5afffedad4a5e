"""What a search is judged by (the paper's figure 16)."""

from typing import Any

from experiments.sweep import training_study

VARIANTS: dict[str, dict[str, Any]] = {
    "minN-finalT": {},
    "minN-minT": {"objective": "minN-minT"},
    "meanN-minT": {"objective": "meanN-minT"},
    "meanN-finalT": {"objective": "meanN-finalT"},
}

EXPERIMENT = training_study("meta_objectives", "figure 16: meta-objectives", VARIANTS, "meta-objective")
