"""The same weights in evosax and in our engine, on BBOB: evosax's learned GA as evosax runs it."""

from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from experiments.form import Experiment, Outcome
from experiments.gaps import gap_outcome
from experiments.ties import EVOSAX, OURS
from lga.bench.bbob import BbobProtocol, final_log_gaps
from lga.bench.cells import outcome
from lga.bench.methods import EVOSAX_LEARNED_GA, as_shipped
from lga.bench.searches import gap_cell
from lga.core.compile_cache import use_compilation_cache
from lga.weights import EVOSAX_LGA, resolve


@dataclass(frozen=True)
class EnginesSettings:
    sigma0: float = 0.25
    """Initial rate of both; the elite ratio is 1."""
    protocol: BbobProtocol = field(default_factory=BbobProtocol)
    """Its report instances are searched on."""
    cells: Path = Path("runs/studies/cells")


def run(settings: EnginesSettings, out: Path, console: Console) -> Outcome:
    """Mean log10 gaps of both engines, over instances, and evosax's minus ours, paired."""
    use_compilation_cache()
    protocol = settings.protocol
    methods = {OURS: as_shipped(resolve(EVOSAX_LGA, protocol.num_dims)), EVOSAX: EVOSAX_LEARNED_GA}
    gaps = {}
    for name, method in methods.items():
        cell = gap_cell(method.at(1.0, settings.sigma0), protocol.size_of(method), protocol.report)
        gaps[name] = final_log_gaps(outcome(cell, settings.cells)["best_so_far"]).mean(axis=(0, 2))
    gaps["evosax's minus ours"] = gaps[EVOSAX] - gaps[OURS]
    return gap_outcome(settings, "engine", gaps)


EXPERIMENT = Experiment(
    "evosax's weights in evosax and in our engine, on BBOB, untuned",
    {
        "smoke": EnginesSettings(protocol=BbobProtocol(("sphere",), 3, 4, 3, report_instances=(6, 7), report_seeds=1)),
        "paper": EnginesSettings(),
    },
    run,
)
