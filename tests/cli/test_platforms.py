"""What a system lacks is done without: processor affinity on macOS, file locks and process groups on Windows."""

import os
import subprocess
import sys

from lga.cli.devices import available_cores


def test_cores_are_counted_where_affinity_is_unknown(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert available_cores() == 3
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert available_cores() == 1


def test_training_runs_have_folders_where_files_cannot_be_locked(tmp_path):
    code = (
        "import sys; sys.modules['fcntl'] = None\n"
        "from pathlib import Path\n"
        "from lga.meta.config import MetaConfig\n"
        "from lga.meta.run_directory import CONFIG, RunDirectory\n"
        "folder = Path(sys.argv[1])\n"
        "RunDirectory(folder, MetaConfig(), resume=False).close()\n"
        "assert (folder / CONFIG).is_file()\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "run")], check=True)
