"""The documents say what the results say."""

import re
import subprocess
import sys
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


def snippets(page):
    """The Python code of a page; what stands for somebody's own simulation is left out."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    return [code for code in blocks if "simulate" not in code]


SNIPPETS = [
    pytest.param(page, number, id=f"{page} {number}")
    for page in ("README.md", "docs/tutorial.md")
    for number in range(len(snippets(page)))
]


@pytest.mark.parametrize(("page", "number"), SNIPPETS)
def test_every_snippet_runs_alone(page, number, tmp_path):
    code = snippets(page)[number]
    subprocess.run([sys.executable, "-W", "error::SyntaxWarning", "-c", code], cwd=tmp_path, check=True, timeout=600)


def test_the_first_examples_find_what_they_promise(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(snippets("README.md")[0], names)
    assert names["result"].fun < 1e-3
