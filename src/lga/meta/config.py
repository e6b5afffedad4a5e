"""Settings of meta-training, and the presets that people start from."""

import re
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from lga.core.checks import require, require_known, require_positive_integer
from lga.meta.neuro_validation import VALIDATION_TASKS
from lga.operators.designed import PARTS
from lga.operators.theta import ThetaConfig
from lga.tasks import bbob


class Scale(NamedTuple):
    """The size of a search."""

    num_dims: int
    num_children: int
    num_generations: int
    shortest: int = 1
    """Where horizons are drawn: the least, `num_generations` being the most."""

    def __str__(self) -> str:
        return f"{self.num_dims}x{self.num_children}x{self.num_generations}"


def parse_scale(text: str) -> Scale:
    """20x16x400: dimensions, children, generations; 20x16x100-400 where horizons are drawn."""
    found = re.fullmatch(r"(\d+)x(\d+)x(?:(\d+)-)?(\d+)", text)
    numbers = [int(number or 1) for number in found.groups()] if found else [0]
    require(
        len(numbers) == 4 and min(numbers) > 0 and numbers[2] <= numbers[3],
        f"a scale is {text!r}, but must be DIMENSIONSxCHILDRENxGENERATIONS, such as 20x16x400 or 20x16x100-400.",
    )
    num_dims, num_children, shortest, longest = numbers
    return Scale(num_dims, num_children, longest, shortest)


@dataclass(frozen=True)
class MetaConfig:
    """All that decides the outcome of a run. The defaults are the paper's."""

    seed: int = 0
    """Seed of everything random."""

    learned: tuple[str, ...] = ("select", "rate")
    """Operators that are learned (any of select, rate, sample, cross); the others are hand-designed."""
    key_dim: int = 16
    """Width of the attention, over all heads."""
    num_heads: int = 2
    """Heads of the attention."""
    search_space: str = "weights"
    """What the meta-optimiser moves: weights; folded: the few numbers that they fold into; or compact: those of them
    that see ranks, ages, rates and constants, so that a search does not depend on the scale of fitness at all."""

    start: str = ""
    """Weights that the meta-mean starts from: the name of shipped ones, a file, or strategy: operators set by hand so
    that the algorithm is an evolution strategy. If empty, it starts from zero."""

    fixed: tuple[str, ...] = ()
    """Learned operators that stay as the start has them, while the others are trained; not in the space of weights."""
    without: tuple[str, ...] = ()
    """Parts of the shape that are switched off (path, against, drift; not in the space of weights), and balance, if
    noise and survivors are to be drawn independently: for ablations."""

    num_children: tuple[int, ...] = (16,)
    """Inner population sizes; one of them is drawn for each meta-generation."""
    num_generations: tuple[int, int] = (50, 50)
    """Smallest and largest inner horizon; one is drawn for each meta-generation."""
    scales: tuple[str, ...] = ()
    """Sizes of search that are all tried in each meta-generation, in place of the three settings above and of dims:
    DIMENSIONSxCHILDRENxSHORTEST-LONGEST, each with num_tasks tasks, and with a horizon drawn log-uniformly."""
    elite_ratio: float = 1.0
    """Parents for each child."""
    evaluate_start: bool = True
    """Whether a search knows the fitness of its initial solutions; in the paper's code it does not."""

    tasks: str = "bbob"
    """What candidates are tried on: bbob; tuning, functions in a box that look like the tuning of a model; curves, the
    weights of small networks; teachers, many weights judged by batches; or FILE.py:NAME, a family of your own. All but
    bbob need scales."""
    family: tuple[str, ...] = ("large",)
    """A family of BBOB functions (small, medium, large, all), or names of functions."""
    dims: tuple[int, int] = (2, 10)
    """Smallest and largest number of dimensions of a task."""
    sigma0: tuple[float, float] = (0.01, 0.5)
    """Smallest and largest initial mutation rate of a task."""
    sigma0_law: str = "uniform"
    """How it is drawn between them: uniform or log (uniform in its logarithm)."""
    noise: tuple[str, ...] = tuple(bbob.NOISE_MODELS)
    """Noise models; one is drawn for each task."""

    meta_generations: int = 750
    """Updates of the meta-optimiser."""
    meta_population: int = 512
    """Candidate algorithms in each meta-generation (M)."""
    num_tasks: int = 256
    """Tasks that each of them is tried on (J)."""
    objective: str = "minN-finalT"
    """What a search is judged by: minN-finalT, minN-minT, meanN-minT, meanN-finalT, or anytime: the geometric mean
    of the best so far after a quarter, half and all of the horizon, or area: its mean over all generations."""
    normalization: str = "z_score"
    """How the verdicts on a task are made comparable: z_score, log_z_score, log (the mean is then that of the
    validation), soft (as log_z_score, but tasks on which candidates differ little count for little) or rank."""
    aggregation: str = "median"
    """How the tasks are summed up: median or mean."""

    optimizer: str = "open_es"
    """Meta-optimiser: open_es, snes, pgpe, sep_cma_es, cma_es or ga."""
    learning_rate: float = 0.01
    learning_rate_decay: float = 0.999
    learning_rate_final: float = 0.001
    meta_sigma: float = 0.1
    """Deviation of the candidates around the meta-mean."""
    meta_sigma_decay: float = 0.999
    meta_sigma_final: float = 0.001
    mean_decay: float = 0.0
    """Share of the meta-mean that is forgotten in each meta-generation (the paper's lambda)."""

    averaging: float = 0.0
    """Share of the past in the running average of the meta-mean, which is validated and kept; 0 keeps the last mean."""

    validate_every: int = 25
    """Meta-generations between two validations."""
    validation_functions: tuple[str, ...] = ()
    """Functions that are validated on, those of training if empty: for comparisons of runs on different ones."""
    validation_scales: tuple[str, ...] = ("5x32x50", "20x32x50")
    """Sizes of search that are validated on, as in scales."""
    validation_sigma0: float = 0.25
    """Initial mutation rate of validation: what the weights should be used with."""
    validation_tasks: tuple[str, ...] = ()
    """Neuroevolution tasks that are validated on as well (pendulum, mnist-14, digits); they do not choose the best."""

    def __post_init__(self) -> None:
        check(self)

    @property
    def theta_config(self) -> ThetaConfig:
        return ThetaConfig(self.learned, self.key_dim, self.num_heads)

    @property
    def balanced(self) -> bool:
        return BALANCE not in self.without

    @property
    def switched_off(self) -> tuple[str, ...]:
        """Parts of the shape that its numbers switch off."""
        return tuple(part for part in self.without if part != BALANCE)

    @property
    def largest_scales(self) -> tuple[Scale, ...]:
        """All sizes of search that the settings allow for, with their longest horizons."""
        if self.scales:
            return tuple(map(parse_scale, self.scales))
        return tuple(Scale(self.dims[1], size, self.num_generations[1]) for size in self.num_children)

    @property
    def functions(self) -> tuple[str, ...]:
        return bbob.family_members(self.family[0] if self.family[0] in bbob.FAMILIES else self.family)


