"""Wrong arguments end in one sentence that names the argument, its value and what is allowed."""

import jax
import jax.numpy as jnp
import pytest

from lga.algorithms.presets import ALGORITHMS
from sentences import assert_clear, sentences_of

PREPARATION = """
import jax, jax.numpy as jnp, numpy as np
import lga
from lga.operators.crossover import immigration, uniform_crossover
from lga.operators.mutation_rate import group_elite_rate, one_fifth_rule, self_adaptive_rate
from lga.weights import resolve, theta_from_evosax

key, x, f = jax.random.key(0), jnp.zeros((4, 2)), jnp.zeros(4)
algorithm = lga.gaussian_ga(4)
state = algorithm.init(key, x, f, 1.0)
children, _ = algorithm.ask(key, state)
"""

WHOLE = "but must be a whole number of at least 1"
CASES = [
    ("lga.gaussian_ga(0)", f"num_children is 0, {WHOLE}"),
    ("lga.genetic_algorithm(-3, 2)", f"num_children is -3, {WHOLE}"),
    ("lga.genetic_algorithm(4, 0)", f"num_parents is 0, {WHOLE}"),
    ("lga.genetic_algorithm(2.5, 2)", f"num_children is 2.5, {WHOLE}"),
    ("lga.genetic_algorithm(True, 2)", f"num_children is True, {WHOLE}"),
    ("lga.samr_ga(4, elite_ratio=1.5)", "elite_ratio is 1.5, but must lie between 0 and 1"),
    ("lga.samr_ga(4, elite_ratio=-0.1)", "elite_ratio is -0.1, but must lie between 0 and 1"),
    ("lga.samr_ga(4, elite_ratio=float('nan'))", "elite_ratio is nan, but must lie between 0 and 1"),
    ("lga.samr_ga(4, meta=1.0)", "meta is 1.0, but must be more than 1"),
    ("self_adaptive_rate(0.5)", "meta is 0.5, but must be more than 1"),
    ("one_fifth_rule(factor=1.0)", "factor is 1.0, but must be more than 1"),
    ("one_fifth_rule(share=0.0)", "share is 0.0, but must lie between 0 and 1"),
    ("group_elite_rate(0)", f"num_groups is 0, {WHOLE}"),
    ("uniform_crossover(1.1)", "swap_probability is 1.1, but must lie between 0 and 1"),
    ("immigration(2.0, 1.0)", "low is 2.0 and high is 1.0, but low must be less than high"),
    ("lga.cma_es(2)", "num_children is 2, but CMA-ES needs at least 4"),
    ("resolve('nothing')", "weights is 'nothing', but must be a file or one of: "),
    ("lga.load_theta('nowhere.safetensors')", "path is 'nowhere.safetensors', but must be an existing file"),
    ("lga.learned_ga(lga.Theta(), 4)", "theta holds no weights, but at least one operator must be learned"),
    ("lga.ThetaConfig(learned=())", "learned is empty, but must name at least one operator"),
    (
        "lga.ThetaConfig(learned=('select', 'fly'))",
        "learned is 'fly', but must be one of: blend, cross, jitter, rate, regress, sample, scatter, screen, select",
    ),
    ("lga.ThetaConfig(key_dim=6, num_heads=4)", "key_dim is 6, but must be a multiple of num_heads, which is 4"),
    ("lga.ThetaConfig(num_heads=0)", f"num_heads is 0, {WHOLE}"),
    ("algorithm.init(key, x, f, 0.0)", "sigma is 0.0, but must be more than 0 and finite"),
    ("algorithm.init(key, x, f, -1.0)", "sigma is -1.0, but must be more than 0 and finite"),
    ("algorithm.init(key, x, f, np.nan)", "sigma is nan, but must be more than 0 and finite"),
    ("algorithm.init(key, x, f, np.inf)", "sigma is inf, but must be more than 0 and finite"),
    ("algorithm.init(key, x, f, jnp.ones(4))", "sigma has shape (4,), but must be one number for all solutions"),
    ("algorithm.init(key, x[0], f, 1.0)", "solutions has shape (2,), but must be [number of solutions, dimensions]"),
    ("algorithm.init(key, x[:0], f[:0], 1.0)", "solutions has shape (0, 2), but must be [number of solutions"),
    ("algorithm.init(key, x, f[:3], 1.0)", "fitness has shape (3,), but must be (4,): one value for each solution"),
    ("algorithm.init(key, x, f[:, None], 1.0)", "fitness has shape (4, 1), but must be (4,): one value for each"),
    ("algorithm.init(key, x.astype(int), f, 1.0)", "solutions has type int32, but must hold floating-point numbers"),
    (
        "algorithm.tell(key, state, children, f[:3])",
        "fitness has shape (3,), but must be (4,): one value for each child",
    ),
    ("lga.run(key, algorithm, lambda k, s: f, x, 1.0, 0)", f"num_generations is 0, {WHOLE}"),
    (
        "lga.run(key, algorithm, lambda k, s: f, {'a': x, 'b': x[:3]}, 1.0, 2)",
        "solutions has leaves with [3, 4] rows, but all must have the same number, at least 1",
    ),
    (
        "lga.run(key, lga.sep_cma_es(4), lambda k, s: f, x, 1.0, 2, record=True)",
        "record is True, but only genetic algorithms have parents to record",
    ),
    ("theta_from_evosax({})", "params has no 'selection' at params, but must be the lga_params of an evosax LearnedGA"),
]


@pytest.fixture(scope="module")
def sentences():
    return sentences_of(PREPARATION, [code for code, _ in CASES])


@pytest.mark.parametrize("number", range(len(CASES)), ids=[code for code, _ in CASES])
def test_bad_input_is_answered_with_one_clear_sentence(number, sentences):
    assert_clear(sentences[number], CASES[number][1])


@pytest.mark.usefixtures("ranks_promoted")
@pytest.mark.parametrize("name", ["sep_cma_es", "cma_es"])
def test_strategies_refuse_children_of_another_shape_and_nothing_to_search(name):
    algorithm = ALGORITHMS[name](8)
    with pytest.raises(ValueError, match="needs a dimension"):
        algorithm.init(jax.random.key(0), jnp.zeros((8, 0)), jnp.zeros(8), 0.5)
    state = algorithm.init(jax.random.key(0), jnp.zeros((8, 3)), jnp.zeros(8), 0.5)
    children, state = algorithm.ask(jax.random.key(1), state)
    # Not through the constructor: in tests it checks shapes itself.
    object.__setattr__(children, "solutions", children.solutions[:2])
    with pytest.raises(ValueError, match=r"children.solutions has shape \(2, 3\), but must be \(8, 3\)"):
        algorithm.tell(jax.random.key(2), state, children, jnp.zeros(8))
