"""Algorithms of this package on HPO-B: all tasks and seeds side by side in one program, the games on the host."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from lga.algorithms.presets import learned_ga
from lga.algorithms.run import advance
from lga.bench.hpob.games import Game, incumbents
from lga.bench.methods import Method
from lga.bench.searches import over_runs, side_by_side
from lga.core.box import HALF_SIDE
from lga.core.interfaces import Algorithm, Steps
from lga.core.population import FAILED, Children
from lga.operators.theta import Theta, ThetaConfig, config_of

MOST_DIMS = 18
STARTS = ("initial", "centre")
"""The archive holds the initial points, or, as in the paper, the middle of the box, whose value nobody knows."""


def treats_coordinates_alike(method: Method) -> bool:
    """Whether coordinates that no task looks at change nothing: then tasks of all sizes share one program."""
    if method.weights is None:
        return method.family != "strategy"
    theta: Theta = method.weights.theta
    own = (theta.shape, theta.separable, theta.scatter, theta.screen, theta.regress, theta.cross)
    return all(part is None for part in own)


def padded_dims(method: Method, num_dims: int) -> int:
    return max(MOST_DIMS, num_dims) if treats_coordinates_alike(method) else num_dims


def mirrored(coordinates: Float[np.ndarray, "*n d"]) -> Float[np.ndarray, "*n d"]:
    """The point of the unit box that the mirrors show; in double precision, as `lga.core.box.to_unit`."""
    turns = (np.asarray(coordinates, np.float64) + HALF_SIDE) / (4.0 * HALF_SIDE)
    return 1.0 - np.abs(2.0 * (turns - np.floor(turns)) - 1.0)


def clipped(coordinates: Float[np.ndarray, "*n d"]) -> Float[np.ndarray, "*n d"]:
    return np.clip(np.asarray(coordinates, np.float64) / (2.0 * HALF_SIDE) + 0.5, 0.0, 1.0)


def to_coordinates(points: Float[np.ndarray, "*n d"]) -> Float[np.ndarray, "*n d"]:
    return ((points - 0.5) * (2.0 * HALF_SIDE)).astype(np.float32)


TOLD = ("evaluated", "proposed")
"""What an algorithm takes its children for: the configurations that were evaluated, or what it had in mind."""
WALLS: dict[str, Callable[[Any], Any]] = {"mirror": mirrored, "clip": clipped}


def search_games(
    method: Method,
    num_children: int,
    names: Sequence[str],
    games: Sequence[Game],
    *,
    num_trials: int,
    start: str = "initial",
    walls: str = "mirror",
    told: str = "evaluated",
    lands: bool = False,
    seed: int = 0,
) -> Float[np.ndarray, "tasks seeds t"]:
    """Incumbents of one search for each task and seed. Games must have as many seeds; names decide the luck."""
    own_dims = [game.initial.shape[-1] for game in games]
    num_dims = padded_dims(method, max(own_dims))
    to_points = WALLS[walls]
    runs = compiled_runs(method, num_children)
    num_generations = -(-num_trials // num_children)
    num_seeds = games[0].initial.shape[0]
    keys = run_keys(seed, names, num_seeds, num_generations)
    sigmas = np.full((len(games), num_seeds), method.sigma, np.float32)
    values: list[np.ndarray] = []
    seen: list[np.ndarray] = []

    def evaluate(_: Any, solutions: Float[Array, "tasks seeds n d"]):
        points = to_points(np.asarray(solutions))
        played = [game.play(points[i, ..., :d]) for i, (game, d) in enumerate(zip(games, own_dims, strict=True))]
        for i, (places, _) in enumerate(played):
            points[i, ..., : own_dims[i]] = places
        seen[:] = [to_coordinates(points) if told == "evaluated" else np.asarray(solutions)]
        values.append(np.stack([regrets for _, regrets in played]))
        return values[-1].astype(np.float32), None

    def tell(key, state, children: Children, fitness):
        return runs.tell(key, state, replace(children, solutions=jnp.asarray(seen[0])), fitness)

    def landed(solutions: Float[Array, "tasks seeds n d"]) -> Float[Array, "tasks seeds n d"]:
        points = to_points(np.asarray(solutions))
        for i, (game, d) in enumerate(zip(games, own_dims, strict=True)):
            points[i, ..., :d] = game.land(points[i, ..., :d])
        return jnp.asarray(to_coordinates(points))

    def ask(key, state):
        """Only what can be evaluated is judged."""
        assert runs.steps is not None
        candidates = runs.steps.breed(key, state)
        return runs.steps.choose(state, replace(candidates, solutions=landed(candidates.solutions))), state

    learning = runs._replace(tell=tell, ask=ask if lands else runs.ask)
    state = runs.init(keys[0], *starting(games, num_dims, start), sigmas)
    for generation in range(num_generations):
        step = advance(keys[1 + 3 * generation : 4 + 3 * generation], learning, evaluate, state)
        state = step.state
    trials = np.concatenate(values, axis=-1)
    return np.stack([incumbents(game.initial_values, trials[i], num_trials) for i, game in enumerate(games)])


def starting(games: Sequence[Game], num_dims: int, start: str) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and values that searches start from."""
    if start == "centre":
        shape = (len(games), games[0].initial.shape[0], 1)
        return np.zeros((*shape, num_dims), np.float32), np.full(shape, FAILED, np.float32)
    missing = [num_dims - game.initial.shape[-1] for game in games]
    points = [
        np.pad(game.initial, ((0, 0), (0, 0), (0, more)), constant_values=0.5)
        for game, more in zip(games, missing, strict=True)
    ]
    return to_coordinates(np.stack(points)), np.stack([game.initial_values for game in games]).astype(np.float32)


