"""Pictures of what operators do."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from lga.analysis.figures import save


def selection_panels(generations: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]], path: Path) -> None:
    """A line for each generation: who was chosen (N is nobody), who beats whom [e, n], and the children's rates."""
    figure = Figure(figsize=(9, 2.5 * len(generations)), layout="constrained")
    for axes, (name, (chosen, improvements, rates)) in zip(
        figure.subplots(len(generations), 3, squeeze=False), generations.items(), strict=True
    ):
        num_children = len(rates)
        matrix = chosen[:, None] == np.arange(num_children)
        for panel, values, title in zip(
            axes[:2], (matrix, improvements), ("takes the place of", "is better than"), strict=True
        ):
            panel.imshow(values, cmap="Greys", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
            panel.set(xlabel="child", ylabel="parent", title=f"{name}: child {title} parent")
        axes[2].bar(np.arange(num_children), rates, color="tab:blue")
        axes[2].set(xlabel="child", ylabel="mutation rate", title=f"{name}: rates")
        for panel in axes:
            panel.title.set_fontsize(8)
    save(figure, path)


def feature_scatter(points: dict[str, dict[str, tuple[np.ndarray, np.ndarray]]], title: str, path: Path) -> None:
    """A line of panels for each output, a column for each feature."""
    columns = len(next(iter(points.values())))
    figure = Figure(figsize=(4.2 * columns, 3.4 * len(points)), layout="constrained")
    figure.suptitle(title, fontsize=10)
    for line, (output, features) in zip(
        figure.subplots(len(points), columns, squeeze=False), points.items(), strict=True
    ):
        for axes, (feature, (x, y)) in zip(line, features.items(), strict=True):
            axes.scatter(x, y, s=2, alpha=0.15, linewidths=0)
            axes.set(xlabel=feature, ylabel=output)
    save(figure, path)


def setting_maps(maps: dict[str, np.ndarray], rows: list[str], columns: list[str], label: str, path: Path) -> None:
    """One map for each method, of a score over two settings; all share the colours."""
    figure = Figure(figsize=(2.6 * len(maps) + 1, 2.9), layout="constrained")
    values = np.stack(list(maps.values()))
    panels = figure.subplots(1, len(maps), squeeze=False)[0]
    image = None
    for axes, (name, own) in zip(panels, maps.items(), strict=True):
        image = axes.imshow(own, vmin=values.min(), vmax=values.max(), cmap="viridis", origin="lower", aspect="auto")
        for (row, column), value in np.ndenumerate(own):
            shade = "black" if value > (values.min() + values.max()) / 2 else "white"
            axes.text(column, row, f"{value:.4g}", ha="center", va="center", fontsize=6, color=shade)
        axes.set_xticks(np.arange(len(columns)), columns, fontsize=7)
        axes.set_yticks(np.arange(len(rows)), rows, fontsize=7)
        axes.set(xlabel="initial rate", ylabel="elite ratio")
        axes.set_title(name, fontsize=8)
    if image is not None:
        figure.colorbar(image, ax=list(panels), label=label)
    save(figure, path)


def operator_lines(panels: dict[tuple[str, str], dict[str, tuple[list[float], list[float]]]], path: Path) -> None:
    """One panel for each pair of axis labels, one line for each name."""
    figure = Figure(figsize=(5.2 * len(panels), 3.6), layout="constrained")
    for axes, ((across, up), curves) in zip(
        figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True
    ):
        for name, (x, y) in curves.items():
            axes.plot(x, y, "o-", markersize=3, label=name)
        axes.set(xlabel=across, ylabel=up)
        axes.legend(frameon=False, fontsize=7)
    save(figure, path)
