"""No work is lost to an odd argument, an odd environment or an odd exception: it is noticed before the first call."""

import asyncio
import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from faulty import assert_same, failures_of, sphere

import lga
from lga.cli.minimize import main
from lga.core.tree_io import load_leaves
from lga.optimize.worker import MOST_TEXT

BOX = [(-5.0, 5.0)] * 3
SMALL = {"popsize": 8, "seed": 0, "max_evaluations": 40}


# In tests beartype refuses such arguments before we do, so this runs as it does for users: without it.
ODD_NUMBERS = """
import sys
import jax.numpy as jnp, numpy as np
import lga
from faulty import assert_same, sphere

BOX = [(-5.0, 5.0)] * 3
odd = {
    "popsize": np.int32(8),
    "seed": np.uint64(0),
    "max_evaluations": 4e1,
    "max_seconds": np.float32(600.0),
    "target": jnp.asarray(-1.0),
    "patience": np.int64(100),
    "restarts": np.int8(3),
    "reevaluate": np.uint8(0),
    "workers": np.int64(1),
    "vectorized": np.bool_(False),
    "progress": np.bool_(False),
    "x0": jnp.zeros(3),
    "sigma0": np.float32(1.0),
    "integrality": np.array([True, False, False]),
}
plain = {"popsize": 8, "seed": 0, "max_evaluations": 40, "target": -1.0, "patience": 100, "restarts": 3}
plain |= {"x0": [0.0] * 3, "sigma0": 1.0, "integrality": [True, False, False]}
saved = lga.minimize(sphere, BOX, checkpoint=sys.argv[1], **odd)
assert_same(saved, lga.minimize(sphere, BOX, **plain))
assert lga.Optimizer.load(sys.argv[1]).evaluations == 40

def never(x):
    raise SystemError("it was called")

refused = [
    ({"max_evaluations": 10.5}, "max_evaluations is 10.5, but must be a whole number"),
    ({"max_evaluations": float("inf")}, "max_evaluations is inf, but must be a whole number"),
    ({"popsize": 8.5}, "popsize is 8.5, but must be a whole number"),
    ({"popsize": "8"}, "popsize is '8', but must be a whole number"),
    ({"popsize": 10**9}, "popsize is 1000000000, but must be at most"),
    ({"target": "low"}, "target is 'low', but must be a number"),
    ({"target": float("nan")}, "target is NaN"),
    ({"max_seconds": np.zeros(2)}, "max_seconds is array([0., 0.]), but must be a number"),
    ({"jit": "yes"}, "jit is 'yes', but must be True or False"),
    ({"workers": 1.5}, "workers is 1.5, but must be a whole number"),
]
for options, complaint in refused:
    try:
        lga.minimize(never, BOX, **options)
        sys.exit(f"{options} was taken")
    except ValueError as error:
        assert complaint in str(error), error
"""


def test_numbers_of_any_kind_are_taken_and_saved_and_others_are_refused_before_the_first_call(tmp_path):
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    subprocess.run([sys.executable, "-c", ODD_NUMBERS, str(tmp_path / "run")], check=True, env=environment)


def test_a_relative_checkpoint_stays_where_it_was_when_the_objective_moves(tmp_path, monkeypatch):
    (tmp_path / "begin").mkdir()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "begin")

    def moves(x):
        os.chdir(tmp_path / "elsewhere")
        return sphere(x)

    lga.minimize(moves, BOX, checkpoint="run", **SMALL)
    assert [path.name for path in (tmp_path / "begin").iterdir()] == ["run"]
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_checkpoint_that_cannot_be_written_is_noticed_before_the_first_call(tmp_path):
    (tmp_path / "file").touch()
    for place in (tmp_path / "file" / "run", tmp_path):
        with pytest.raises((OSError, ValueError)):
            lga.minimize(lambda x: pytest.fail("it was called"), BOX, checkpoint=place, **SMALL)


