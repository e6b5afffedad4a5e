"""All experiments have one form and are started in one way."""

import json
from dataclasses import dataclass, is_dataclass, replace
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from experiments.__main__ import find, main, names
from experiments.form import Experiment, Outcome, folder_of, start

QUIET = Console(quiet=True)


@dataclass(frozen=True)
class Squares:
    upto: int = 4
    """How many."""


def squares(settings, out, console):
    return Outcome({"squares": [n * n for n in range(settings.upto)]}, Table("n"))


EXAMPLE = Experiment("squares", {"smoke": Squares(1), "paper": Squares()}, squares)


@pytest.mark.parametrize("name", names())
def test_every_experiment_has_settings_of_one_kind_and_is_listed_with_what_it_shows(name, capsys):
    experiment = find(name)
    assert {"paper"} <= set(experiment.presets) <= {"smoke", "small", "paper"}
    (kind,) = {type(settings) for settings in experiment.presets.values()}
    assert is_dataclass(kind)
    main([])
    assert f"  {name} " in (listing := capsys.readouterr().out)
    assert experiment.shows in listing


@pytest.mark.parametrize("name", names())
def test_the_committed_results_are_written_by_no_default(name):
    for preset in find(name).presets:
        assert folder_of(name, find(name), preset).parts[:1] != ("results",)


def test_arguments_override_the_settings_of_the_named_preset(tmp_path):
    for args, expected in (
        ([], [0, 1, 4, 9]),
        (["--preset", "smoke"], [0]),
        (["--preset=smoke", "--upto", "2"], [0, 1]),
    ):
        outcome = start("squares", EXAMPLE, [*args, "--out", str(tmp_path)], QUIET)
        assert outcome.report["squares"] == expected
        assert json.loads((tmp_path / "squares.json").read_text())["squares"] == expected


@pytest.mark.parametrize("name", names())
def test_every_experiment_can_be_started_from_the_command_line(name, capsys):
    """Settings inside settings may give two options one name: then nothing at all can be parsed."""
    with pytest.raises(SystemExit) as stopped:
        main([name, "--help"])
    assert stopped.value.code == 0
    assert "--out" in capsys.readouterr().out


def test_sizes_have_folders_of_their_own():
    assert folder_of("squares", EXAMPLE, "smoke") == Path("runs/experiments/squares/smoke")
    assert folder_of("squares", replace(EXAMPLE, out=Path("docs")), "smoke") == Path("docs")


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="experiment is 'nonsense', but must be one of: .*tables"):
        main(["nonsense"])
    with pytest.raises(ValueError, match="preset is 'huge', but must be one of: paper, smoke"):
        start("squares", EXAMPLE, ["--preset", "huge"], QUIET)


def test_the_tutorials_pictures_are_drawn(tmp_path):
    main(["tutorial", "--preset", "smoke", "--out", str(tmp_path)], QUIET)
    assert {path.name for path in tmp_path.iterdir()} == {"tutorial_history.png", "tutorial_search.png"}
