"""The whole attack: PYTHONPATH=tests python -m attack --out results/attack (or `make attack`).

Counts are written after every piece of work and added to those that are there already, so it may be stopped and gone on
with. A promise that is broken is counted, with what was seen.
"""

import argparse
import fcntl
import json
import logging
import os
import random
import shutil
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from attack.faults import EVALUATORS, Case, attack, command_case, random_case
from attack.killer import killed_and_finished, left_behind, lives, outcome
from attack.mutations import bombarded, formats
from lga.core.files import write_atomically

PIECES = {
    "minimize": (*["searched_alone"] * 4, "searched_by_workers", "searched_by_commands"),
    "train": ("trained",),
    "bench": ("compared",),
}
# Most cases are cheap; what needs processes of its own is attacked as well, but less often.
BUDGETS = {"in_process": 6000, "vectorized": 3000, "threads": 2000, "processes": 80}
TURNS = ("in_process", "vectorized", "in_process", "threads", "in_process", "processes")
assert set(TURNS) == set(EVALUATORS)


MOST_KILLS = 34
KINDS = ("faults", "searches", "kills", "resumed", "mutations", "broken")


class Report:
    """Counts in a file, to which several processes may add."""

    def __init__(self, path: Path):
        self.path = path
        self.counts = self.read()

    def read(self) -> dict[str, Counter[str]]:
        found = json.loads(self.path.read_text())["counts"] if self.path.exists() else {}
        return {name: Counter(found.get(name, {})) for name in KINDS}

    def add(self, name: str, found: Counter[str]) -> None:
        self.change(lambda counts: counts[name].update(found))

    def forget(self, *names: str) -> None:
        self.change(lambda counts: [counts[name].clear() for name in names])

    def change(self, how: Callable[[dict[str, Counter[str]]], Any]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path.parent / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.counts = self.read()
            how(self.counts)
            totals = {f"total_{name}": counter.total() for name, counter in self.counts.items()}
            content = {name: dict(sorted(counter.items())) for name, counter in self.counts.items()}
            write_atomically(self.path, (json.dumps(totals | {"counts": content}, indent=1) + "\n").encode())

    @contextmanager
    def kept(self, promise: str) -> Iterator[None]:
        try:
            yield
        except AssertionError as error:
            traceback.print_exc()
            self.add("broken", Counter({f"{promise}: {str(error)[:200]}": 1}))


def faults(report: Report, wanted: int, folder: Path) -> None:
    turn = report.counts["searches"].total()
    while report.counts["faults"].total() < wanted:
        dice = np.random.default_rng([20, turn])
        evaluator = TURNS[turn % len(TURNS)]
        case = random_case(dice, evaluator, BUDGETS[evaluator])
        with report.kept(f"{case}"):
            report.add("faults", attack(case, folder))
        report.add("searches", Counter({evaluator: 1}))
        if turn % 40 == 20:
            case = Case("command", "retry", (), 0.5, turn, 6, 2, 60)
            with report.kept(f"{case}"):
                report.add("faults", command_case(case, folder))
            report.add("searches", Counter(command=1))
        turn += 1
        print(time.strftime("%H:%M:%S"), report.counts["faults"].total(), "faults", flush=True)


def kills(report: Report, wanted: int, folder: Path, cache: Path) -> None:
    with lives(cache) as maker:
        straight: dict[str, dict[str, bytes]] = {}
        # By turns, so that all kinds get on.
        while open_kinds := [kind for kind in PIECES if report.counts["kills"][kind] < wanted]:
            for kind in open_kinds:
                pieces = PIECES[kind]
                turn = sum(report.counts["resumed"][piece] for piece in set(pieces))
                piece = pieces[turn % len(pieces)]
                if piece not in straight:
                    maker.finished(piece, folder / f"{piece}-undisturbed")
                    straight[piece] = outcome(piece, folder / f"{piece}-undisturbed")
                own = folder / f"{piece}-{turn}-{os.getpid()}"
                with report.kept(f"{piece}, {turn}"):
                    killed_and_finished(
                        maker,
                        piece,
                        own,
                        random.Random(turn),
                        MOST_KILLS,
                        lambda kind=kind: report.add("kills", Counter({kind: 1})),
                    )
                    assert outcome(piece, own) == straight[piece], "it ends otherwise than undisturbed"
                    assert left_behind(own) == [], f"left behind: {left_behind(own)}"
                report.add("resumed", Counter({piece: 1}))
                shutil.rmtree(own)
                print(time.strftime("%H:%M:%S"), dict(report.counts["kills"]), "kills", flush=True)


def mutations(report: Report, wanted: int, folder: Path) -> None:
    every = formats(folder)
    for name, format in every.items():
        done = sum(count for key, count in report.counts["mutations"].items() if key.startswith(f"{name}, "))
        for number in range(done, -(-wanted // len(every)), 50):
            with report.kept(f"{name}, {number}"):
                found = bombarded(format, 50, random.Random(number))
                report.add("mutations", Counter({f"{name}, {key}": count for key, count in found.items()}))
        print(time.strftime("%H:%M:%S"), report.counts["mutations"].total(), "mutations", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="attack", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results/attack"), help="folder of attack.json")
    parser.add_argument("--faults", type=int, default=50_000, help="failed evaluations, however evaluated")
    parser.add_argument("--kills", type=int, default=100, help="kills of each of minimize, train and bench")
    parser.add_argument("--mutations", type=int, default=5_000, help="changed files, over all formats")
    parser.add_argument("--again", action="store_true", help="count faults anew; kills and changed files stay")
    given = parser.parse_args()
    logging.getLogger("lga.optimize").setLevel(logging.CRITICAL)
    report = Report(given.out / "attack.json")
    if given.again:
        report.forget("faults", "searches", "broken")
    with tempfile.TemporaryDirectory(prefix="lga-attack-") as name:
        folder = Path(name)
        mutations(report, given.mutations, folder)
        # Compiled programs are kept: to compile them again is no part of the attack.
        kills(report, given.kills, folder, Path(tempfile.gettempdir()) / f"lga-tests-{os.getuid()}")
        faults(report, given.faults, folder)


if __name__ == "__main__":
    main()
