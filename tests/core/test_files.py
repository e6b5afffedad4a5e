"""Files are whole or as they were; links are not followed; nothing half-written stays; one process at a time."""

import os
import stat
import subprocess
import sys

import pytest

from lga.core import files
from lga.core.files import Lock, create_partial, require_writable, sweep, write_atomically, write_report

KILLED = """
import os, signal, sys
from pathlib import Path
from lga.core import files
files.os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
files.write_atomically(Path(sys.argv[1]), b"half")
"""


def test_a_write_that_is_killed_leaves_the_old_file_and_the_next_sweep_clears_up(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    assert subprocess.run([sys.executable, "-c", KILLED, str(path)]).returncode < 0
    assert len(list(tmp_path.iterdir())) == 2
    sweep(tmp_path)
    assert [one.read_bytes() for one in tmp_path.iterdir()] == [b"old"]


def test_a_report_clears_up_what_killed_processes_left_of_it(tmp_path):
    path = tmp_path / "report.json"
    assert subprocess.run([sys.executable, "-c", KILLED, str(path)]).returncode < 0
    write_report(path, {"score": 1})
    assert [one.name for one in tmp_path.iterdir()] == ["report.json"]


def test_a_sweep_takes_neither_what_is_being_written_nor_what_is_not_ours(tmp_path):
    partial, descriptor = create_partial(tmp_path / "file")
    (tmp_path / ".download.partial").touch()
    (tmp_path / "notes.0123456789abcdef.partial").touch()
    sweep(tmp_path)
    assert partial.exists()
    os.close(descriptor)
    sweep(tmp_path, "other")
    assert partial.exists()
    sweep(tmp_path, "file")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".download.partial", "notes.0123456789abcdef.partial"]


def test_a_link_stays_one_and_what_it_leads_to_is_replaced(tmp_path):
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to("target")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


def test_a_link_in_the_place_of_a_partial_file_is_not_followed(tmp_path, monkeypatch):
    (tmp_path / "victim").write_bytes(b"precious")
    monkeypatch.setattr(files.secrets, "token_hex", lambda _: "0" * 16)
    (tmp_path / f".file.{'0' * 16}.partial").symlink_to(tmp_path / "victim")
    with pytest.raises(OSError, match="exists"):
        write_atomically(tmp_path / "file", b"new")
    (tmp_path / ".lock").symlink_to(tmp_path / "victim")
    with pytest.raises(OSError, match="symbolic links"):
        Lock(tmp_path / ".lock", "taken")
    assert (tmp_path / "victim").read_bytes() == b"precious"


def test_files_have_the_usual_permissions_and_names_may_be_long(tmp_path):
    path = tmp_path / ("x" * 240)
    write_atomically(path, b"content")
    (tmp_path / "usual").touch()
    modes = {stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()}
    assert len(modes) == 1


def test_a_lock_has_one_holder_and_leaves_no_file(tmp_path):
    path = tmp_path / ".lock"
    first = Lock(path, "taken")
    with pytest.raises(ValueError, match="taken"):
        Lock(path, "taken")
    first.close()
    second = Lock(path, "taken")
    second.close()
    assert list(tmp_path.iterdir()) == []


def test_the_lock_of_a_killed_process_is_free(tmp_path):
    path = tmp_path / ".lock"
    code = "import sys; from pathlib import Path; from lga.core.files import Lock\n"
    code += "lock = Lock(Path(sys.argv[1]), 'taken'); print('held', flush=True); sys.stdin.read()"
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(ValueError, match="taken"):
        Lock(path, "taken")
    holder.kill()
    holder.communicate()
    Lock(path, "taken").close()


def test_trying_whether_a_file_can_be_written_leaves_its_folder_and_no_file(tmp_path):
    require_writable(tmp_path / "new" / "file")
    assert list((tmp_path / "new").iterdir()) == []
    with pytest.raises(ValueError, match="is a folder"):
        require_writable(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        require_writable(tmp_path / "file" / "below")
