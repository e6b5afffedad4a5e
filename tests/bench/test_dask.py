"""Cells that workers of a scheduler compute are those that are computed here, bit by bit, whoever dies on the way."""

import os
import signal
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from lga.bench import cells
from lga.bench.cells import Cell, fetch, outcomes
from lga.bench.methods import HAND_DESIGNED, Size
from lga.bench.searches import Suite, gap_cell

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster():
    """Two processes, which a nanny starts anew when they die."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True, silence_logs=50
    ) as cluster:
        yield cluster


def searches() -> list[Cell]:
    suites = [Suite(("sphere", "rastrigin"), (instance,), 2, 2, 7) for instance in (1, 2, 3)]
    return [gap_cell(HAND_DESIGNED["samr_ga"].at(0.5, 0.5), Size(4, 3), suite) for suite in suites]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_files_from_a_scheduler_equal_those_of_a_serial_run(cluster, tmp_path):
    serial = list(outcomes(searches(), tmp_path / "serial"))
    fetched = list(outcomes(searches(), tmp_path / "fetched", scheduler=cluster.scheduler_address))
    for one, other in zip(serial, fetched, strict=True):
        np.testing.assert_array_equal(one["best_so_far"], other["best_so_far"])
    assert contents(tmp_path / "serial") == contents(tmp_path / "fetched")


def dies_at_first(mark: Path, number: int, checkpoint: Path):
    """The first process that has the third cell is killed, as a machine that is switched off."""
    if number == 2 and not mark.exists():
        mark.write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.05)
    return {"x": np.arange(4.0) * number}


def numbered(mark: Path) -> list[Cell]:
    return [Cell("numbered", {"number": number}, partial(dies_at_first, mark, number)) for number in range(6)]


def test_a_worker_that_is_killed_costs_nothing_but_time(cluster, tmp_path):
    mark = tmp_path / "killed"
    fetch(numbered(mark), tmp_path / "fetched", cluster.scheduler_address)
    assert mark.exists()
    # Here nobody is killed: the mark is there already.
    list(outcomes(numbered(mark), tmp_path / "serial"))
    assert contents(tmp_path / "fetched") == contents(tmp_path / "serial")


def test_what_is_there_is_not_asked_for_again(tmp_path):
    mark = tmp_path / "killed"
    mark.write_text("")
    list(outcomes(numbered(mark), tmp_path))
    # There is no scheduler at this address, and nobody notices.
    assert len(list(outcomes(numbered(mark), tmp_path, scheduler="tcp://127.0.0.1:1"))) == 6


def fails(checkpoint: Path):
    raise ValueError("this cell is impossible")


def test_an_error_in_a_cell_is_told_as_it_is(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(cells, "RETRIES", 0)
    with pytest.raises(ValueError, match="this cell is impossible"):
        fetch([Cell("failing", {}, fails)], tmp_path, cluster.scheduler_address)
