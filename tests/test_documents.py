"""The documents say what the results say."""

import re
from pathlib import Path

import pytest

from experiments.tables import filled, pages

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("page", pages(ROOT), ids=lambda page: page.name)
def test_tables_agree_with_the_results(page):
    assert filled(page.read_text(), ROOT) == page.read_text()


@pytest.mark.parametrize(
    "page", [*pages(ROOT), ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"], ids=lambda page: page.name
)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_readmes_first_example_runs():
    code = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[0]
    names: dict = {}
    exec(code, names)
    assert names["result"].success
    assert names["result"].fun < 1e-3


def test_the_tutorials_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "tutorial.md").read_text(), re.DOTALL)
    names: dict = {}
    for code in blocks:
        if "simulate" not in code:
            exec(code, names)
    assert names["result"].fun < 0.1
    assert names["optimizer"].generation == 20
