"""Killed at any moment and called again, a search ends as if it had not been killed."""

import os
import pickle
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from faulty import assert_same, sphere, steps

import lga
from lga.optimize import loop

BOX = [(-5.0, 5.0)] * 3
SMALL = {"popsize": 8, "seed": 0, "max_evaluations": 100}


def stop_after(generations):
    return lambda so_far: so_far.nit >= generations


def test_stopped_and_continued_is_as_never_stopped(tmp_path):
    straight = lga.minimize(sphere, BOX, **SMALL)
    for generations in (1, 3, 8):
        part = lga.minimize(sphere, BOX, checkpoint=tmp_path / "run", callback=stop_after(generations), **SMALL)
        assert part.nit == generations
    assert_same(lga.minimize(sphere, BOX, checkpoint=tmp_path / "run", **SMALL), straight)


def test_a_finished_search_is_not_run_again(tmp_path):
    first = lga.minimize(sphere, BOX, checkpoint=tmp_path / "run", **SMALL)
    calls = []

    def sphere_again(x):
        calls.append(x)
        return sphere(x)

    sphere_again.__module__, sphere_again.__qualname__ = sphere.__module__, sphere.__qualname__
    again = lga.minimize(sphere_again, BOX, checkpoint=tmp_path / "run", checkpoint_objective="ignore", **SMALL)
    assert calls == []
    assert_same(again, first)


def test_an_interrupt_within_a_generation_loses_no_evaluation(tmp_path, monkeypatch):
    straight = lga.minimize(sphere, BOX, **SMALL)
    calls = []

    def interrupted(x):
        calls.append(x)
        if len(calls) == 21:
            raise KeyboardInterrupt
        return sphere(x)

    interrupted.__module__, interrupted.__qualname__ = sphere.__module__, sphere.__qualname__
    part = lga.minimize(interrupted, BOX, checkpoint=tmp_path / "run", **SMALL)
    assert (part.message, part.nfev) == ("interrupted", 20)
    assert_same(lga.minimize(interrupted, BOX, checkpoint=tmp_path / "run", **SMALL), straight)
    assert len(calls) == 101


def test_long_generations_are_saved_on_the_way(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    calls = []

    def dies_at_the_fifth(x):
        calls.append(x)
        if len(calls) == 5:
            raise MemoryError
        return sphere(x)

    with pytest.raises(loop.EvaluationError):
        lga.minimize(dies_at_the_fifth, BOX, on_error="raise", checkpoint=tmp_path / "run", **SMALL)
    optimizer = lga.Optimizer.load(tmp_path / "run")
    assert len(optimizer.ask()) == 4


def test_another_search_is_refused_with_what_differs(tmp_path):
    lga.minimize(sphere, BOX, checkpoint=tmp_path / "run", **SMALL)

    def refused(match, fun=sphere, bounds=BOX, **changed):
        with pytest.raises(ValueError, match=match):
            lga.minimize(fun, bounds, checkpoint=tmp_path / "run", **SMALL | changed)

    refused("popsize was 8 and is 16 now", popsize=16)
    refused("popsize was 8 and is 16 now; seed was 0 and is 1 now", seed=1, popsize=16)
    refused("fun was 'faulty.sphere' and is 'faulty.steps' now", fun=steps)
    refused("bounds was", bounds=[(-5.0, 5.0)] * 2 + [(-5.0, 4.0)])
    refused("algorithm was 'lga' and is 'samr_ga' now", algorithm="samr_ga")
    refused("direction was", direction="maximize")


def test_an_unknown_seed_is_taken_from_the_checkpoint(tmp_path):
    arguments = {"popsize": 8, "max_evaluations": 40, "checkpoint": tmp_path / "run"}
    part = lga.minimize(sphere, BOX, callback=stop_after(2), **arguments)
    assert lga.minimize(sphere, BOX, **arguments).seed == part.seed


def test_a_damaged_checkpoint_is_refused(tmp_path):
    lga.minimize(sphere, BOX, checkpoint=tmp_path / "run", **SMALL)
    content = bytearray((tmp_path / "run").read_bytes())
    content[-10] ^= 1
    (tmp_path / "run").write_bytes(content)
    with pytest.raises(ValueError, match="damaged"):
        lga.minimize(sphere, BOX, checkpoint=tmp_path / "run", **SMALL)


def test_a_checkpoint_is_read_without_unpickling(tmp_path, monkeypatch):
    part = lga.minimize(sphere, BOX, checkpoint=tmp_path / "run", callback=stop_after(3), **SMALL)

    def forbidden(*_, **__):
        raise AssertionError("something was unpickled")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, forbidden)
    assert lga.Optimizer.load(tmp_path / "run").best_value == part.fun
    assert lga.minimize(sphere, BOX, checkpoint=tmp_path / "run", **SMALL).nfev == 100


