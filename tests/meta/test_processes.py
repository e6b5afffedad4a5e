"""Training in processes of its own: killed and resumed, on several devices, over several processes."""

import random
import signal
import socket
import time

import pytest

from lga.meta.run_directory import BEST, CHECKPOINT, CURVES, FINAL
from meta.tiny import TINY_ARGUMENTS, finish, lga_process, sha256
from processes import wait_until


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, cache):
    """The weights of a run on one device that nobody killed."""
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    output = finish(lga_process("train", *TINY_ARGUMENTS, "--devices", "1", "--out", str(folder), cache=cache))
    assert "best weights" in output
    assert (folder / CURVES).stat().st_size > 10_000
    return {name: sha256(folder / name) for name in (BEST, FINAL, CHECKPOINT)}


def hashes(folder):
    return {name: sha256(folder / name) for name in (BEST, FINAL, CHECKPOINT)}


@pytest.mark.parametrize("devices", ["2", pytest.param("4", marks=pytest.mark.slow)])
def test_the_number_of_devices_does_not_change_a_bit(tmp_path, cache, undisturbed, devices):
    finish(lga_process("train", *TINY_ARGUMENTS, "--devices", devices, "--out", str(tmp_path / "run"), cache=cache))
    assert hashes(tmp_path / "run") == undisturbed


def two_processes(cache, arguments):
    """Both of a run over two processes that find each other on loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    shared = ["--coordinator", f"127.0.0.1:{port}", "--num-processes", "2", "--devices", "1"]
    return [lga_process("train", *arguments, *shared, "--process-id", str(number), cache=cache) for number in (0, 1)]


def test_two_processes_on_loopback_do_not_change_a_bit(tmp_path, cache, undisturbed):
    for process in two_processes(cache, [*TINY_ARGUMENTS, "--out", str(tmp_path / "run")]):
        finish(process)
    assert hashes(tmp_path / "run") == undisturbed


def test_two_processes_of_which_one_is_killed_start_again_and_end_with_the_same_bits(
    tmp_path, cache, undisturbed, monkeypatch
):
    monkeypatch.setenv("LGA_CHECKPOINT_SECONDS", "0")
    folder = tmp_path / "run"
    processes = two_processes(cache, [*TINY_ARGUMENTS, "--out", str(folder)])
    wait_until((folder / CHECKPOINT).exists, seconds=240)
    processes[1].send_signal(signal.SIGKILL)
    processes[1].communicate()
    assert not (folder / FINAL).exists()
    # The other waits for what will never come; whoever has started both ends it, as Slurm and Kubernetes do.
    processes[0].kill()
    processes[0].communicate()
    for process in two_processes(cache, ["--resume", str(folder), "--no-compare"]):
        finish(process)
    assert hashes(folder) == undisturbed


def test_killed_and_resumed_at_random_moments_a_run_ends_with_the_same_bits(tmp_path, cache, undisturbed, monkeypatch):
    monkeypatch.setenv("LGA_CHECKPOINT_SECONDS", "0.2")
    folder, moments, kills = tmp_path / "run", random.Random(0), 0
    process = lga_process("train", *TINY_ARGUMENTS, "--out", str(folder), cache=cache)
    while kills < 4:
        time.sleep(2.0 + 4.0 * moments.random())
        if process.poll() is not None:
            break
        process.send_signal(signal.SIGKILL)
        process.communicate()
        kills += 1
        resumed = (folder / "config.json").exists()
        arguments = ["--resume", str(folder), "--no-compare"] if resumed else [*TINY_ARGUMENTS, "--out", str(folder)]
        process = lga_process("train", *arguments, cache=cache)
    finish(process)
    assert kills >= 1
    assert hashes(folder) == undisturbed