OBJECTIVES = ("minN-finalT", "minN-minT", "meanN-minT", "meanN-finalT", "anytime", "area")
NORMALIZATIONS = ("z_score", "log_z_score", "log", "soft", "rank")
AGGREGATIONS = ("median", "mean")
OPTIMIZERS = ("open_es", "snes", "pgpe", "sep_cma_es", "cma_es", "ga")
TASKS = ("bbob", "tuning", "curves", "teachers")
SEARCH_SPACES = ("weights", "folded", "compact")
SIGMA0_LAWS = ("uniform", "log")
STRATEGY_START = "strategy"
BALANCE = "balance"
ANTITHETIC = ("open_es", "pgpe")


def check(config: MetaConfig) -> None:
    """Refuses impossible settings, each with a sentence."""
    for name in ("key_dim", "num_heads", "meta_generations", "meta_population", "num_tasks", "validate_every"):
        require_positive_integer(name, getattr(config, name))
    require(len(config.num_children) > 0, "num_children is empty, but must hold at least one population size.")
    for size in config.num_children:
        require_positive_integer("num_children", size)
    for name in ("num_generations", "dims", "sigma0"):
        low, high = getattr(config, name)
        require(low <= high, f"{name} is ({low}, {high}), but the smaller number must come first.")
    require(
        config.num_generations[0] >= 1,
        f"num_generations starts at {config.num_generations[0]}, but must be at least 1.",
    )
    require(config.sigma0[0] > 0, f"sigma0 starts at {config.sigma0[0]}, but must be more than 0.")
    require(0 <= config.elite_ratio <= 1, f"elite_ratio is {config.elite_ratio}, but must lie between 0 and 1.")
    require(0 <= config.mean_decay < 1, f"mean_decay is {config.mean_decay}, but must be at least 0 and less than 1.")
    require(0 <= config.averaging < 1, f"averaging is {config.averaging}, but must be at least 0 and less than 1.")
    require(config.meta_sigma > 0, f"meta_sigma is {config.meta_sigma}, but must be more than 0.")
    require_known("objective", config.objective, OBJECTIVES)
    require_known("normalization", config.normalization, NORMALIZATIONS)
    require_known("sigma0_law", config.sigma0_law, SIGMA0_LAWS)
    require_known("aggregation", config.aggregation, AGGREGATIONS)
    require_known("optimizer", config.optimizer, OPTIMIZERS)
    require_known("search_space", config.search_space, SEARCH_SPACES)
    require(
        config.tasks in TASKS or ":" in config.tasks,
        f"tasks is {config.tasks!r}, but must be one of {', '.join(TASKS)}, or FILE.py:NAME of a family of your own.",
    )
    require(config.tasks == "bbob" or bool(config.scales), f"tasks is {config.tasks}, which needs scales.")
    require(config.meta_population >= 4, f"meta_population is {config.meta_population}, but must be at least 4.")
    require(
        config.optimizer not in ANTITHETIC or config.meta_population % 2 == 0,
        f"meta_population is {config.meta_population}, but must be even: {config.optimizer} samples mirrored pairs.",
    )
    require(
        config.optimizer != "ga" or config.mean_decay == 0,
        f"mean_decay is {config.mean_decay}, but the optimizer 'ga' has no mean that could decay: it must be 0.",
    )
    require(
        config.optimizer != "ga" or config.averaging == 0,
        f"averaging is {config.averaging}, but the optimizer 'ga' has no mean to average: it must be 0.",
    )
    for model in config.noise:
        require_known("noise", model, bbob.NOISE_MODELS)
    for function in config.validation_functions:
        require_known("validation_functions", function, bbob.FUNCTIONS)
    for task in config.validation_tasks:
        require_known("validation_tasks", task, VALIDATION_TASKS)
    require(len(config.validation_scales) > 0, "validation_scales is empty, but must hold at least one scale.")
    for scale in (*config.scales, *config.validation_scales):
        parse_scale(scale)
    for name in config.fixed:
        require_known("fixed", name, config.learned)
    for part in config.without:
        require_known("without", part, (*PARTS, BALANCE))
    require(
        config.search_space != "weights" or not (config.fixed or config.switched_off),
        "fixed and without need the search space folded or compact: weights have no numbers to hold.",
    )
    require(set(config.fixed) < set(config.learned), "fixed names all learned operators, so there is nothing to train.")
    _ = config.theta_config, config.functions


