"""From attention to rules: what learned weights do with an archive of equals, and how good the rules are."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int
from rich.console import Console
from rich.progress import track
from rich.table import Table

from experiments.dissection import PapersOperators, papers_operators
from experiments.form import Experiment, Outcome, described
from lga.algorithms.genetic import genetic_algorithm
from lga.analysis.operators import operator_lines
from lga.bench.bbob import BbobProtocol, final_log_gaps
from lga.bench.cells import outcome
from lga.bench.methods import DISTILLED_AS_IT_IS, HAND_DESIGNED, Method, learned
from lga.bench.searches import gap_cell, searches
from lga.bench.statistics import interval_text, mean_interval
from lga.core.compile_cache import use_compilation_cache
from lga.core.interfaces import MutationRate
from lga.operators.features import fitness_and_rate_features
from lga.operators.mutation_rate import fixed_rate, ladder_rate, rate_multiplier
from lga.operators.rows import selection_row, with_one
from lga.operators.selection import joint_features, rank_selection, selection_weights
from lga.tasks import registry
from lga.weights import resolve

GAUSSIAN = "gaussian_ga"


@dataclass(frozen=True)
class DistillationSettings:
    weights: tuple[str, ...] = ("lga-paper-2", "evosax-lga")
    """Looked at; the first is the one that was distilled."""
    num_individuals: int = 32
    num_draws: int = 200
    """Random generations that the look at selection is averaged over."""
    protocol: BbobProtocol = field(default_factory=BbobProtocol)
    """Its report instances are searched on."""
    cells: Path = Path("runs/studies/cells")


def equals_and_worse(learned: PapersOperators, num_individuals: int) -> list[dict[str, float]]:
    """The multiplier of the better parents' rates, by the share of worse ones, whose rates are larger or smaller.

    How much worse, larger and smaller does not matter: the features of two kinds of parents do not see it.
    """

    @jax.jit
    def multiplier(worse: Int[Array, ""], their_rate: Float[Array, ""]) -> Float[Array, ""]:
        is_worse = jnp.arange(num_individuals) >= num_individuals - worse
        rates = jnp.where(is_worse, their_rate, 1.0)
        features = fitness_and_rate_features(is_worse.astype(rates.dtype), rates, jnp.zeros(()))
        better = rate_multiplier(learned.rate, features) * (1.0 - is_worse)
        return jnp.sum(better) / (num_individuals - worse)

    return [
        {
            "share_of_worse": worse / num_individuals,
            "their_rates_larger": float(multiplier(worse, 2.0)),
            "their_rates_smaller": float(multiplier(worse, 0.5)),
        }
        for worse in range(0, num_individuals, max(1, num_individuals // 16))
    ]


def takeover(learned: PapersOperators, settings: DistillationSettings) -> list[dict[str, Any]]:
    """Who gets the places of equal parents, by how far the best child is from them, in deviations of the children."""
    n = settings.num_individuals
    draws = np.random.default_rng(0).normal(size=(settings.num_draws, n)).astype(np.float32)
    children = np.sort(draws, axis=1) - draws.min(axis=1, keepdims=True)

    @jax.jit
    @jax.vmap
    def shares(children: Float[Array, " n"], level: Float[Array, ""]) -> Float[Array, " m"]:
        of_parents, of_children = joint_features(jnp.full(n, level), children, level)
        rows = jax.vmap(lambda row: selection_row(learned.select, row, with_one(of_children)))(with_one(of_parents))
        weights = selection_weights(rows)
        return jnp.mean(weights / jnp.sum(weights, axis=-1, keepdims=True), axis=0)

    found = []
    for gain in (1.0, 0.5, 0.1, -0.1, -0.5, -1.0, -2.0):
        mean = np.asarray(shares(children, np.full(settings.num_draws, gain, np.float32))).mean(axis=0)
        found.append({"gain_of_best_child": gain, "best_child": float(mean[0]), "parent_stays": float(mean[-1])})
    return found


def roster(settings: DistillationSettings) -> list[Method]:
    """With the settings that tuning in the BBOB comparison chose on its own instances; the rules as they are."""
    return [
        HAND_DESIGNED[GAUSSIAN].at(0.0, 0.5),
        learned(resolve(settings.weights[0])).at(1.0, 0.5),
        DISTILLED_AS_IT_IS,
        HAND_DESIGNED["samr_ga"].at(0.0, 0.5),
        HAND_DESIGNED["gesmr_ga"].at(0.0, 1.0),
    ]


# The same selection with other rules for the rate.
OTHER_RATES: dict[str, MutationRate] = {
    "its selection, a ladder of rates": ladder_rate(),
    "its selection, a fixed rate": fixed_rate(),
}


def part_gaps(rate: MutationRate, protocol: BbobProtocol) -> np.ndarray:
    """log10 gaps [functions, instances, seeds] of the distilled GA with another rule for the rate."""
    n, suite = protocol.num_children, protocol.report
    search = searches(genetic_algorithm(n, n, select=rank_selection(), rate=rate), protocol.num_generations)
    best = search(jax.random.key(suite.seed), suite.tasks, suite.num_seeds, DISTILLED_AS_IT_IS.sigma).best_so_far
    return final_log_gaps(np.asarray(best)).reshape(len(suite.functions), len(suite.instances), suite.num_seeds)


def run(settings: DistillationSettings, out: Path, console: Console) -> Outcome:
    use_compilation_cache()
    looks = []
    for name in settings.weights:
        operators = papers_operators(resolve(name, settings.protocol.num_dims).theta)
        rates = equals_and_worse(operators, settings.num_individuals)
        looks.append({"weights": name, "rates": rates, "takeover": takeover(operators, settings)})
    draw(looks, out / "distillation.png")
    protocol = settings.protocol
    gaps = {
        method.name: final_log_gaps(
            outcome(gap_cell(method, protocol.size_of(method), protocol.report), settings.cells)["best_so_far"]
        )
        for method in track(roster(settings), description="methods", console=console)
    }
    gaps |= {name: part_gaps(rate, protocol) for name, rate in OTHER_RATES.items()}
    rows = compared(gaps, protocol.functions)
    table = Table("method", "held-out functions", "share of the gain")
    for row in rows:
        share = "" if row["share_of_gain"] is None else f"{row['share_of_gain']:.2f}"
        table.add_row(row["method"], interval_text(row["hold_out"], 3), share)
    return Outcome({"config": described(settings), "looks": looks, "rows": rows}, table)


def compared(gaps: dict[str, np.ndarray], functions: Sequence[str]) -> list[dict[str, Any]]:
    """The share of a method is that of the second method's gain over the first, on held-out functions."""
    held_out = np.array([registry.row(name).split == "hold-out" for name in functions])
    means = {name: float(own[held_out].mean()) for name, own in gaps.items()}
    base, full = list(means.values())[:2]
    return [
        {
            "method": name,
            "hold_out": mean_interval(own[held_out].mean(axis=(0, 2)))._asdict(),
            "train": float(own[~held_out].mean()),
            "share_of_gain": None if number == 0 else (base - means[name]) / (base - full),
        }
        for number, (name, own) in enumerate(gaps.items())
    ]


