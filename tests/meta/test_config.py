import dataclasses
import json

import pytest

from lga.meta.config import PRESETS, MetaConfig, from_json


def test_paper_preset_has_the_settings_of_the_papers_table():
    paper = PRESETS["paper"]
    assert (paper.meta_population, paper.num_tasks, paper.meta_generations) == (512, 256, 750)
    assert (paper.num_children, paper.num_generations, paper.dims) == ((16,), (50, 50), (2, 10))
    assert (paper.sigma0, paper.elite_ratio) == ((0.01, 0.5), 1.0)
    assert (paper.learning_rate, paper.learning_rate_decay, paper.learning_rate_final) == (0.01, 0.999, 0.001)
    assert (paper.meta_sigma, paper.meta_sigma_decay, paper.meta_sigma_final) == (0.1, 0.999, 0.001)
    assert (paper.objective, paper.normalization, paper.aggregation) == ("minN-finalT", "z_score", "median")
    assert (paper.key_dim, paper.num_heads, paper.learned) == (16, 2, ("select", "rate"))
    assert len(paper.functions) == 10


@pytest.mark.parametrize(
    ("setting", "value", "sentence"),
    [
        ("meta_population", 7, "meta_population is 7, but must be even: open_es samples mirrored pairs"),
        ("meta_population", 2, "meta_population is 2, but must be at least 4"),
        ("dims", (10, 2), r"dims is \(10, 2\), but the smaller number must come first"),
        ("sigma0", (0.0, 0.5), "sigma0 starts at 0.0, but must be more than 0"),
        ("num_generations", (0, 5), "num_generations starts at 0, but must be at least 1"),
        ("num_children", (), "num_children is empty"),
        ("num_children", (0,), "num_children is 0, but must be a whole number of at least 1"),
        ("objective", "best", "objective is 'best', but must be one of: anytime, area, meanN-finalT"),
        ("normalization", "none", "normalization is 'none', but must be one of"),
        ("aggregation", "max", "aggregation is 'max', but must be one of"),
        ("optimizer", "sgd", "optimizer is 'sgd', but must be one of"),
        ("search_space", "dreams", "search_space is 'dreams', but must be one of: compact, folded, weights"),
        ("noise", ("pink",), "noise is 'pink', but must be one of"),
        ("family", ("quartic",), "quartic"),
        ("learned", ("mutation",), "learned is 'mutation', but must be one of"),
        ("num_heads", 3, "key_dim is 16, but must be a multiple of num_heads, which is 3"),
        ("mean_decay", 1.0, "mean_decay is 1.0, but must be at least 0 and less than 1"),
        ("elite_ratio", 1.5, "elite_ratio is 1.5, but must lie between 0 and 1"),
    ],
)
def test_impossible_settings_are_refused_with_a_sentence(setting, value, sentence):
    with pytest.raises(ValueError, match=sentence):
        MetaConfig(**{setting: value})


def test_a_genetic_meta_optimiser_has_no_mean_to_decay():
    with pytest.raises(ValueError, match="mean_decay is 0.1, but the optimizer 'ga' has no mean"):
        MetaConfig(optimizer="ga", mean_decay=0.1)


def test_settings_survive_json():
    config = dataclasses.replace(PRESETS["laptop"], num_children=(8, 16), family=("sphere", "rastrigin"))
    assert from_json(json.loads(json.dumps(dataclasses.asdict(config)))) == config
