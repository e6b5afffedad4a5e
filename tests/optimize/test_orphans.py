"""When a search is killed, all that it has started ends with it; what commands write does not fill the memory."""

import os
import resource
import signal
import subprocess
import sys

import numpy as np
import pytest

from lga.cli.command import MOST_OUTPUT, Command, Variable
from processes import descendants, is_alive, wait_until

SCRIPT = """
import ctypes, os, subprocess, sys, time
from pathlib import Path
import lga

def holds_the_lock(x):
    Path(sys.argv[1], str(os.getpid())).touch()
    ctypes.PyDLL(None).sleep(300)

def starts_others(x):
    # The grandchild would live on, being nobody's child.
    subprocess.Popen([sys.executable, "-S", "-c", "import os, time; os.fork(); time.sleep(300)"])
    Path(sys.argv[1], str(os.getpid())).touch()
    time.sleep(300)

if __name__ == "__main__":
    lga.minimize(globals()[sys.argv[2]], [(-5.0, 5.0)] * 3, popsize=4, seed=0, max_evaluations=8, workers=2)
"""


def killed_with_its_family(parent: subprocess.Popen) -> None:
    family = list(descendants(parent.pid))
    parent.kill()
    parent.communicate()
    wait_until(lambda: not any(map(is_alive, family)), 20.0)


@pytest.mark.parametrize("objective", ["holds_the_lock", "starts_others"])
def test_nothing_survives_the_death_of_the_parent(objective, tmp_path):
    script, marks = tmp_path / "script.py", tmp_path / "marks"
    script.write_text(SCRIPT)
    marks.mkdir()
    parent = subprocess.Popen([sys.executable, str(script), str(marks), objective])
    expected = 2 if objective == "holds_the_lock" else 2 + 4
    # A guard, multiprocessing's tracker, two workers, and what these have started.
    wait_until(lambda: len(list(marks.iterdir())) == 2 and len(descendants(parent.pid)) >= 2 + expected, 120.0)
    killed_with_its_family(parent)


def test_commands_and_what_they_start_end_with_the_parent():
    program = "import os, time; os.fork(); os.fork(); time.sleep(300)"
    command = f"{sys.executable} -S -c '{program}' {{x}}"
    words = ["--bounds", "x=-5:5", "--workers", "2", "--max-evaluations", "8", "--no-progress"]
    parent = subprocess.Popen([sys.executable, "-m", "lga", "minimize", "--command", command, *words])

    def running() -> int:
        return sum("-S" in words and "sleep" in words[-3] for words in descendants(parent.pid).values())

    wait_until(lambda: running() == 8, 120.0)
    killed_with_its_family(parent)


def test_workers_end_even_if_their_guard_is_killed_before(tmp_path):
    script, marks = tmp_path / "script.py", tmp_path / "marks"
    script.write_text(SCRIPT)
    marks.mkdir()
    parent = subprocess.Popen([sys.executable, str(script), str(marks), "holds_the_lock"])
    wait_until(lambda: len(list(marks.iterdir())) == 2, 120.0)
    (guard,) = [pid for pid, words in descendants(parent.pid).items() if "-I" in words]
    os.kill(guard, signal.SIGKILL)
    killed_with_its_family(parent)


def test_the_end_of_what_a_command_writes_is_kept_and_no_more():
    program = f"import sys; sys.stdout.write('7 ' * {100 * MOST_OUTPUT}); sys.stderr.write('8' * {100 * MOST_OUTPUT})"
    variable = Variable("x", 0.0, 1.0, False, False)
    command = Command(f"{sys.executable} -S -c \"{program}; print('cost', {{x}})\"", [variable])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert command(np.array([0.25])) == 0.25
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 10_000  # kilobytes; it wrote 20,000


def test_a_number_that_was_cut_in_two_is_none():
    program = f"print('1' * {2 * MOST_OUTPUT})"
    command = Command(f'{sys.executable} -S -c "{program}"', [])
    with pytest.raises(RuntimeError, match="printed no number"):
        command(np.zeros(0))


def test_a_finished_search_leaves_no_process_and_no_descriptor(tmp_path):
    code = (
        "import os, lga\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from lga.optimize.worker import judge as objective\n"
        "def search(**how):\n"
        "    return lga.minimize(sum, [(-1, 1)] * 2, popsize=4, seed=0, max_evaluations=16, **how)\n"
        "if __name__ == '__main__':\n"
        "    seen = []\n"
        "    for _ in range(3):\n"
        "        search(workers=2, checkpoint='run'); search(timeout=60.0); os.unlink('run')\n"
        "        with ThreadPoolExecutor(2) as executor: search(workers=executor)\n"
        "        seen.append(len(os.listdir('/proc/self/fd')))\n"
        "    assert seen[0] == seen[-1], seen\n"
        "    children = open(f'/proc/self/task/{os.getpid()}/children').read().split()\n"
        "    assert len(children) <= 1, children  # multiprocessing's tracker\n"
        "    assert os.listdir('.') == ['script.py'], os.listdir('.')\n"
    )
    (tmp_path / "script.py").write_text(code)
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, "script.py"], cwd=tmp_path, check=True, env=environment)
