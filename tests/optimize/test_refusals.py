"""Whatever is given wrongly is refused with a sentence that names it, its value and what is allowed."""

import numpy as np
import pytest

import lga
from sentences import assert_clear, sentences_of

BOX = [(-5.0, 5.0)] * 2

PREPARATION = """
import jax, jax.numpy as jnp, numpy as np
import lga
from lga.optimize.variables import Integer

box = [(-5.0, 5.0)] * 2
bowl = lambda x: float(np.sum(x**2))
x, key = jnp.zeros((4, 2)), jax.random.key(0)
"""

WHOLE = "but must be a whole number"
CASES = [
    ("lga.minimize(bowl, [-5, 5])", "bounds is [-5, 5], but must be a pair (low, high) for each variable"),
    ("lga.minimize(bowl, 'box')", "bounds is 'box', but must be a pair"),
    ("lga.minimize(bowl, [])", "bounds has no pair"),
    ("lga.minimize(bowl, box, max_evaluations='100')", f"max_evaluations is '100', {WHOLE}"),
    ("lga.minimize(bowl, box, max_evaluations=10.5)", f"max_evaluations is 10.5, {WHOLE}"),
    ("lga.minimize(bowl, box, target='1')", "target is '1', but must be a number"),
    ("lga.minimize(bowl, box, target=np.nan)", "target is NaN, but must be a number"),
    ("lga.minimize(bowl, box, seed='a')", f"seed is 'a', {WHOLE}"),
    ("lga.minimize(bowl, box, seed=1.5)", f"seed is 1.5, {WHOLE}"),
    ("lga.minimize(bowl, box, callback='x')", "callback is 'x', but must be a function"),
    ("lga.minimize(bowl, box, popsize=2.5)", f"popsize is 2.5, {WHOLE}"),
    ("lga.minimize(bowl, box, popsize='16')", f"popsize is '16', {WHOLE}"),
    ("lga.minimize(bowl, box, integrality=['no', 'yes'])", "integrality is ['no', 'yes'], but must be True or False"),
    ("lga.minimize(bowl, box, integrality=[0, 2])", "integrality is [0, 2], but must be True or False"),
    ("lga.minimize(bowl, box, sigma0=1.0)", "sigma0 is 1.0, but there is no x0"),
    ("lga.minimize(bowl, box, x0='here')", "x0 is 'here', but must be one point"),
    ("lga.minimize(bowl, box, workers=0)", "workers is 0, but must be at least 1, or -1 for all processors"),
    ("lga.minimize(bowl, box, checkpoint_objective='no')", "checkpoint_objective is 'no', but must be one of"),
    ("lga.minimize(bowl, box, keep_evaluations='some')", "keep_evaluations is 'some', but must be True or False"),
    ("lga.minimize(bowl, box, max_evaluations=1e3, popsize=2e0)", "popsize is 2, but must be at least 4"),
    ("lga.minimize(bowl, box, noise=True)", "noise is True, but must be None or 'auto'"),
    ("lga.minimize(bowl, box, noise='auto', reevaluate=2)", "these are two ways: choose one"),
    ("lga.minimize(3.0, box)", "fun is 3.0, but must be a function"),
    ("lga.minimize(bowl, box, algorithm=3)", "algorithm is 3, but must be a name or an Algorithm"),
    ("lga.minimize(bowl, box, algorithm=lga.gaussian_ga(8), popsize=9)", "popsize is 9, but the algorithm has 8"),
    ("lga.minimize(bowl, {'a': Integer(0, 3)}, vectorized=True)", "bounds have names"),
    ("lga.Optimizer(box, popsize=8).tell(np.zeros((1, 2)), ['1.0'])", "values has '1.0', but must be numbers"),
    ("lga.run(0, lga.gaussian_ga(4), lambda k, s: s[:, 0], x, 1.0, 2)", "key is 0, but must be a random key"),
    ("lga.run(key, 'lga', lambda k, s: s[:, 0], x, 1.0, 2)", "algorithm is 'lga', but must be an Algorithm"),
]


@pytest.fixture(scope="module")
def sentences():
    return sentences_of(PREPARATION, [code for code, _ in CASES])


@pytest.mark.parametrize("number", range(len(CASES)), ids=[code for code, _ in CASES])
def test_bad_input_is_answered_with_one_clear_sentence(number, sentences):
    assert_clear(sentences[number], CASES[number][1])


def test_a_vectorized_function_of_columns_is_told_how_it_differs():
    result = lga.minimize(lambda x: np.sum(x**2, axis=0), BOX, vectorized=True, max_evaluations=24, popsize=8, seed=0)
    assert "SciPy's would get the transpose" in result.failure_examples[0]
