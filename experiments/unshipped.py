"""Weights with the paper's two operators that do not ship, beside those that do and the best hand-designed GA."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console

from experiments.form import Experiment, Outcome
from experiments.gaps import gap_outcome
from lga.bench.bbob import SIGMAS, BbobProtocol, final_log_gaps, tune_and_measure
from lga.bench.methods import HAND_DESIGNED, Method, learned
from lga.core.compile_cache import use_compilation_cache
from lga.weights import resolve

TRAINED = Path(__file__).parents[1] / "results/training"
FEW, DECAYED, RECIPE, DESIGNED = "a quarter as many parents", "lambda 0.005", "lga-paper", "GESMR-GA"
PAIRS = ((FEW, DESIGNED), (DECAYED, DESIGNED), (DECAYED, RECIPE))
"""Whose differences are told."""


@dataclass(frozen=True)
class UnshippedSettings:
    sigmas: tuple[float, ...] = SIGMAS
    """Initial rates that all are tuned over."""
    protocol: BbobProtocol = field(default_factory=BbobProtocol)
    cells: Path = Path("runs/studies/cells")


def methods(sigmas: tuple[float, ...]) -> dict[str, Method]:
    """Each with the elite ratio of its training; GESMR with the best of its own."""

    def trained(weights: str | Path, elite_ratio: float) -> Method:
        return replace(learned(resolve(weights)), elite_ratios=(elite_ratio,), sigmas=sigmas)

    return {
        FEW: trained(TRAINED / "paper-quarter-2/best.safetensors", 0.25),
        DECAYED: trained(TRAINED / "lga-paper-decay/best.safetensors", 1.0),
        RECIPE: trained("lga-paper", 1.0),
        DESIGNED: HAND_DESIGNED["gesmr_ga"].over((0.0,), sigmas),
    }


def run(settings: UnshippedSettings, out: Path, console: Console) -> Outcome:
    """Mean log10 gaps, over instances, and paired differences."""
    use_compilation_cache()
    gaps = {
        name: final_log_gaps(tune_and_measure(settings.protocol, method, settings.cells).best).mean(axis=(0, 2))
        for name, method in methods(settings.sigmas).items()
    }
    gaps |= {f"{one} minus {other}": gaps[one] - gaps[other] for one, other in PAIRS}
    return gap_outcome(settings, "method", gaps)


EXPERIMENT = Experiment(
    "weights with the paper's two operators that do not ship, beside lga-paper and GESMR on BBOB",
    {
        "smoke": UnshippedSettings(
            sigmas=(0.5,), protocol=BbobProtocol(("sphere",), 3, 4, 3, report_instances=(6, 7), report_seeds=1)
        ),
        "paper": UnshippedSettings(),
    },
    run,
)
