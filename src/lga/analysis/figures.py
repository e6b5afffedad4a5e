"""Pictures: numbers come in, files come out. Nothing outside of this room imports matplotlib."""

from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lga.tasks import bbob


def _draw_contours(axes: Axes, title: str, x_opt: np.ndarray, ticks: np.ndarray, log_gaps: np.ndarray) -> None:
    axes.contourf(ticks, ticks, log_gaps, levels=24, cmap="viridis")
    axes.plot(*x_opt, marker="*", markersize=10, color="white", markeredgecolor="black", clip_on=False)
    axes.set_title(title, fontsize=8)
    axes.set_aspect("equal")
    axes.tick_params(labelsize=6)


def bbob_contours(out_dir: Path | str, instance: int = 1, resolution: int = 200) -> list[Path]:
    """log10 of the gap of every BBOB function over [-5, 5]^2, with the optimum marked: one picture of each, one of all.

    Returns the files written. Gaps below 1e-3 share the darkest colour.
    """
    out_dir = Path(out_dir)
    out_dir.mkdir(parents=True, exist_ok=True)
    ticks = np.linspace(-5.0, 5.0, resolution)
    grid = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)

    columns = 6
    rows = ceil(len(bbob.FUNCTIONS) / columns)
    overview = Figure(figsize=(2.5 * columns, 2.6 * rows), layout="constrained")
    files = [out_dir / "bbob.png"]
    for position, function in enumerate(bbob.FUNCTIONS.values(), start=1):
        task = bbob.instance(function.id, instance, 2)
        gaps = np.asarray(jax.jit(bbob.evaluate)(task, jnp.asarray(grid)))
        log_gaps = bbob.log10_gap(gaps, floor=1e-3).reshape(resolution, resolution)
        single = Figure(figsize=(4, 4), layout="constrained")
        for axes in (overview.add_subplot(rows, columns, position), single.add_subplot()):
            title = f"f{function.id} {function.name.replace('_', ' ')}"
            _draw_contours(axes, title, np.asarray(task.x_opt), ticks, log_gaps)
        files.append(out_dir / f"bbob_f{function.id:02d}_{function.name}.png")
        single.savefig(files[-1], dpi=120)
    overview.savefig(files[0], dpi=120)
    return files


def training_curves(metrics: list[dict[str, Any]], path: Path) -> None:
    """Outcome of training and validation score over meta-generations, and neuroevolution if it was validated on."""
    validated = [entry for entry in metrics if "validation" in entry]
    neuro_tasks = list(validated[0]["validation"].get("neuroevolution", {})) if validated else []
    figure = Figure(figsize=(5 * (2 + len(neuro_tasks)), 3.6), layout="constrained")
    outcome, validation, *others = figure.subplots(1, 2 + len(neuro_tasks))
    generations = [entry["meta_generation"] for entry in metrics]
    outcome.plot(generations, [entry["median_log10_outcome"] for entry in metrics], color="tab:gray", linewidth=1)
    outcome.set(title="training tasks", xlabel="meta-generation", ylabel="median log10 gap of all candidates")
    when = [entry["meta_generation"] for entry in validated]
    validation.plot(
        when, [entry["validation"]["score"] for entry in validated], "o-", markersize=3, label="mean", color="black"
    )
    for scale in validated[0]["validation"]["per_scale"] if validated else ():
        scores = [entry["validation"]["per_scale"][scale] for entry in validated]
        validation.plot(when, scores, "--", linewidth=1, label=scale)
    validation.set(title="validation tasks", xlabel="meta-generation", ylabel="mean log10 gap")
    if validated:
        validation.legend(frameon=False)
    for axes, task in zip(others, neuro_tasks, strict=True):
        axes.plot(when, [entry["validation"]["neuroevolution"][task] for entry in validated], "o-", markersize=3)
        axes.set(title=f"{task}, not trained on", xlabel="meta-generation", ylabel="test score of the elite")
    save(figure, path)


def convergence(curves: dict[str, np.ndarray], path: Path) -> None:
    """Mean log10 gap over generations, one line per method; the first is drawn in front."""
    figure = Figure(figsize=(6.4, 4), layout="constrained")
    axes = figure.subplots()
    for number, (name, curve) in enumerate(curves.items()):
        width, color = (2.5, "black") if number == 0 else (1.2, None)
        axes.plot(np.arange(1, len(curve) + 1), curve, label=name, linewidth=width, color=color, zorder=-number)
    axes.set(xlabel="generation", ylabel="mean log10 gap of the best so far")
    axes.legend(frameon=False, fontsize=8)
    save(figure, path)


