"""A family of tasks: how one is drawn, and what solutions are worth on it. All that is trained on is one of these.

Searches run in coordinates, boxes of side 10 with mirrors for walls, as `lga.minimize` does. A family of your own is
written in your own variables, and brought into coordinates here: `family(draw, evaluate, bounds)`.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from lga.core.checks import require
from lga.core.variables import HALF_SIDE, START_DEVIATION, Variables
from lga.tasks.numpy_family import in_jax
from lga.tasks.numpy_worker import module_from

Observe = Callable[[Key[Array, ""], Any, Float[Array, "n d"]], tuple[Float[Array, " n"], Float[Array, " n"]]]


class Family(NamedTuple):
    """What the meta-objective needs to know of a kind of task."""

    name: str
    draw: Callable[[Key[Array, ""], tuple[int, int]], Any]
    """(key, least and most dimensions) -> task"""
    observe: Observe
    """(key, task, coordinates) -> (true values, what a search sees of them)"""
    num_coordinates: Callable[[Any], int]
    start: "Callable[[Key[Array, ''], int, int], Float[Array, 'n d']] | None" = None
    """(key, number of solutions, dimensions) -> coordinates; None for uniform in the box."""
    num_initial: int | None = None
    """Solutions that a search is given; None for as many as it has children."""
    evaluate_start: bool = True
    """Whether their values are known."""
    variables: Variables | None = None
    """Of a family of one's own: what its coordinates stand for."""


def first_coordinates(key: Key[Array, ""], variables: Variables, count: int) -> Float[Array, "n d"]:
    """What a search starts with: anywhere in the box, or around the start, after points that are known to be good."""
    shape = (count, variables.num_dims)
    if variables.x0 is None:
        return jax.random.uniform(key, shape, minval=-HALF_SIDE, maxval=HALF_SIDE)
    drawn = START_DEVIATION * jax.random.normal(key, shape)
    if variables.first is None:
        return drawn
    given = variables.encode(variables.first[:count], jnp)
    return jnp.concatenate([given, drawn[len(given) :]])


def family(
    draw: Callable[[Any], Any],
    evaluate: Callable[[Any, Any], Any],
    bounds: Any,
    *,
    noise: Callable[[Any, Any], Any] | None = None,
    log_scale: Sequence[bool] | bool = False,
    integrality: Sequence[bool] | bool = False,
    name: str = "own",
    numpy: bool = False,
    workers: int = 1,
) -> Family:
    """A family of your own, to train for with `lga.train(tasks=...)`.

    Args:
        draw: A task, any tree of arrays of fixed shapes, from a random key.
        evaluate: Values [n] of solutions [n, d] on a task; less is better.
        bounds: A finite pair (low, high) for each variable.
        noise: From a random key and true values to what is measured; a search sees that, and is judged by the truth.
        log_scale: Which variables are searched in their logarithm.
        integrality: Which variables are whole numbers.
        name: What reports call it.
        numpy: Whether the functions are written in NumPy: `draw` and `noise` take a `numpy.random.Generator` in place
            of a key, and a task may be any object. That is slower, since nothing of it is compiled.
        workers: Processes that evaluate, for functions in NumPy. The outcome does not depend on their number.

    Examples:
        >>> bowls = family(
        ...     draw=lambda key: jax.random.normal(key, (2,)),
        ...     evaluate=lambda centre, x: jnp.sum((x - centre) ** 2, axis=1),
        ...     bounds=[(-5, 5), (-5, 5)],
        ...     name="bowls",
        ... )
        >>> bowls.name
        'bowls'
    """
    pairs = np.asarray(bounds, float)
    require(
        pairs.ndim == 2 and pairs.shape[1] == 2 and bool(np.all(np.isfinite(pairs))),
        "bounds must be a finite pair (low, high) for each variable.",
    )
    low, high = pairs.T
    require(bool(np.all(low < high)), "bounds must have the lower end first.")
    log, integer = (np.broadcast_to(np.asarray(flag, bool), low.shape) for flag in (log_scale, integrality))
    require(bool(np.all(low[log] > 0.0)), "log_scale needs a lower bound of more than 0.")
    require(numpy or workers == 1, f"workers is {workers}, but functions in JAX have no use for them: say numpy=True.")
    functions = in_jax(draw, evaluate, noise, workers) if numpy else (draw, evaluate, noise)
    return from_variables(name, *functions, Variables(low, high, log, integer))


def from_variables(name: str, draw: Any, evaluate: Any, noise: Any, variables: Variables) -> Family:
    def observe(key: Key[Array, ""], task: Any, coordinates: Float[Array, "n d"]):
        true = evaluate(task, variables.decode(coordinates, jnp))
        # What fails on the way is the worst, and never the best.
        true = jnp.where(jnp.isfinite(true), true, jnp.inf)
        return true, true if noise is None else noise(key, true)

    return Family(
        name,
        lambda key, dims: draw(key),
        observe,
        lambda task: variables.num_dims,
        lambda key, count, num_dims: first_coordinates(key, variables, count),
        variables=variables,
    )


def started_at(own: Family, x0: Any, spread: Any, first: Any = None) -> Family:
    """The same tasks, with searches that start around a point, or with the points `first`; `spread` may be traced.

    The family must be one whose searches start anywhere.
    """
    assert own.variables is not None
    after = own.variables._replace(x0=x0, spread=spread, first=first)
    centre, matrix = own.variables.frame

    def observe(key: Key[Array, ""], task: Any, coordinates: Float[Array, "n d"]):
        return own.observe(key, task, (after.to_inner(coordinates) - centre[None]) / np.diag(matrix)[None])

    def start(key: Key[Array, ""], count: int, num_dims: int) -> Float[Array, "n d"]:
        return first_coordinates(key, after, count)

    return own._replace(observe=observe, variables=after, start=start)


def find_family(place: str) -> Family:
    """FILE.py:NAME, the family of that name in a file."""
    path, _, name = place.rpartition(":")
    file = Path(path)
    require(bool(path and name) and file.is_file(), f"tasks is {place!r}, but must be FILE.py:NAME of a family.")
    found = getattr(module_from(file, f"lga_tasks_{file.stem}"), name, None)
    require(isinstance(found, Family), f"tasks is {place!r}, but {file} has no family of that name: see lga.family.")
    return found  # pyright: ignore[reportReturnType]
