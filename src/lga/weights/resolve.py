"""From what people write to weights: an installed name, a file, evosax's, or a theta as it is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from math import log
from pathlib import Path
from typing import Any

from lga.core.checks import require
from lga.core.tree_io import digest
from lga.operators.theta import Theta
from lga.weights.evosax import EVOSAX_LGA, evosax_theta
from lga.weights.files import load_theta

DEFAULT_WEIGHTS = "lga-2"
NETWORK_WEIGHTS = "lga-net"
"""The default for networks: the same up to 200 variables, and trained for more."""
UNNAMED = "theta"
USUAL_SIGMA0, USUAL_SIGMA0_WITH_SHAPE, USUAL_POPULATION, SCREENED_POPULATION = 0.25, 0.5, 16, 4


@dataclass(frozen=True)
class Weights:
    """Weights that know themselves by their content: equal ones are equal wherever they come from."""

    digest: str
    name: str = field(compare=False)
    """What tables call them."""
    theta: Theta = field(compare=False, repr=False)
    provenance: Mapping[str, Any] = field(compare=False, repr=False, default_factory=dict)

    @property
    def sigma0(self) -> float:
        """The initial mutation rate that suits them, in a box of side 10: the one that they were validated with."""
        usual = USUAL_SIGMA0 if self.theta.shape is None else USUAL_SIGMA0_WITH_SHAPE
        return self.provenance.get("run", {}).get("validation_sigma0", usual)

    @property
    def needs_box(self) -> bool:
        """Whether they compare places in a box, or draw from it: then variables must have bounds."""
        return self.theta.screens or self.theta.scatter is not None

    def population(self, num_dims: int) -> int:
        """The number of children that suits them."""
        if self.theta.screens:
            return SCREENED_POPULATION
        return USUAL_POPULATION if self.theta.shape is None else 6 + round(3.4 * log(num_dims))


def installed() -> dict[str, Path]:
    """Files that ship with the package, by name."""
    folder = Path(str(resources.files("lga.weights")))
    return {path.stem: path for path in sorted(folder.glob("*.safetensors"))}


def resolve(source: "str | Path | Theta | Weights | None" = None, num_dims: int | None = None) -> Weights:
    """The weights that a name, a file or a theta stands for; the default ones for None.

    An installed name wins over a file of that name: write ./NAME for the file. `num_dims` is for evosax's weights,
    which are others for long solutions.
    """
    if isinstance(source, Weights):
        return source
    if isinstance(source, Theta):
        return known_by_content(UNNAMED, source, {})
    name = DEFAULT_WEIGHTS if source is None else str(source)
    if name == EVOSAX_LGA:
        require(num_dims is not None, f"{EVOSAX_LGA} has other weights for long solutions: num_dims must be given.")
        return known_by_content(name, evosax_theta(int(num_dims or 0)), {"origin": "evosax"})
    shipped = installed()
    if name in shipped:
        return known_by_file(name, shipped[name], shipped[name].stat().st_mtime_ns)
    path = Path(name)
    known = ", ".join([*shipped, EVOSAX_LGA])
    require(path.is_file(), f"weights is {name!r}, but must be a file or one of: {known}.")
    return known_by_content(path.stem, *load_theta(path))


@lru_cache(maxsize=16)
def known_by_file(name: str, path: Path, changed: int) -> Weights:
    """Read once, until the file is another."""
    return known_by_content(name, *load_theta(path))


def known_by_content(name: str, theta: Theta, provenance: Mapping[str, Any]) -> Weights:
    return Weights(digest(theta), name, theta, provenance)


def resolve_all(sources: Iterable[str | Path | Theta], num_dims: int, taken: Iterable[str] = ()) -> dict[str, Weights]:
    """Several weights by the names that a comparison shows; names must differ from each other and from those taken."""
    found: dict[str, Weights] = {}
    for source in sources:
        weights = resolve(source, num_dims)
        require(
            weights.name not in taken and weights.name not in installed_unless(source),
            f"{source} would be shown as {weights.name!r}, which is the name of something else: rename the file.",
        )
        require(weights.name not in found, f"two weights would both be shown as {weights.name!r}: rename one file.")
        found[weights.name] = weights
    return found


def installed_unless(source: str | Path | Theta) -> set[str]:
    """Names of installed weights and evosax's, except the one that the source itself is."""
    return {*installed(), EVOSAX_LGA} - ({str(source)} if not isinstance(source, Theta) else set())