@pytest.mark.slow
def test_killed_again_and_again_it_ends_as_if_it_had_not_been(tmp_path):
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    script = str(Path(__file__).parent / "killed.py")

    def start(checkpoint, result):
        return subprocess.Popen(
            [sys.executable, script, str(tmp_path / checkpoint), str(tmp_path / result)], env=environment
        )

    assert start("undisturbed.ckpt", "undisturbed.json").wait(600) == 0
    dice, kills, kills_under_way = random.Random(0), 0, 0
    while not (tmp_path / "killed.json").exists():
        process = start("killed.ckpt", "killed.json")
        if dice.random() < 0.75:
            wait_for_change(tmp_path / "killed.ckpt", process)
        time.sleep(dice.uniform(0.0, 1.0))
        if process.poll() is None:
            process.kill()
            kills += 1
        process.wait()
        kills_under_way += (tmp_path / "killed.ckpt").exists()
        assert kills < 200
    print(f"\n{kills} kills survived, {kills_under_way} starts found a checkpoint")
    assert kills >= 3
    assert (tmp_path / "killed.json").read_text() == (tmp_path / "undisturbed.json").read_text()


def wait_for_change(path: Path, process) -> None:
    """Until the search has started and saved once more, so that every life makes some progress."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    while process.poll() is None and (path.stat().st_mtime_ns if path.exists() else 0) == before:
        time.sleep(0.01)


def test_one_search_at_a_time_works_with_a_checkpoint(tmp_path):
    complaints = []

    def once_more(so_far):
        with pytest.raises(ValueError, match="another search is at work with it") as caught:
            lga.minimize(sphere, BOX, checkpoint=tmp_path / "run", **SMALL)
        complaints.append(caught.value)
        return True

    lga.minimize(sphere, BOX, checkpoint=tmp_path / "run", callback=once_more, **SMALL)
    assert len(complaints) == 1
    assert lga.minimize(sphere, BOX, checkpoint=tmp_path / "run", **SMALL).nfev == 100


def test_a_search_leaves_its_checkpoint_and_nothing_else(tmp_path):
    (tmp_path / f".run.{'0' * 16}.partial").touch()
    lga.minimize(sphere, BOX, checkpoint=tmp_path / "run", **SMALL)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_checkpoint_behind_a_link_is_replaced_there(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "disk" / "run")
    lga.minimize(sphere, BOX, checkpoint=tmp_path / "run", **SMALL)
    assert (tmp_path / "run").is_symlink()
    assert [path.name for path in (tmp_path / "disk").iterdir()] == ["run"]


LARGE = """
import contextlib, resource, sys
import lga
from lga.core.tree_io import TreeFileError, load_leaves, save_tree
path, size = sys.argv[1], int(sys.argv[2])
leaves, description = load_leaves(path)
description["settings"]["popsize"] = size
save_tree(path, leaves, description)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
# The state of CMA-ES has the same shapes whatever the population, so that file may be read.
with contextlib.suppress(TreeFileError):
    lga.Optimizer.load(path)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize(("algorithm", "size"), [("lga", 2**20), ("cma_es", 2**20), ("lga", 10**9)])
@pytest.mark.usefixtures("ranks_promoted")
def test_a_small_file_that_asks_for_much_memory_does_not_get_it(algorithm, size, tmp_path):
    optimizer = lga.Optimizer(BOX, seed=0, popsize=8, algorithm=algorithm)
    x = optimizer.ask()
    optimizer.tell(x, [sphere(row) for row in x])
    optimizer.save(tmp_path / "run")
    command = [sys.executable, "-c", LARGE, str(tmp_path / "run"), str(size)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 600_000  # kilobytes