def test_a_result_goes_into_a_folder_that_is_not_there_yet(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("def bowl(x):\n    return float(x @ x)\n")
    (tmp_path / "refuses.py").write_text("def bowl(x):\n    raise SystemError('it was called')\n")
    monkeypatch.chdir(tmp_path)
    limits = ["--bounds", "0:1", "--popsize", "4", "--max-evaluations", "8", "--no-progress"]
    main(["--python", "mine:bowl", *limits, "--out", "deep/down/result.json"])
    assert (tmp_path / "deep" / "down" / "result.json").stat().st_size > 0
    with pytest.raises(OSError, match="mine.py"):
        main(["--python", "refuses:bowl", *limits, "--out", "mine.py/result.json"])
    with pytest.raises(ValueError, match="is a folder"):
        main(["--python", "refuses:bowl", *limits, "--out", "deep"])


def test_a_long_complaint_is_cut(tmp_path):
    def complains(x):
        raise RuntimeError("x" * 10_000_000)

    result = lga.minimize(complains, BOX, checkpoint=tmp_path / "run", **SMALL)
    assert len(result.failure_examples[0]) <= MOST_TEXT + 20
    assert (tmp_path / "run").stat().st_size < 100_000
    assert load_leaves(tmp_path / "run")


class UnspeakableError(Exception):
    def __str__(self):
        raise RuntimeError("no words")


class UnspeakableTimeoutError(TimeoutError, UnspeakableError):
    pass


class OddError(BaseException):
    pass


class Unshowable:
    def __repr__(self):
        raise RuntimeError("no picture")


@pytest.mark.parametrize("vectorized", [False, True])
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (asyncio.CancelledError, "exception"),
        (GeneratorExit, "exception"),
        (OddError, "exception"),
        (UnspeakableError, "exception"),
        (UnspeakableTimeoutError, "timeout"),
    ],
)
def test_whatever_is_raised_is_a_failed_evaluation(error, kind, vectorized):
    known = []

    def raises(x):
        # A search whose whole first generation fails alike is stopped.
        if len(known) < SMALL["popsize"]:
            known.extend(np.atleast_2d(x))
            return np.sum(x**2, axis=-1)
        raise error

    failed = SMALL["max_evaluations"] - SMALL["popsize"]
    assert failures_of(lga.minimize(raises, BOX, vectorized=vectorized, **SMALL)) == {kind: failed}


def test_a_result_that_cannot_be_shown_is_a_failed_evaluation():
    assert failures_of(lga.minimize(lambda x: Unshowable(), BOX, **SMALL)) == {"wrong_type": 40}


class BrokenStream(io.StringIO):
    def write(self, text):
        raise BrokenPipeError

    def isatty(self):
        return True


@pytest.mark.parametrize("stream", ["broken", "closed", "none"])
def test_a_search_survives_that_nobody_reads_its_progress(stream, monkeypatch):
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", {"broken": BrokenStream(), "closed": closed, "none": None}[stream])
    assert lga.minimize(sphere, BOX, progress=True, **SMALL).nfev == 40


@pytest.mark.parametrize("algorithm", ["lga", "samr_ga"])
def test_what_numpy_was_told_of_exceptions_changes_nothing_but_for_the_objective(algorithm):
    seen = set()

    def objective(x):
        seen.add(np.geterr()["divide"])
        return sphere(np.clip(x, -5.0, 5.0))

    bounds = [(1e-300, 1e300), (-1e308, 1e308), (-5.0, 5.0)]
    arguments = {"log_scale": [True, False, False], "algorithm": algorithm, "reevaluate": 2} | SMALL
    usual = lga.minimize(objective, bounds, **arguments)
    seen.clear()
    with np.errstate(all="raise"):
        strict = lga.minimize(objective, bounds, **arguments)
    assert_same(strict, usual)
    assert seen == {"raise"}


def test_users_without_a_home_and_a_name_have_no_cache_and_a_search(tmp_path):
    code = (
        "import os, pwd\n"
        "pwd.getpwuid = lambda uid: (_ for _ in ()).throw(KeyError(uid))\n"
        "import lga\n"
        "assert lga.minimize(lambda x: float(x @ x), [(-1, 1)], popsize=4, max_evaluations=8).nfev == 8\n"
        "from lga.tasks.data import data_directory\n"
        "try:\n    data_directory()\nexcept OSError as error:\n    assert 'LGA_DATA' in str(error)\n"
    )
    without = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME", "LGA_DATA")}
    subprocess.run([sys.executable, "-c", code], env=without, check=True, cwd=tmp_path)
