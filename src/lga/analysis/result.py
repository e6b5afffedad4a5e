"""A search as a picture, for notebooks."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure


def plot(result: Any) -> Figure:
    """Best value, mutation rate and shape over evaluations, of what `lga.minimize` returned.

    In a notebook the figure shows itself; elsewhere `plot(result).savefig("run.png")`.
    """
    history, evaluations = result.history, result.evaluations
    figure = Figure(figsize=(12, 3.4), layout="constrained")
    value, rate, shape = figure.subplots(1, 3)
    when = history["evaluations"]
    values = evaluations.value[np.isfinite(evaluations.value)]
    value.plot(1 + np.arange(len(evaluations)), evaluations.value, ".", markersize=2, color="tab:gray")
    value.plot(when, history["best"], color="black", drawstyle="steps-post")
    if values.size and values.min() > 0.0 and values.max() > 100.0 * values.min():
        value.set_yscale("log")
    rate.semilogy(when, history["rate"], color="tab:blue")
    shape.semilogy(when, history["axis_ratio"], color="tab:orange")
    for axes, title in ((value, "value"), (rate, "mutation rate"), (shape, "longest axis / shortest")):
        axes.set(title=title, xlabel="evaluation")
        for start in when[:-1][np.diff(history["popsize"]) > 0]:
            axes.axvline(start, color="tab:gray", linestyle=":", linewidth=1)
    return figure
