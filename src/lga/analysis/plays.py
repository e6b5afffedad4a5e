"""Networks at work: an agent at play as a moving picture, and what a classifier gets wrong."""

from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
from matplotlib import colormaps
from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D

from lga.tasks.network_task import Episode, Mistakes

MOST_FRAMES = 200
FRAMES_PER_SECOND = 20
NUM_MISTAKES = 10


def draw_network(shown: Episode | Mistakes, path: Path, title: str) -> Path:
    """Writes a GIF, a page (Brax's own, which needs the net to be looked at) or a PNG; returns the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(shown, Mistakes):
        return draw_mistakes(shown, path.with_suffix(".png"), title)
    length = min(int(np.sum(shown.alive)), MOST_FRAMES)
    if shown.world is not None:
        states = [jax.tree.map(lambda leaf, step=step: leaf[step], shown.env_states) for step in range(length)]
        path = path.with_suffix(".html")
        path.write_text(brax_page(shown.world, states))
        return path
    observations = np.asarray(shown.observations)[:length]
    returns = np.cumsum(np.asarray(shown.rewards)[:length])
    return draw_play(observations, returns, path.with_suffix(".gif"), title)


def draw_play(observations: np.ndarray, returns: np.ndarray, path: Path, title: str) -> Path:
    """Layers of objects [t, h, w, c] as colours, or a pendulum [t, 3] by cosine and sine of its angle."""
    figure = Figure(figsize=(3, 3.3), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xticks([])
    axes.set_yticks([])
    if observations.ndim == 4:
        update = partial(
            show_layers, axes.imshow(np.zeros((*observations.shape[1:3], 3))), layers_as_colours(observations)
        )
    else:
        axes.set(xlim=(-1.2, 1.2), ylim=(-1.2, 1.2), aspect="equal")
        update = partial(show_rod, axes.plot([], [], linewidth=6, solid_capstyle="round")[0], observations)

    def frame(step: int) -> list:
        update(step)
        axes.set_title(f"{title}\nstep {step + 1}, return {returns[step]:.1f}", fontsize=8)
        return []

    moving = FuncAnimation(figure, frame, frames=len(observations))
    moving.save(path, writer=PillowWriter(fps=FRAMES_PER_SECOND), dpi=80)
    return path


def show_layers(image: AxesImage, frames: np.ndarray, step: int) -> None:
    image.set_data(frames[step])


def show_rod(rod: Line2D, observations: np.ndarray, step: int) -> None:
    rod.set_data([0.0, -observations[step, 1]], [0.0, observations[step, 0]])


def layers_as_colours(observations: np.ndarray) -> np.ndarray:
    """[t, h, w, 3]: a colour for each layer, the last layer on top; empty pixels are black."""
    colours = colormaps["tab10"](np.arange(observations.shape[-1]) % 10)[:, :3]
    frames = np.zeros((*observations.shape[:3], 3))
    for layer, colour in enumerate(colours):
        frames[observations[..., layer] > 0] = colour
    return frames


def draw_mistakes(mistakes: Mistakes, path: Path, title: str) -> Path:
    figure = Figure(figsize=(6, 2.8), layout="constrained")
    figure.suptitle(title, fontsize=9)
    for position in range(min(NUM_MISTAKES, len(mistakes.labels))):
        axes = figure.add_subplot(2, NUM_MISTAKES // 2, position + 1)
        axes.imshow(np.asarray(mistakes.images[position, ..., 0]), cmap="gray_r")
        axes.set_title(f"{mistakes.labels[position]} taken for {mistakes.predicted[position]}", fontsize=7)
        axes.set_axis_off()
    figure.savefig(path, dpi=120)
    return path


def brax_page(world: Any, states: list) -> str:
    """The first generation of Brax keeps bodies in `qp`, today's in `pipeline_state`."""
    if hasattr(states[0], "qp"):
        from brax.v1.io import html

        return html.render(world.sys, [state.qp for state in states])
    from brax.io import html

    return html.render(world.sys, [state.pipeline_state for state in states])
