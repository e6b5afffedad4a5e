"""A search with a checkpoint, to be killed: python killed.py CHECKPOINT RESULT."""

import json
import sys
import time
from pathlib import Path

from faulty import HARMLESS_FATES, fate, misbehave, steps

import lga


def objective(x):
    time.sleep(0.002)
    kind = fate(x)
    return misbehave(kind, x) if kind in HARMLESS_FATES else steps(x)


if __name__ == "__main__":
    result = lga.minimize(
        objective, [(-5.0, 5.0)] * 2, popsize=6, seed=4, max_evaluations=2400, on_error="retry", checkpoint=sys.argv[1]
    )
    told = {name: result[name] for name in ("fun", "nfev", "nit", "failures", "restarts", "message")}
    told |= {name: result[name].tolist() for name in ("x", "population", "population_values")}
    told["history"] = {name: column.tolist() for name, column in result.history.items()}
    Path(sys.argv[2]).write_text(json.dumps(told, sort_keys=True))
