"""The command line, called as a function."""

import json
import sys

import jax
import numpy as np
import pytest

from lga import __version__
from lga.cli import COMMANDS, function_of, main
from lga.operators.fold import fold, init_theta
from lga.weights import load_theta, save_theta


def lga(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["lga", *arguments])
    main()


@pytest.fixture
def weight_file(tmp_path):
    path = tmp_path / "weights.safetensors"
    save_theta(path, init_theta(jax.random.key(0)), {"meta_generation": 7})
    return path


def test_help_names_every_command(monkeypatch, capsys):
    lga(monkeypatch, "--help")
    listing = capsys.readouterr().out
    assert all(name in listing for name in COMMANDS)


def functions_named_in(commands):
    for _, command in commands.values():
        yield from functions_named_in(command) if isinstance(command, dict) else [command]


@pytest.mark.parametrize("command", list(functions_named_in(COMMANDS)))
def test_every_command_has_its_function(command):
    assert callable(function_of(command, "lga"))


def test_the_version_is_told(monkeypatch, capsys):
    lga(monkeypatch, "--version")
    assert capsys.readouterr().out == f"lga {__version__}\n"


def test_a_missing_package_is_named_with_what_to_install(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "lga.cli.bench", raising=False)
    monkeypatch.setitem(sys.modules, "lga.bench.bbob", None)
    with pytest.raises(SystemExit, match="2"):
        lga(monkeypatch, "bench", "bbob")
    assert "needs the package lga.bench.bbob, which is not installed: pip install" in capsys.readouterr().err


def test_task_list_shows_all_functions_with_their_group(monkeypatch, capsys):
    lga(monkeypatch, "tasks", "list")
    listing = capsys.readouterr().out
    assert "griewank_rosenbrock" in listing
    assert listing.count("hold-out") == 14


def test_task_list_shows_neuroevolution_tasks(monkeypatch, capsys):
    lga(monkeypatch, "tasks", "list")
    listing = capsys.readouterr().out
    assert "minatar-breakout" in listing
    assert "ur5e" in listing


def test_weights_info_tells_the_provenance(monkeypatch, capsys, weight_file):
    lga(monkeypatch, "weights", "info", str(weight_file))
    info = json.loads(capsys.readouterr().out)
    assert info["meta_generation"] == 7
    assert info["learned"] == ["select", "rate"]


def test_export_copies_weights_and_overwrites_nothing(monkeypatch, capsys, weight_file, tmp_path):
    lga(monkeypatch, "weights", "export", str(weight_file), "--to", str(tmp_path / "copy.safetensors"))
    assert (tmp_path / "copy.safetensors").read_bytes() == weight_file.read_bytes()
    with pytest.raises(SystemExit, match="2"):
        lga(monkeypatch, "weights", "export", str(weight_file), "--to", str(tmp_path / "copy.safetensors"))
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["trian"], "the command 'trian' is unknown"),
        (["weights", "info", "lga-999"], "weights is 'lga-999', but must be a file or one of"),
        (["train", "--resume", "nowhere"], "holds no run to resume"),
        (["train", "--preset", "paper", "--meta-population", "7"], "meta_population is 7, but must be even"),
        (["train", "--preset", "smoke", "--dims", "9", "3"], "dims is .9, 3., but the smaller number must come first"),
        (["train", "--preset", "smoke", "--num-processes", "2"], "coordinator must name the first process"),
        (["bench", "neuro", "--task", "pong"], "task is 'pong', but must be one of: .*ur5e"),
        (
            ["bench", "neuro", "--task", "digits", "--algorithms", "adam"],
            "weights is 'adam', but must be a file",
        ),
        (["bench", "neuro", "--task", "digits", "--seeds", "0"], "seeds is 0, but must be a whole number"),
        (["bench", "neuro", "--task", "digits", "--memory-gib", "0"], "memory_gib is 0.0, but must be more than 0"),
    ],
)
def test_mistakes_end_in_one_sentence(monkeypatch, capsys, tmp_path, arguments, sentence):
    import re

    monkeypatch.chdir(tmp_path)
    # The number of devices is set before JAX starts, and here it runs already.
    monkeypatch.setattr("lga.cli.train.use_cores", lambda count: None)
    monkeypatch.setattr("lga.cli.train.use_compilation_cache", lambda: None)
    monkeypatch.setattr("lga.cli.bench_neuro.use_compilation_cache", lambda: None)
    with pytest.raises(SystemExit, match="2"):
        lga(monkeypatch, *arguments)
    error = capsys.readouterr().err
    assert re.search(sentence, error.replace("\n", " "))
    assert "Traceback" not in error


def test_the_mean_of_weights_is_that_of_their_folded_numbers(tmp_path, monkeypatch):
    for seed in (0, 1):
        save_theta(tmp_path / f"{seed}.safetensors", init_theta(jax.random.key(seed)), {"run": {"seed": seed}})
    files = [str(tmp_path / f"{seed}.safetensors") for seed in (0, 1)]
    lga(monkeypatch, "weights", "average", *files, "--to", str(tmp_path / "mean"))
    mean, provenance = load_theta(tmp_path / "mean")
    first, second = (fold(load_theta(tmp_path / f"{seed}.safetensors")[0]) for seed in (0, 1))
    expected = jax.tree.map(lambda a, b: 0.5 * (a + b), first, second)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5), fold(mean), expected)
    assert [origin["run"]["seed"] for origin in provenance["mean_of"]] == [0, 1]
