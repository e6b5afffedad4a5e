"""Searches and training runs that pages are made of in tests."""

import numpy as np

from lga.report.search import SearchRecord
from lga.report.training import HeldOut, Matrix, TrainingRecord

ATTACK = "</script><img src=x onerror=\"document.title='owned'\">"


def search_record(num_evaluations: int, num_dims: int = 3, maximize: bool = False) -> SearchRecord:
    """Every tenth evaluation fails; half-way there is a restart."""
    draw = np.random.default_rng(0)
    share = np.arange(num_evaluations) / num_evaluations
    x = 0.5 + 10 ** (-3 * share)[:, None] * draw.normal(size=(num_evaluations, num_dims))
    x[:, 0] = 10.0 ** x[:, 0]
    x[:, -1] = np.arange(num_evaluations) % 3
    cost = 1e-4 + np.sum((x - 0.5) ** 2, axis=1)
    value = np.where(np.arange(num_evaluations) % 10 == 9, np.nan, -cost if maximize else cost)
    failed = np.isnan(value)
    best = int(np.nanargmax(value) if maximize else np.nanargmin(value))
    generations = 1 + np.arange(-(-num_evaluations // 8))
    course = {
        "evaluations": np.minimum(8 * generations, num_evaluations),
        "rate": 10 ** (-3 * generations / generations.size),
        "axis_ratio": 1.0 + generations / generations.size,
        "restarts": (2 * generations > generations.size).astype(int),
    }
    return SearchRecord(
        objective=f"simulate {ATTACK}",
        names=("length", *(f"x{place}" for place in range(1, num_dims))),
        log_scale=(True, *(False,) * (num_dims - 1)),
        maximize=maximize,
        best={"length": float(x[best, 0]), "kind": ATTACK},
        best_value=float(value[best]),
        message="the evaluations are used up",
        x=x,
        value=value,
        generation=np.arange(num_evaluations) // 8,
        course=course,
        failures={"exception": int(failed.sum()), "nan": 0},
        failure_examples=[f"exception: ValueError: {ATTACK}"],
        seconds=0.02 * num_evaluations,
        seconds_evaluating=0.015 * num_evaluations,
        num_evaluations=num_evaluations,
        num_restarts=1,
        settings={"algorithm": "lga", "seed": "1"},
        versions={"lga": "0"},
        things={f"x{num_dims - 1}": ("steel", ATTACK, "brass")},
    )


def training_record() -> TrainingRecord:
    scores = {"score": 1.0, "per_scale": {"5x8x10": 0.5, "20x8x10": 1.5}}
    metrics = [
        {"meta_generation": place, "median_log10_outcome": 3.0 - 0.1 * place}
        | ({"validation": scores} if place % 5 == 0 else {})
        for place in range(1, 21)
    ]
    functions = ("sphere", "rastrigin", "schwefel")
    return TrainingRecord(
        title=f"Training run {ATTACK}",
        facts={"validation score": "1.000"},
        metrics=metrics,
        scores={
            "this run": dict(zip(functions, (-2.0, 10.0, 1.5), strict=True)),
            "Gaussian GA": dict(zip(functions, (0.0, 1.0, 2.0), strict=True)),
        },
        score_name="mean log10 gap",
        held_out=HeldOut(f"no gain {ATTACK}", "4 tasks", ["against", "fewer"], [[ATTACK, "1.0 [0.5, 1.5]"]]),
        matrices=[Matrix("select: attend, head 1", np.eye(2) - 0.5, ("rank", "one"), ("rank", "one"))],
    )
