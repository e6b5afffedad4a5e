"""The BBOB comparison: every method tuned on some instances, reported on others, over all 24 functions."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lga.algorithms import presets
from lga.algorithms.run import Trace
from lga.bench.protocol import Budget, Method, Tuned, grid_row, measure
from lga.core.tree_io import digest, json_form, load_leaves, save_tree
from lga.operators.theta import Theta
from lga.tasks import bbob

ELITE_RATIOS = (0.0, 0.15, 0.25, 0.35, 0.5, 1.0)
SIGMAS = (0.1, 0.25, 0.5, 0.75, 1.0)
TUNING_SEED, REPORT_SEED = 1, 2


@dataclass(frozen=True)
class Protocol:
    """The paper's settings."""

    functions: tuple[str, ...] = tuple(bbob.FUNCTIONS)
    num_dims: int = 20
    num_children: int = 32
    num_generations: int = 50
    tuning_instances: tuple[int, ...] = (1, 2, 3, 4, 5)
    tuning_seeds: int = 3
    report_instances: tuple[int, ...] = (6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
    report_seeds: int = 5

    def tasks(self, instances: Sequence[int]) -> bbob.Task:
        return bbob.instances(self.functions, instances, self.num_dims)


@dataclass(frozen=True)
class Entry:
    """A method as it enters the comparison; some have a population of their own, at the same number of evaluations."""

    method: Method
    num_children: int
    num_generations: int
    fingerprint: str = ""
    """Digest of the weights of a learned method."""

    def budget(self, num_seeds: int) -> Budget:
        return Budget(self.num_children, self.num_generations, num_seeds)


def with_population(method: Method, size: int, protocol: Protocol, fingerprint: str = "") -> Entry:
    """As many generations as the protocol's evaluations allow for, after the initial archive."""
    evaluations = protocol.num_children * (protocol.num_generations + 1)
    return Entry(method, size, evaluations // size - 1, fingerprint)


def hand_designed(protocol: Protocol) -> list[Entry]:
    def same(method: Method) -> Entry:
        return with_population(method, protocol.num_children, protocol)

    default_size = 4 + int(3 * np.log(protocol.num_dims))
    # Step sizes of evolution strategies are those of the whole distribution: up to the width of the domain.
    strategy_sigmas = (*SIGMAS, 2.0)
    return [
        same(Method("Gaussian GA", presets.gaussian_ga, ELITE_RATIOS, SIGMAS)),
        same(Method("MR-1/5 GA", presets.mr15_ga, ELITE_RATIOS, SIGMAS)),
        same(Method("SAMR-GA", presets.samr_ga, ELITE_RATIOS, SIGMAS)),
        same(Method("GESMR-GA", presets.gesmr_ga, ELITE_RATIOS, SIGMAS)),
        same(Method("Sep-CMA-ES", lambda n, _: presets.sep_cma_es(n), (0.5,), strategy_sigmas)),
        same(Method("CMA-ES", lambda n, _: presets.cma_es(n), (0.5,), strategy_sigmas)),
        with_population(
            Method("CMA-ES, default population", lambda n, _: presets.cma_es(n), (0.5,), strategy_sigmas),
            default_size,
            protocol,
        ),
        same(Method("random search", lambda n, _: presets.random_search(n), (0.5,), (0.5,))),
    ]


def learned_entries(protocol: Protocol, weights: dict[str, Theta], sigma0: float) -> list[Entry]:
    """Each set of weights tuned over the grid like all others, and as it ships.

    The first enters a third time, with half the population, which is what `lga.minimize` starts with.
    """
    entries, first, half = [], next(iter(weights)), protocol.num_children // 2
    for name, theta in weights.items():

        def build(num_children: int, elite_ratio: float, theta: Theta = theta):
            return presets.learned_ga(theta, num_children, elite_ratio)

        fingerprint = digest(theta)
        tuned = Method(name, build, ELITE_RATIOS, SIGMAS)
        shipped = Method(f"{name}, untuned", build, (1.0,), (sigma0,))
        for method in (tuned, shipped):
            entries.append(with_population(method, protocol.num_children, protocol, fingerprint))
        if name == first:
            method = Method(f"{name}, untuned, population {half}", build, (1.0,), (sigma0,))
            entries.append(with_population(method, half, protocol, fingerprint))
    return entries


def tune_and_measure(protocol: Protocol, entry: Entry, cells: Path) -> tuple[Tuned, np.ndarray]:
    """The chosen setting, and the best gap so far on the report instances [functions, instances, seeds, generations].

    Every finished cell is kept under `cells`, so an interrupted comparison goes on where it stopped.
    """
    settings = [
        setting for ratio in entry.method.elite_ratios for setting in tuned_cells(protocol, entry, ratio, cells)
    ]
    chosen = min(settings, key=lambda setting: setting.score)
    report = entry.budget(protocol.report_seeds)

    def measure_report() -> np.ndarray:
        trace: Trace = measure(chosen, protocol.tasks(protocol.report_instances), report, REPORT_SEED)
        return np.asarray(trace.best_so_far)

    name = f"{slug(entry.method.name)}-report.safetensors"
    best = cached(cells / name, cell_key(protocol, entry, chosen.elite_ratio, chosen.sigma), measure_report)
    return chosen, best.reshape(len(protocol.functions), len(protocol.report_instances), protocol.report_seeds, -1)


def tuned_cells(protocol: Protocol, entry: Entry, ratio: float, cells: Path) -> Iterator[Tuned]:
    budget = entry.budget(protocol.tuning_seeds)

    def measure_row() -> np.ndarray:
        tasks = protocol.tasks(protocol.tuning_instances)
        return np.stack([np.asarray(gaps) for gaps in grid_row(entry.method, ratio, tasks, budget, TUNING_SEED)])

    name = f"{slug(entry.method.name)}-rho{ratio:g}.safetensors"
    row = cached(cells / name, cell_key(protocol, entry, ratio, list(entry.method.sigmas)), measure_row)
    for sigma, gaps in zip(entry.method.sigmas, row, strict=True):
        yield Tuned(entry.method, ratio, sigma, float(gaps.mean()))


def cell_key(protocol: Protocol, entry: Entry, ratio: float, sigma: Any) -> dict[str, Any]:
    """All that decides a cell, as JSON holds it."""
    return json_form(
        {
            "protocol": asdict(protocol),
            "budget": [entry.num_children, entry.num_generations],
            "weights": entry.fingerprint,
            "ratio": ratio,
            "sigma": sigma,
        }
    )


def cached(file: Path, key: dict[str, Any], compute: Callable[[], np.ndarray]) -> np.ndarray:
    if file.exists():
        tensors, description = load_leaves(file)
        if description == key:
            return tensors["values"]
    values = compute()
    save_tree(file, {"values": values}, key)
    return values


def slug(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower())