# What learns fastest beyond the paper: blending parents and chance in the rate as further operators, a search space
# without redundancy, tasks that are judged by orders of magnitude, and CMA-ES, which needs a fraction of the
# meta-generations of OpenES there.
OURS = MetaConfig(
    learned=("select", "rate", "sample", "blend", "jitter"),
    search_space="folded",
    dims=(2, 20),
    normalization="log_z_score",
    aggregation="mean",
    optimizer="cma_es",
    meta_sigma=0.3,
    averaging=0.9,
)

PRESETS: dict[str, MetaConfig] = {
    "smoke": replace(
        OURS,
        family=("medium",),
        num_generations=(20, 20),
        meta_generations=20,
        meta_population=16,
        num_tasks=8,
        validate_every=5,
    ),
    "laptop": replace(OURS, meta_generations=300, meta_population=64, num_tasks=32, validate_every=20),
    "standard": replace(OURS, meta_population=256, num_tasks=128),
    "paper": MetaConfig(),
}


def from_json(settings: dict[str, Any]) -> MetaConfig:
    """Settings as JSON holds them: tuples come back from lists."""
    plain: dict[str, Any] = {}
    for name, value in settings.items():
        # Runs from before a change of spelling.
        name = "normalization" if name == "normalisation" else name
        plain[name] = tuple(value) if isinstance(value, list) else value
    return MetaConfig(**plain)
