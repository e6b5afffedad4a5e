"""For people with a network: any tree of parameters in, the best one that evolution finds out."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Key
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lga.algorithms.genetic import has_parents
from lga.algorithms.presets import ALGORITHMS, learned_ga
from lga.algorithms.run import compiled
from lga.core.checks import require, require_positive_integer
from lga.core.interfaces import Algorithm
from lga.core.tree_io import differences, filled, json_form, load_leaves, save_tree, sentence
from lga.neuroevolution import ONCE, RATES_KEPT_UP, Evolution, Judging, generation, mean_parent, start
from lga.tasks.network_task import NeuroTask, map_members
from lga.weights import NETWORK_WEIGHTS, resolve

SECONDS_BETWEEN_CHECKPOINTS = 20.0
Network = Callable[..., Any]
"""apply(params, *inputs) -> outputs"""
Evaluation = Callable[[Key[Array, ""], Callable[..., Any]], Float[Array, ""]]
"""evaluate(key, network) -> a number, where network(*inputs) is the network with some parameters"""


@dataclass(frozen=True)
class Evolved:
    params: Any
    """As `init_params`: the better one of the elite and the mean of the last archive, by `value`."""
    value: float
    """Mean of `evaluate` over fresh keys, so no luck of the search is in it."""
    num_generations: int
    num_evaluations: int
    """Of single networks, those behind `value` not counted."""
    best: Float[np.ndarray, " t"]
    """Best value of each generation, by its own key."""
    median: Float[np.ndarray, " t"]


def evolve(
    apply: Network,
    init_params: Any,
    evaluate: Evaluation,
    *,
    num_generations: int = 200,
    algorithm: str | Path | Algorithm = NETWORK_WEIGHTS,
    popsize: int = 64,
    sigma0: float = 0.05,
    seed: int = 0,
    maximize: bool = False,
    judging: Judging | None = None,
    num_checks: int = 32,
    members_at_once: int | None = None,
    checkpoint: str | Path | None = None,
    progress: bool = True,
    callback: Callable[[int, float], bool | None] | None = None,
) -> Evolved:
    """Evolves the parameters of a network so that `evaluate` becomes small, or large if `maximize`.

    `apply(params, *inputs)` is the network, and `init_params` any tree of arrays of floats, where the search starts.
    `evaluate(key, network)` judges it by JAX code, with `network(*inputs)` for its outputs; minibatches and episodes
    are drawn by the key, and all members of a generation meet the same key.

    `algorithm` is the name of shipped weights, a file of weights, a named algorithm (`lga.ALGORITHMS`) or one that was
    built for `popsize` children. `sigma0` is the initial mutation rate, in units of the parameters. `members_at_once`
    bounds the memory: networks that are evaluated side by side, all of them if it is not told. The file `checkpoint`
    is written every 20 seconds and at the end; the same call goes on from it, with more generations as well.
    `judging` is what is done against luck: rates of learned weights are kept up, if it is not told.
    `callback(number, best)` may end the run by returning True.
    """
    for name, number in (("num_generations", num_generations), ("popsize", popsize), ("num_checks", num_checks)):
        require_positive_integer(name, number)
    centre, unravel = ravel_pytree(checked_params(init_params))
    task = network_task(apply, unravel, evaluate, centre, maximize, members_at_once or popsize, num_checks)
    search = compiled(algorithm_for(algorithm, popsize, centre.shape[0]))
    judging = judging or (RATES_KEPT_UP if is_learned(algorithm) else ONCE)
    key_run, key_check = jax.random.split(jax.random.key(seed))
    evolution = start(jax.random.fold_in(key_run, 0), search, task, sigma0, centre)
    require(
        bool(jnp.any(jnp.isfinite(evolution.fitness))),
        "evaluate returned no finite number for init_params: nothing can be selected.",
    )
    identity = {"popsize": popsize, "sigma0": sigma0, "seed": seed, "maximize": maximize, "judging": vars(judging)}
    identity |= {"algorithm": name_of(algorithm), "num_parameters": centre.shape[0]}
    done, curve, evolution = gone_on(checkpoint, json_form(identity), evolution)
    saved = time.monotonic()
    columns = (MofNCompleteColumn(), BarColumn(bar_width=24), TimeRemainingColumn())
    with Progress(TextColumn("{task.description}, generation"), *columns, disable=not progress) as bars:
        bar = bars.add_task("evolving", total=num_generations, completed=done)
        for number in range(done + 1, num_generations + 1):
            evolution = generation(jax.random.fold_in(key_run, number), search, task, evolution, judging)
            curve.append(best_and_median(evolution.fitness, maximize))
            bars.update(bar, completed=number, description=f"best {curve[-1][0]:.4g}")
            stop = callback is not None and callback(number, curve[-1][0]) is True
            is_last = stop or number == num_generations
            if checkpoint is not None and (is_last or time.monotonic() - saved > SECONDS_BETWEEN_CHECKPOINTS):
                save_tree(checkpoint, evolution, {"run": identity, "done": number, "curve": curve})
                saved = time.monotonic()
            if stop:
                break
    genomes = jnp.stack([evolution.elite, mean_parent(evolution.search)])
    scores = np.asarray(task.test(key_check, evolution.task_state, genomes))
    better = int(np.argmax(np.where(np.isfinite(scores), scores, -np.inf)))
    best, median = np.array(curve).T
    return Evolved(
        params=unravel(genomes[better]),
        value=float(scores[better] if maximize else -scores[better]),
        num_generations=len(curve),
        num_evaluations=popsize + len(curve) * judging.evaluations(search, has_parents(evolution.search)),
        best=best,
        median=median,
    )


def best_and_median(fitness: Float[Array, " n"], maximize: bool) -> tuple[float, float]:
    """Of the values that `evaluate` returned, those that are not finite left out."""
    finite = np.asarray(fitness)[np.isfinite(fitness)]
    losses = (finite.min(), np.median(finite)) if finite.size else (np.nan, np.nan)
    return float(losses[0]) * (-1 if maximize else 1), float(losses[1]) * (-1 if maximize else 1)


def checked_params(params: Any) -> Any:
    leaves = jax.tree_util.tree_leaves_with_path(params)
    require(len(leaves) > 0, "init_params holds no arrays.")
    for path, leaf in leaves:
        kind = jnp.result_type(leaf)
        require(
            jnp.issubdtype(kind, jnp.floating),
            f"init_params{jax.tree_util.keystr(path)} has type {kind}, but only floats evolve: leave it out of "
            "init_params, and put it in again in apply.",
        )
    return params


def network_task(
    apply: Network,
    unravel: Callable[[Float[Array, " d"]], Any],
    evaluate: Evaluation,
    centre: Float[Array, " d"],
    maximize: bool,
    at_once: int,
    num_checks: int,
) -> NeuroTask:
    """The network as a task like all others, its evaluations compiled."""

    def loss(key: Key[Array, ""], genome: Float[Array, " d"]) -> Any:
        value = evaluate(key, partial(apply, unravel(genome)))
        return -value if maximize else value

    judged = jax.eval_shape(loss, jax.random.key(0), centre)
    require(
        getattr(judged, "shape", None) == () and jnp.issubdtype(judged.dtype, jnp.floating),
        f"evaluate returned {judged}, but must return one floating-point number.",
    )

    def losses(key: Key[Array, ""], state: tuple[()], genomes: Float[Array, "n d"]):
        return map_members(partial(loss, key), genomes, centre.shape[0], at_once), state

    def scores(key: Key[Array, ""], state: tuple[()], genomes: Float[Array, "n d"]) -> Float[Array, " n"]:
        def score(genome: Float[Array, " d"]) -> Float[Array, ""]:
            return -jnp.mean(jax.lax.map(lambda key: loss(key, genome), jax.random.split(key, num_checks)))

        return map_members(score, genomes, centre.shape[0], at_once)

    return NeuroTask(centre.shape[0], tuple, jax.jit(losses), jax.jit(scores), "value")


def algorithm_for(algorithm: str | Path | Algorithm, popsize: int, num_dims: int) -> Algorithm:
    if isinstance(algorithm, Algorithm):
        require(
            algorithm.num_children == popsize,
            f"algorithm has {algorithm.num_children} children, but popsize is {popsize}.",
        )
        return algorithm
    if is_learned(algorithm):
        return learned_ga(resolve(algorithm, num_dims).theta, popsize)
    return ALGORITHMS[str(algorithm)](popsize)


def is_learned(algorithm: str | Path | Algorithm) -> bool:
    """Whether it names weights."""
    return not isinstance(algorithm, Algorithm) and str(algorithm) not in ALGORITHMS


def name_of(algorithm: str | Path | Algorithm) -> str:
    """What a checkpoint knows it by: the content of weights, not their place."""
    if isinstance(algorithm, Algorithm):
        return "given"
    return str(algorithm) if str(algorithm) in ALGORITHMS else resolve(algorithm, 1).digest


def gone_on(
    checkpoint: str | Path | None, identity: dict[str, Any], fresh: Evolution
) -> tuple[int, list[tuple[float, float]], Evolution]:
    """How far the run in the file has come, or a fresh one."""
    if checkpoint is None or not Path(checkpoint).exists():
        return 0, [], fresh
    leaves, description = load_leaves(checkpoint)
    require("run" in description and "curve" in description, f"{checkpoint} is no checkpoint of lga.evolve.")
    different = differences(description["run"], identity)
    require(not different, f"{checkpoint} is of another run: {sentence(different)}.")
    curve = [(best, median) for best, median in description["curve"]]
    return description["done"], curve, jax.tree.map(jnp.asarray, filled(fresh, leaves))
