"""Examples in docstrings run, and what the reference names has a docstring."""

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

REFERENCE = Path(__file__).parent.parent / "docs" / "reference.md"
NAMES = re.findall(r"^::: (\S+)$", REFERENCE.read_text(), re.MULTILINE)
WITH_EXAMPLES = ("lga.optimize.minimize.minimize", "lga.optimize.optimizer.Optimizer", "lga.tasks.family.family")


def named(name: str):
    try:
        return import_module(name)
    except ModuleNotFoundError:
        module, _, attribute = name.rpartition(".")
        return getattr(import_module(module), attribute)


@pytest.mark.parametrize("name", NAMES)
def test_what_the_reference_names_is_explained(name):
    assert named(name).__doc__


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_in_docstrings_run(name):
    module = import_module(name.rpartition(".")[0])
    found = doctest.DocTestFinder(recurse=False).find(named(name), name, globs=dict(vars(module)))
    examples = [test for test in found if test.examples]
    assert examples
    for test in examples:
        result = doctest.DocTestRunner(verbose=False).run(test)
        assert result.failed == 0