def run_keys(seed: int, names: Sequence[str], num_seeds: int, num_generations: int) -> np.ndarray:
    """Data of keys [draws, tasks, seeds, words]: one to init and three for each generation.

    They depend on the name of a task and not on its place, so that tasks may be run together or apart.
    """
    codes = np.array([[zlib.crc32(f"{name} {run}".encode()) for run in range(num_seeds)] for name in names], np.uint32)
    return np.moveaxis(np.asarray(draw_keys(jax.random.key(seed), codes, 1 + 3 * num_generations)), 2, 0)


@jax.jit(static_argnums=2)
def draw_keys(key: Key[Array, ""], codes: Any, number: int):
    def of_run(code):
        return jax.random.key_data(jax.random.split(jax.random.fold_in(key, code), number))

    return jax.vmap(jax.vmap(of_run))(codes)


def compiled_runs(method: Method, num_children: int) -> Algorithm:
    """Compiled once for all rates, all elite ratios that give as many parents, and all weights of one layout."""
    algorithm = method.algorithm(num_children)
    if method.weights is None:
        num_parents = algorithm.num_parents
        plain = method.at(num_parents / num_children if num_parents > 1 else 0.0, 1.0)
        return designed_runs(replace(plain, name=""), num_children)
    theta = method.weights.theta
    functions = learned_runs(config_of(theta), num_children, method.elite_ratio)
    own = {name: partial(function, theta) for name, function in functions.items()}
    steps = None if algorithm.steps is None else Steps(own["breed"], own["choose"])
    return algorithm._replace(init=own["init"], ask=own["ask"], tell=own["tell"], steps=steps)


# To optimise these programs takes longer than all of their runs.
quickly = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


@lru_cache(maxsize=16)
def designed_runs(method: Method, num_children: int) -> Algorithm:
    return side_by_side(method.algorithm(num_children), quickly)


@lru_cache(maxsize=16)
def learned_runs(config: ThetaConfig, num_children: int, elite_ratio: float) -> dict[str, Callable[..., Any]]:
    """Functions of weights first, then as in `side_by_side`."""

    def compiled(name: str) -> Callable[..., Any]:
        def step(theta: Theta, *rest: Any) -> Any:
            algorithm = learned_ga(theta, num_children, elite_ratio)
            if name == "choose":
                return getattr(algorithm.steps, name)(*rest)
            key_data, *others = rest
            function = getattr(algorithm.steps if name == "breed" else algorithm, name)
            return function(jax.random.wrap_key_data(key_data), *others)

        def over_all(theta: Theta, *rest: Any) -> Any:
            return over_runs(partial(step, theta))(*rest)

        # But a regression computes enough to be worth it.
        return jax.jit(over_all) if name == "choose" else quickly(over_all)

    return {name: compiled(name) for name in ("init", "ask", "tell", "breed", "choose")}
