"""Training in the terminal: progress, time left, speed, and the validation curve as it grows."""

from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

BARS = "▁▂▃▄▅▆▇█"


class LiveReport:
    """A context manager that is called with every entry of the metrics."""

    def __init__(self, meta_generations: int, console: Console | None = None):
        self._progress = Progress(
            TextColumn("meta-generation"),
            MofNCompleteColumn(),
            BarColumn(bar_width=24),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[speed]} inner gen/s · validation {task.fields[validation]}"),
            console=console,
        )
        self._task = self._progress.add_task("train", total=meta_generations, speed="…", validation="…")
        self._scores: list[float] = []

    def __enter__(self) -> "LiveReport":
        self._progress.__enter__()
        return self

    def __exit__(self, *error) -> None:
        self._progress.__exit__(*error)

    def __call__(self, entry: dict[str, Any]) -> None:
        if validation := entry.get("validation"):
            self._scores.append(validation["score"])
            shown = f"best {min(self._scores):.3f} now {validation['score']:.3f} median {validation['median']:.3f}"
            self._progress.update(self._task, validation=f"{shown} {sparkline(self._scores)}")
            if not self._progress.console.is_terminal:
                self._progress.console.print(f"meta-generation {entry['meta_generation']}: validation {shown}")
        speed = f"{entry['inner_generations_per_second']:,.0f}"
        self._progress.update(self._task, completed=entry["meta_generation"], speed=speed)


def sparkline(values: list[float], width: int = 24) -> str:
    """The last values as bars, the best (least) at the bottom."""
    shown = values[-width:]
    low, high = min(shown), max(shown)
    scale = (len(BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(BARS[round((value - low) * scale)] for value in shown)