def gaps_by_function(gaps: dict[str, dict[str, float]], path: Path) -> None:
    """Mean log10 gap of each method on each function."""
    functions = list(next(iter(gaps.values())))
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    axes = figure.subplots()
    width = 0.8 / len(gaps)
    for number, (name, values) in enumerate(gaps.items()):
        positions = np.arange(len(functions)) + (number - (len(gaps) - 1) / 2) * width
        axes.bar(
            positions,
            [values[function] for function in functions],
            width,
            label=name,
            color="black" if number == 0 else None,
        )
    axes.axhline(0.0, color="gray", linewidth=0.5)
    axes.set_xticks(np.arange(len(functions)), functions, rotation=40, ha="right", fontsize=8)
    axes.set_ylabel("mean log10 gap (less is better)")
    axes.legend(frameon=False, fontsize=8, ncols=4)
    save(figure, path)


def search_in_plane(
    ticks: np.ndarray, values: np.ndarray, points: np.ndarray, best: np.ndarray, title: str, path: Path
) -> None:
    """All evaluated points of a search in two dimensions over the contours of its function, the early ones light."""
    figure = Figure(figsize=(5.6, 4.6), layout="constrained")
    axes = figure.subplots()
    axes.contourf(ticks, ticks, values, levels=24, cmap="Greys_r", alpha=0.6)
    dots = axes.scatter(*points.T, c=np.arange(len(points)), s=9, cmap="YlOrRd", linewidths=0)
    figure.colorbar(dots, ax=axes, label="evaluation")
    axes.plot(*best, marker="*", markersize=14, color="white", markeredgecolor="black")
    axes.set(title=title, xlabel="x[0]", ylabel="x[1]")
    axes.set_aspect("equal")
    save(figure, path)


def search_history(history: dict[str, np.ndarray], path: Path) -> None:
    """The best value and the mutation rate over the evaluations of a search, with its restarts."""
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    best, rate = figure.subplots(1, 2)
    evaluations = history["evaluations"]
    best.semilogy(evaluations, history["best"], color="black", label="best so far")
    best.semilogy(
        evaluations, history["generation_best"], ".", markersize=2, color="tab:orange", label="of the generation"
    )
    best.set(xlabel="evaluations", ylabel="value")
    best.legend(frameon=False)
    rate.semilogy(evaluations, history["rate"], ".", markersize=3, color="tab:blue")
    rate.set(xlabel="evaluations", ylabel="mean mutation rate (the box has side 10)")
    for restart in evaluations[1:][np.diff(history["popsize"]) > 0]:
        for axes in (best, rate):
            axes.axvline(restart, color="gray", linewidth=0.6, linestyle=":")
    save(figure, path)


def colour(number: int) -> Any:
    """Of a method by its place: the first stands out, and twenty more differ from each other."""
    return "black" if number == 0 else colormaps["tab20"]((number - 1) % 20)


def save(figure: Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def ratio_bars(log_gaps: dict[str, dict[str, float]], reference: str, splits: dict[str, list[str]], path: Path) -> None:
    """Geometric mean of the gap relative to a reference method, one panel per split of the functions."""
    figure = Figure(figsize=(14, 7), layout="constrained")
    shown = {split: functions for split, functions in splits.items() if functions}
    panels = figure.subplots(len(shown), 1, squeeze=False)[:, 0]
    methods = [name for name in log_gaps if name != reference]
    width = 0.8 / len(methods)
    for axes, (split, functions) in zip(panels, shown.items(), strict=True):
        for number, name in enumerate(methods):
            ratios = [10 ** (log_gaps[name][f] - log_gaps[reference][f]) for f in functions]
            positions = np.arange(len(functions)) + (number - (len(methods) - 1) / 2) * width
            axes.bar(positions, ratios, width, label=name, color=colour(number))
        axes.axhline(1.0, color="gray", linewidth=0.8)
        # Bars beyond are cut off: random search would flatten all others.
        axes.set(yscale="log", ylim=(1e-6, 1e2))
        axes.set_xticks(np.arange(len(functions)), functions, rotation=30, ha="right", fontsize=8)
        axes.set_title(f"{split} functions: gap relative to {reference} (less is better)", fontsize=10)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, frameon=False, fontsize=7, ncols=7, loc="outside lower center")
    save(figure, path)


def curves_over_evaluations(curves: dict[str, tuple[np.ndarray, np.ndarray]], label: str, path: Path) -> None:
    lines(curves, "evaluations", label, path)


def validation_curves(curves: dict[str, tuple[np.ndarray, np.ndarray]], path: Path) -> None:
    lines(curves, "meta-generation", "validation: mean log10 gap", path)


