"""`lga minimize`: a command or a Python function, JSON out."""

import json
import sys

import pytest

from lga.cli.command import last_number
from lga.cli.minimize import main, parse_variable, parse_variables

PYTHON = sys.executable
LIMITS = ["--popsize", "4", "--seed", "1", "--max-evaluations", "12", "--no-progress"]


@pytest.fixture
def command(tmp_path):
    def write(body: str) -> str:
        (tmp_path / "simulate.py").write_text(f"import sys\nx, n = float(sys.argv[1]), int(sys.argv[2])\n{body}\n")
        return f"{PYTHON} -S -E {tmp_path / 'simulate.py'} {{x}} {{n}}"

    return write


def test_a_command_is_minimised(command, capsys):
    main(["--command", command("print('cost =', (x - 1) ** 2 + n)"), "--bounds", "x=-5:5", "n=1:8:int", *LIMITS])
    result = json.loads(capsys.readouterr().out)
    assert isinstance(result["x"]["n"], int)
    assert result["fun"] == pytest.approx((result["x"]["x"] - 1) ** 2 + result["x"]["n"])
    assert result["nfev"] == 12
    assert result["failures"] == {}


def test_crashes_silence_and_delays_of_a_command_are_failed_evaluations(command, capsys):
    body = "import time\nif n == 1: sys.exit(3)\nif n == 2: time.sleep(60)\nif n > 3: print(x)"
    arguments = ["--bounds", "x=-5:5", "n=1:4:int", *LIMITS, "--timeout", "1.0", "--workers", "4"]
    main(["--command", command(body), *arguments])
    result = json.loads(capsys.readouterr().out)
    assert set(result["failures"]) == {"exception", "timeout"}
    assert result["x"]["n"] == 4


def test_a_python_function_is_minimised(tmp_path, monkeypatch, capsys):
    (tmp_path / "mine.py").write_text("def bowl(x):\n    return float(x @ x)\n")
    (tmp_path / "bounds.txt").write_text("# two variables\na=-5:5\nb=1e-3:1e3:log\n")
    monkeypatch.chdir(tmp_path)
    main(["--python", "mine:bowl", "--bounds-file", "bounds.txt", "--out", "result.json", *LIMITS])
    assert set(json.loads((tmp_path / "result.json").read_text())["x"]) == {"a", "b"}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--bounds", "x=0:1"], "either command or python"),
        (["--python", "json:dumps"], "either bounds or bounds_file"),
        (["--python", "json", "--bounds", "x=0:1"], "MODULE:FUNCTION"),
        (["--python", "json:nothing", "--bounds", "x=0:1"], "json has no nothing"),
        (["--command", "echo {y}", "--bounds", "x=0:1"], "uses ['y']"),
        (["--command", "echo 1", "--bounds", "x=0:1", "x=0:2"], "twice"),
        (["--command", "echo 1", "--bounds", "x=0"], "NAME=LOW:HIGH"),
        (["--command", "echo 1", "--bounds", "x=0:1:complex"], "NAME=LOW:HIGH"),
        (["--command", "echo 1", "--bounds", "x=0:1"], "uses none of the variables: write {NAME}"),
        (["--command", "echo {x} | tail", "--bounds", "x=0:1"], "'|' is for one: give --shell"),
        (["--python", "mine.py:cost", "--bounds", "x=0:1"], "a module has no .py, as in mine:cost"),
    ],
)
def test_mistakes_are_named(arguments, complaint):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the sentence is checked below)
        main(arguments)
    assert complaint in str(caught.value)


def test_a_shell_is_there_for_pipes(capsys):
    main(["--command", "echo $(({n} * 2)) | tail -n 1", "--shell", "--bounds", "n=1:8:int", *LIMITS])
    assert json.loads(capsys.readouterr().out)["fun"] == 2.0


def test_the_exit_status_is_1_if_nothing_succeeded(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--command", command("sys.exit(3)"), "--bounds", "x=-5:5", "n=1:8:int", *LIMITS])
    assert ended.value.code == 1
    said = capsys.readouterr()
    assert json.loads(said.out)["chosen"] == "nothing succeeded"
    assert "no evaluation succeeded" in said.err


def test_numbers_that_are_none_are_named(capsys):
    with pytest.raises(SystemExit):
        main(["--python", "json:dumps", "--bounds", "x=0:1", "--max-evaluations", "abc"])
    assert "max-evaluations" in capsys.readouterr().err


def test_variables_are_read_as_they_are_written():
    assert parse_variable("lr=1e-5:0.1:log", "x0") == ("lr", 1e-5, 0.1, False, True)
    assert parse_variable("-3:", "x4") == ("x4", -3.0, None, False, False)
    assert [v.name for v in parse_variables(("0:1", "0:1:int:log"), None)] == ["x0", "x1"]


def test_the_last_number_counts():
    assert last_number("step 1: cost=3.5e-2\n") == 0.035
    assert last_number("information: none") is None