def draw(looks: list[dict[str, Any]], path: Path) -> None:
    def line(look: dict[str, Any], part: str, x: str, y: str) -> tuple[list[float], list[float]]:
        return [point[x] for point in look[part]], [point[y] for point in look[part]]

    operator_lines(
        {
            ("share of worse ones among the sampled parents", "multiplier of the better ones' rates"): {
                f"{look['weights']}: the worse have {title} rates": line(look, "rates", "share_of_worse", part)
                for look in looks
                for part, title in (("their_rates_larger", "larger"), ("their_rates_smaller", "smaller"))
            },
            ("gain of the best child over equal parents, in deviations", "share of places"): {
                f"{look['weights']}: {title}": line(look, "takeover", "gain_of_best_child", part)
                for look in looks
                for part, title in (("best_child", "best child"), ("parent_stays", "parent stays"))
            },
        },
        path,
    )


EXPERIMENT = Experiment(
    "from attention to rules: what learned weights do with equals, and how good the distilled rules are",
    {
        "smoke": DistillationSettings(
            num_individuals=4,
            num_draws=2,
            protocol=BbobProtocol(("sphere", "sharp_ridge"), 3, 4, 3, report_instances=(6, 7), report_seeds=1),
        ),
        "small": DistillationSettings(),
        "paper": DistillationSettings(),
    },
    run,
)
