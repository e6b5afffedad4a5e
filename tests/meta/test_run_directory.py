"""Settings, metrics and checkpoint of a training run belong together, and it is noticed if they do not."""

import dataclasses
import json
import random
import shutil

import numpy as np
import pytest

from lga.core.tree_io import TreeFileError
from lga.meta.run_directory import (
    CHECKPOINT,
    CONFIG,
    METRICS,
    RunDirectory,
    load_checkpoint,
    read_metrics,
    saved_config,
)
from lga.meta.train import train
from meta.tiny import TINY

STATE = {"mean": np.arange(3.0)}
ENTRIES = [{"meta_generation": number, "seconds": 0.1 * number, "scales": ["3x8x10"]} for number in range(1, 7)]


@pytest.fixture
def run(tmp_path):
    """Six lines of metrics, and a checkpoint after four."""
    directory = RunDirectory(tmp_path, TINY, resume=False)
    directory.begin_after(0)
    for entry in ENTRIES:
        directory.log(entry)
    directory.save_checkpoint(4, STATE, None)
    directory.close()
    return tmp_path


def resumed(path, config=TINY):
    directory = RunDirectory(path, config, resume=True)
    try:
        done, state, _ = load_checkpoint(path, STATE, config)
        directory.begin_after(done)
    finally:
        directory.close()
    return done, state, read_metrics(path)


def test_an_untouched_run_goes_on_and_forgets_what_came_after_its_checkpoint(run):
    for _ in range(2):
        done, state, metrics = resumed(run)
        assert done == 4
        np.testing.assert_array_equal(state["mean"], STATE["mean"])
        assert [entry["meta_generation"] for entry in metrics] == [1, 2, 3, 4]
    longer = dataclasses.replace(TINY, meta_generations=99)
    assert resumed(run, longer)[0] == 4
    assert saved_config(run) == longer


def test_nothing_but_the_run_is_in_its_folder(run):
    (run / ".123.curves.png").touch()
    resumed(run)
    assert sorted(path.name for path in run.iterdir()) == [CHECKPOINT, CONFIG, METRICS]


@pytest.mark.usefixtures("ranks_promoted")
def test_the_checkpoint_of_another_seed_is_refused(tmp_path):
    short = dataclasses.replace(TINY, meta_generations=2, validate_every=2)
    for seed in (0, 1):
        train(dataclasses.replace(short, seed=seed), tmp_path / str(seed))
    shutil.copy(tmp_path / "1" / CHECKPOINT, tmp_path / "0" / CHECKPOINT)
    with pytest.raises(ValueError, match="checkpoint.safetensors is of another run: seed was 1 and is 0 now"):
        train(dataclasses.replace(short, meta_generations=4), tmp_path / "0", resume=True)


def test_metrics_of_another_run_are_refused(run, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    directory = RunDirectory(other, dataclasses.replace(TINY, seed=1), resume=False)
    directory.begin_after(0)
    for entry in ENTRIES:
        directory.log(entry)
    directory.close()
    shutil.copy(other / METRICS, run / METRICS)
    with pytest.raises(TreeFileError, match=r"metrics.jsonl is damaged or of another run: line 1"):
        resumed(run)


def test_no_line_of_the_metrics_can_be_left_out(run):
    lines = (run / METRICS).read_text().splitlines(keepends=True)
    for missing in range(4):
        (run / METRICS).write_text("".join(lines[:missing] + lines[missing + 1 :]))
        with pytest.raises(TreeFileError, match="line"):
            resumed(run)
    (run / METRICS).unlink()
    with pytest.raises(TreeFileError, match="0 whole lines of 4"):
        resumed(run)


@pytest.mark.parametrize("name", [CONFIG, METRICS, CHECKPOINT])
def test_no_changed_file_is_taken_for_the_run(run, name):
    """Bytes changed at random: refused with a sentence, or nothing that can be read is changed."""
    content, dice = (run / name).read_bytes(), random.Random(0)
    others = {other: (run / other).read_bytes() for other in (CONFIG, METRICS, CHECKPOINT)}
    expected, refused = resumed(run)[2], 0
    for _ in range(300):
        for other, original in others.items():
            (run / other).write_bytes(original)
        changed = bytearray(content)
        changed[dice.randrange(len(content))] = dice.randrange(256)
        (run / name).write_bytes(changed)
        try:
            done, state, metrics = resumed(run)
        except ValueError:
            refused += 1
            continue
        assert (done, metrics) == (4, expected)
        np.testing.assert_array_equal(state["mean"], STATE["mean"])
    # Of the metrics, a third comes after the checkpoint and is written anew.
    assert refused > 150


def test_a_run_from_before_there_were_seals_goes_on_and_has_them_then(run):
    (run / CONFIG).write_text(json.dumps(dataclasses.asdict(TINY)))
    (run / METRICS).write_text("".join(f"{json.dumps(entry)}\n" for entry in ENTRIES))
    resumed(run)
    assert resumed(run)[0] == 4
    assert all("sha256" in entry for entry in read_metrics(run))
