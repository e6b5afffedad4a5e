"""The last digits, by a local method of SciPy's with what is left of the evaluations."""

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from lga.optimize.bounds import Space
from lga.optimize.options import Search
from lga.optimize.scores import INFEASIBLE
from lga.optimize.state import SearchState

SHARE = 5
"""One of as many evaluations is for it."""
MOST_FOR_SIMPLEX = 10
"""Variables, up to which it is Nelder and Mead's; above, L-BFGS-B with differences."""
FIRST_STEP = 1e-3
"""Of the simplex, in coordinates: the search has come closer than this, or the simplex grows."""
WORST = 1e300
"""What a failed evaluation counts as."""


def is_time_to_polish(search: Search, state: SearchState) -> bool:
    budget = search.options.max_evaluations
    if not search.options.polish or budget is None or state.pending.known.size or state.best.count != 1:
        return False
    return 0 < budget - state.evaluations <= budget // SHARE and state.best.value < INFEASIBLE


def polish(space: Space, start: Float[np.ndarray, " d"], value: Callable[[Any], float]) -> None:
    """Asks for values of points near the start until it has converged. Whole numbers stay as they are."""
    from scipy.optimize import minimize

    real = np.flatnonzero(~space.integer & (space.high > space.low))
    if not real.size:
        return
    whole = space.encode(start)

    def at(coordinates: Any) -> float:
        moved = whole.copy()
        moved[real] = coordinates
        found = value(np.where(space.integer, start, space.decode(moved[None])[0]))
        return found if np.isfinite(found) else WORST

    bounds = list(zip(space.edge_low[real], space.edge_high[real], strict=True))
    begin = np.clip(whole[real], *np.transpose(bounds))
    if real.size <= MOST_FOR_SIMPLEX:
        steps = np.where(begin + FIRST_STEP <= space.edge_high[real], FIRST_STEP, -FIRST_STEP)
        simplex = np.concatenate([begin[None], begin + np.diag(steps)])
        options: dict[str, Any] = {"initial_simplex": simplex, "xatol": 1e-15, "fatol": 0.0, "maxfev": 10**9}
        minimize(at, begin, method="Nelder-Mead", bounds=bounds, options=options)
    else:
        minimize(at, begin, method="L-BFGS-B", bounds=bounds, options={"ftol": 0.0, "gtol": 0.0, "maxfun": 10**9})