def lines(curves: dict[str, tuple[np.ndarray, np.ndarray]], across: str, label: str, path: Path) -> None:
    """One line per method; the first is drawn bold."""
    figure = Figure(figsize=(8.6, 4.4), layout="constrained")
    axes = figure.subplots()
    for number, (name, (where, values)) in enumerate(curves.items()):
        width = 2.5 if number == 0 else 1.2
        axes.plot(where, values, label=name, linewidth=width, color=colour(number))
    axes.set(xlabel=across, ylabel=label)
    figure.legend(frameon=False, fontsize=7, loc="outside right upper")
    save(figure, path)


def regret_curves(
    curves: dict[str, tuple[np.ndarray, np.ndarray]], published: dict[str, tuple[np.ndarray, np.ndarray]], path: Path
) -> None:
    """Mean regret over evaluations, on a logarithmic scale; the first method is bold, published ones are dashed."""
    figure = Figure(figsize=(9.2, 5.0), layout="constrained")
    axes = figure.subplots()
    for number, (name, (where, values)) in enumerate((curves | published).items()):
        style = "--" if name in published else "-"
        width = 2.5 if number == 0 else 1.2
        axes.plot(where, values, style, label=name, linewidth=width, color=colour(number))
    axes.set(xlabel="evaluations, with the five initial ones", ylabel="mean normalized regret", yscale="log")
    figure.legend(frameon=False, fontsize=7, loc="outside right upper")
    save(figure, path)


def learning_curves(
    panels: dict[str, dict[str, dict[str, list]]], path: Path, across: str = "generation", columns: int | None = None
) -> None:
    """One panel per measure, one line per algorithm: mean over seeds, its 95 % interval as a band if there is one.

    An algorithm has one colour, whatever else a panel shows. Up to three panels stand side by side, more of them in
    two columns, if not told.
    """
    names = dict.fromkeys(name for curves in panels.values() for name in curves)
    colors = {name: f"C{place}" for place, name in enumerate(names)}
    columns = min(columns or (len(panels) if len(panels) <= 3 else 2), len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(5.6 * columns, 4 * rows), layout="constrained")
    places = figure.subplots(rows, columns, squeeze=False).ravel()
    for unused in places[len(panels) :]:
        unused.remove()
    lines = {}
    for axes, (measure, curves) in zip(places, panels.items(), strict=False):
        for name, curve in curves.items():
            color, generations = colors[name], curve["generations"]
            (lines[name],) = axes.plot(generations, curve["mean"], label=name, color=color, linewidth=1.4)
            if None not in curve["low"]:
                axes.fill_between(generations, curve["low"], curve["high"], color=color, alpha=0.15, linewidth=0)
        axes.set(xlabel=across, title=measure)
    handles, width = list(lines.values()), min(len(lines), 10)
    figure.legend(handles, list(lines), loc="outside lower center", ncols=width, frameon=False, fontsize=8)
    save(figure, path)


def critical_difference(mean_ranks: dict[str, float], difference: float, path: Path) -> None:
    """Mean ranks; methods within the bar of the best are not told apart from it."""
    ordered = sorted(mean_ranks.items(), key=lambda pair: pair[1], reverse=True)
    figure = Figure(figsize=(7, 0.35 * len(ordered) + 1), layout="constrained")
    axes = figure.subplots()
    axes.plot([rank for _, rank in ordered], np.arange(len(ordered)), "o", color="black")
    best = ordered[-1][1]
    axes.axvspan(best, best + difference, alpha=0.15, color="gray", label="critical difference from the best")
    axes.set_yticks(np.arange(len(ordered)), [name for name, _ in ordered], fontsize=8)
    axes.set_xlabel("mean rank over the functions (less is better)")
    axes.legend(frameon=False, fontsize=8)
    save(figure, path)


def heat_map(values: np.ndarray, populations: Sequence[int], dims: Sequence[int], label: str, path: Path) -> None:
    """A difference of log10 gaps for each population size and dimension; blue is better than the baseline."""
    figure = Figure(figsize=(6.2, 4.6), layout="constrained")
    axes = figure.subplots()
    extent = max(float(np.abs(values).max()), 1e-9)
    image = axes.imshow(values, cmap="RdBu_r", vmin=-extent, vmax=extent, origin="lower", aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        axes.text(column, row, f"{value:+.2f}", ha="center", va="center", fontsize=8)
    axes.set_xticks(np.arange(len(dims)), [str(d) for d in dims])
    axes.set_yticks(np.arange(len(populations)), [str(n) for n in populations])
    axes.set(xlabel="dimensions", ylabel="population size")
    figure.colorbar(image, ax=axes, label=f"mean log10 gap, {label}")
    save(figure, path)
