"""The paper's two operators, trained with a quarter as many parents as children, beside the best hand-designed GA."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console

from experiments.form import Experiment, Outcome
from experiments.gaps import gap_outcome
from lga.bench.bbob import SIGMAS, BbobProtocol, final_log_gaps, tune_and_measure
from lga.bench.methods import HAND_DESIGNED, learned
from lga.core.compile_cache import use_compilation_cache
from lga.weights import resolve

WEIGHTS = Path(__file__).parents[1] / "results/training/paper-quarter-2/best.safetensors"
LEARNED, DESIGNED = "the paper's operators, a quarter as many parents", "GESMR-GA"


@dataclass(frozen=True)
class FewParentsSettings:
    weights: Path = WEIGHTS
    elite_ratio: float = 0.25
    """Of the weights, as in their training."""
    sigmas: tuple[float, ...] = SIGMAS
    """Initial rates that both are tuned over."""
    protocol: BbobProtocol = field(default_factory=BbobProtocol)
    cells: Path = Path("runs/studies/cells")


def run(settings: FewParentsSettings, out: Path, console: Console) -> Outcome:
    """Mean log10 gaps of both, over instances, and their difference, paired. GESMR has the best of its elite ratios."""
    use_compilation_cache()
    ours = replace(learned(resolve(settings.weights)), elite_ratios=(settings.elite_ratio,), sigmas=settings.sigmas)
    methods = {LEARNED: ours, DESIGNED: HAND_DESIGNED["gesmr_ga"].over((0.0,), settings.sigmas)}
    measured = {name: tune_and_measure(settings.protocol, method, settings.cells) for name, method in methods.items()}
    gaps = {name: final_log_gaps(one.best).mean(axis=(0, 2)) for name, one in measured.items()}
    gaps["difference"] = gaps[LEARNED] - gaps[DESIGNED]
    return gap_outcome(settings, "method", gaps)


EXPERIMENT = Experiment(
    "the paper's two operators, trained with a quarter as many parents as children, beside GESMR on BBOB",
    {
        "smoke": FewParentsSettings(
            sigmas=(0.5,), protocol=BbobProtocol(("sphere",), 3, 4, 3, report_instances=(6, 7), report_seeds=1)
        ),
        "paper": FewParentsSettings(),
    },
    run,
)
