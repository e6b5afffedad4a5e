"""The recipes of docs/adding.md work: each is followed in a copy of the repository, and its tests are run there."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RECIPES = re.split(r"^## ", (ROOT / "docs" / "adding.md").read_text(), flags=re.MULTILINE)[1:]
# A place in a file, and what is written there; the words of a place may be on several lines.
STEP = re.compile(r"<!-- in (\S+)(?: (before|after|replace): (.+?))? -->\n```(?:python)?\n(.*?)```", re.DOTALL)


def follow(recipe: str, root: Path) -> None:
    for path, how, place, code in STEP.findall(recipe):
        file = root / path
        if not how:
            assert not file.exists(), f"{path} is there already"
            file.write_text(code)
            continue
        text = file.read_text()
        found = list(re.finditer(r"^[ ]*" + r"\s+".join(map(re.escape, place.split())), text, re.MULTILINE))
        assert len(found) == 1, f"{place!r} is {len(found)} times in {path}"
        begin, end = found[0].span()
        space = "\n\n" if code.startswith("def ") else ""
        written = {
            "before": f"{text[:begin]}{code}{space}{text[begin:]}",
            "after": f"{text[:end]}\n{code.rstrip()}{text[end:]}",
            "replace": f"{text[:begin]}{code.rstrip()}{text[end:]}",
        }
        file.write_text(written[how])


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.partition(":")[0])
def test_a_recipe_works_when_it_is_followed(recipe, tmp_path):
    for folder in ("src", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    follow(recipe, tmp_path)
    (command,) = re.findall(r"^python (-m pytest .+)$", recipe, re.MULTILINE)
    result = subprocess.run(
        [sys.executable, *shlex.split(command), "-q", "-m", "not slow", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "src")},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-2000:]
    style = subprocess.run([sys.executable, "-m", "ruff", "format", "--check", "."], cwd=tmp_path, capture_output=True)
    assert style.returncode == 0, style.stdout.decode()


def test_every_piece_of_code_has_its_place():
    for recipe in RECIPES:
        assert STEP.search(recipe)
        assert not re.search(r"(?<!-->\n)```python", recipe)
