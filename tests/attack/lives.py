"""Work that is to be killed, each piece in a process of its own: python lives.py.

Lines of JSON come in, the name of a piece and its folder. For each a process is forked, from one that has imported all
but computed nothing, so that a life costs no start of the interpreter; its number is printed, and then how it ended.
"""

import json
import os
import sys
import time
from pathlib import Path

import numpy as np

from lga.bench import network_runs
from lga.bench.network_runs import Scale
from lga.bench.neuro import compare_on_task
from lga.cli import minimize as command_line
from lga.cli import train as train_command
from lga.core.compile_cache import use_compilation_cache
from lga.meta import train as training
from lga.optimize.minimize import minimize
from lga.tasks.network_task import TaskSize


def rough(x) -> float:
    """One solution in four fails, and it is always the same."""
    time.sleep(0.002)
    turn = int(abs(x[0]) * 1e6) % 12
    if turn == 0:
        raise ArithmeticError("a bad mood")
    return {1: float("nan"), 2: "text"}.get(turn, float(np.sum(np.floor(np.abs(x)) + 0.01 * x**2)))


def told(result) -> dict:
    names = ("fun", "nfev", "nit", "failures", "restarts", "message", "failure_examples")
    arrays = ("x", "population", "population_values")
    history = {name: column.tolist() for name, column in result.history.items()}
    return {name: result[name] for name in names} | {name: result[name].tolist() for name in arrays} | history


def search(folder: Path, max_evaluations: int, **how) -> None:
    limits = {"popsize": 6, "seed": 4, "max_evaluations": max_evaluations, "on_error": "retry", "algorithm": "samr_ga"}
    result = minimize(rough, [(-5.0, 5.0)] * 2, checkpoint=folder / "run", **limits, **how)
    (folder / "result.json").write_text(json.dumps(told(result), sort_keys=True))


def searched_alone(folder: Path) -> None:
    search(folder, 150)


def searched_by_workers(folder: Path) -> None:
    search(folder, 48, workers=2)


def searched_by_commands(folder: Path) -> None:
    program = "import sys, time; time.sleep(0.02); print(sum((float(x) - 1) ** 2 for x in sys.argv[1:]))"
    words = ["--bounds", "-5:5", "-5:5", "--popsize", "6", "--seed", "4", "--max-evaluations", "30", "--no-progress"]
    command = f"{sys.executable} -I -S -c '{program}' {{x0}} {{x1}}"
    files = ["--checkpoint", str(folder / "run"), "--out", str(folder / "result.json"), "--algorithm", "samr_ga"]
    command_line.main(["--command", command, *words, *files, "--workers", "2"])


def trained(folder: Path) -> None:
    training.SECONDS_BETWEEN_CHECKPOINTS = 0.05
    small = ["--preset", "smoke", "--family", "sphere", "--noise", "none", "--dims", "2", "3", "--num-children", "8"]
    small += ["--num-generations", "10", "10", "--meta-population", "16", "--num-tasks", "8", "--validate-every", "20"]
    small += ["--learned", "rate", "--search-space", "weights", "--optimizer", "snes", "--averaging", "0"]
    small += [
        "--validation-scales",
        "2x8x5",
        "--meta-generations",
        "40",
        "--devices",
        "1",
        "--out",
        str(folder / "run"),
    ]
    is_begun = (folder / "run" / "config.json").exists()
    train_command.main(["--resume", str(folder / "run"), "--devices", "1"] if is_begun else small)


def compared(folder: Path) -> None:
    network_runs.SECONDS_BETWEEN_CHECKPOINTS = 0.0
    use_compilation_cache()
    scale = Scale(8, 40, 20, TaskSize(16, 40), sigmas=(0.1,))
    compare_on_task("digits", ["gaussian_ga", "samr_ga"], scale, 1, folder / "run", train_command.Console(quiet=True))


PIECES = {
    piece.__name__: piece for piece in (searched_alone, searched_by_workers, searched_by_commands, trained, compared)
}


def main() -> None:
    for line in sys.stdin:
        name, folder = json.loads(line)
        child = os.fork()
        if child == 0:
            os.setsid()
            with open(Path(folder) / "output", "a") as output:
                for stream in (1, 2):
                    os.dup2(output.fileno(), stream)
            try:
                PIECES[name](Path(folder))
                os._exit(0)
            except BaseException:
                import traceback

                traceback.print_exc()
                os._exit(1)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
