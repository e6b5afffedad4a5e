"""Optimisers of other packages on HPO-B, one search at a time: each asks for one point and is told its value.

All are given the initial points before they ask, and search in the unit box with their defaults. Where points stand for
configurations of a pool, those that model the function (TPE, GP, SMAC) are told what was evaluated, and evolution
strategies the value of what they had in mind, as their statistics demand.
"""

import logging
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from lga.bench.hpob.games import Game, incumbents

Point = Float[np.ndarray, " d"]
CMA_SIGMA = 0.25
"""A quarter of the box, as is usual."""


class Peer(NamedTuple):
    ask: Callable[[], Point]
    tell: Callable[[Point, Point, float], None]
    """(what was asked for, what was evaluated, its value)"""


class Start(NamedTuple):
    """What a search begins with."""

    points: Float[np.ndarray, "n d"]
    values: Float[np.ndarray, " n"]
    seed: int
    num_trials: int

    @property
    def num_dims(self) -> int:
        return self.points.shape[1]


def optuna_peer(make_sampler: Callable[[Any, Start], Any], as_evaluated: bool) -> Callable[[Start], Peer]:
    def peer(start: Start) -> Peer:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            study = optuna.create_study(sampler=make_sampler(optuna, start))
        box: dict[str, Any] = {f"x{i}": optuna.distributions.FloatDistribution(0.0, 1.0) for i in range(start.num_dims)}

        def known(point: Point, value: float) -> Any:
            # Rounding may have left the box.
            params = {name: float(np.clip(x, 0.0, 1.0)) for name, x in zip(box, point, strict=True)}
            return optuna.trial.create_trial(params=params, distributions=box, value=float(value))

        study.add_trials([known(*pair) for pair in zip(start.points, start.values, strict=True)])
        asked: list[Any] = []

        def ask() -> Point:
            asked[:] = [study.ask(box)]
            return np.array([asked[0].params[name] for name in box])

        def tell(proposed: Point, evaluated: Point, value: float) -> None:
            if as_evaluated and not np.array_equal(proposed, evaluated):
                # What was asked for was never evaluated: it is taken back, and the study learns of what was.
                study.tell(asked[0], state=optuna.trial.TrialState.FAIL)
                study.add_trial(known(evaluated, value))
            else:
                study.tell(asked[0], float(value))

        return Peer(ask, tell)

    return peer


def tpe_sampler(optuna: Any, start: Start) -> Any:
    # The initial points are its start: none of its own is random.
    return optuna.samplers.TPESampler(seed=start.seed, n_startup_trials=len(start.values))


def gp_sampler(optuna: Any, start: Start) -> Any:
    return optuna.samplers.GPSampler(seed=start.seed, n_startup_trials=len(start.values))


def cma_sampler(optuna: Any, start: Start) -> Any:
    best = start.points[np.argmin(start.values)]
    x0 = {f"x{i}": float(np.clip(x, 0.0, 1.0)) for i, x in enumerate(best)}
    return optuna.samplers.CmaEsSampler(x0=x0, sigma0=CMA_SIGMA, seed=start.seed, n_startup_trials=0)


def pycma(start: Start) -> Peer:
    import cma

    best = start.points[np.argmin(start.values)]
    options = {"seed": start.seed + 1, "bounds": [0.0, 1.0], "verbose": -9, "verb_log": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        strategy = cma.CMAEvolutionStrategy(np.clip(best, 0.0, 1.0), CMA_SIGMA, options)
    waiting: list[np.ndarray] = []
    answers: list[tuple[np.ndarray, float]] = []

    def ask() -> Point:
        if not waiting:
            waiting.extend(strategy.ask())
        return waiting[0]

    def tell(proposed: Point, evaluated: Point, value: float) -> None:
        answers.append((waiting.pop(0), value))
        if not waiting:
            strategy.tell([point for point, _ in answers], [value for _, value in answers])
            answers.clear()

    return Peer(ask, tell)


def nevergrad_ngopt(start: Start) -> Peer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import nevergrad
        from nevergrad.optimization import metamodel

        # nevergrad 1.0 turns an array of one element into a float, which NumPy no longer does by itself.
        metamodel.float = lambda value: np.asarray(value, float).item()  # pyright: ignore[reportAttributeAccessIssue]
        box = nevergrad.p.Array(init=np.full(start.num_dims, 0.5)).set_bounds(0.0, 1.0)
        box.random_state.seed(start.seed)
        optimizer = nevergrad.optimizers.NGOpt(box, budget=start.num_trials + len(start.values))
        for point, value in zip(start.points, start.values, strict=True):
            optimizer.tell(box.spawn_child(new_value=np.clip(point, 0.0, 1.0)), float(value))
    asked: list[Any] = []

    def ask() -> Point:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            asked[:] = [optimizer.ask()]
        return np.asarray(asked[0].value)

    def tell(proposed: Point, evaluated: Point, value: float) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            optimizer.tell(asked[0], float(value))

    return Peer(ask, tell)


def smac(start: Start) -> Peer:
    import ConfigSpace  # pyright: ignore[reportMissingImports]
    import smac as package  # pyright: ignore[reportMissingImports]

    logging.getLogger("smac").setLevel(logging.ERROR)
    columns = [f"x{i:02d}" for i in range(start.num_dims)]
    space = ConfigSpace.ConfigurationSpace(dict.fromkeys(columns, (0.0, 1.0)), seed=start.seed)
    # It writes what nobody reads, into a folder that is gone when the search is.
    scratch = tempfile.TemporaryDirectory()
    scenario = package.Scenario(
        space,
        deterministic=True,
        n_trials=start.num_trials + len(start.values),
        seed=start.seed,
        output_directory=Path(scratch.name),
    )
    facade = package.HyperparameterOptimizationFacade(
        scenario,
        lambda config, seed=0: 0.0,
        initial_design=package.HyperparameterOptimizationFacade.get_initial_design(scenario, n_configs=0),
        overwrite=True,
        logging_level=False,
    )

    def note(point: Point, value: float) -> None:
        config = ConfigSpace.Configuration(space, dict(zip(columns, map(float, np.clip(point, 0.0, 1.0)), strict=True)))
        facade.tell(package.runhistory.TrialInfo(config, seed=0), package.runhistory.TrialValue(cost=float(value)))

    for pair in zip(start.points, start.values, strict=True):
        note(*pair)

    def ask() -> Point:
        config = facade.ask().config
        return np.array([config[name] for name in columns])

    def tell(proposed: Point, evaluated: Point, value: float, folder: Any = scratch) -> None:
        note(evaluated, value)

    return Peer(ask, tell)


PEERS: dict[str, Callable[[Start], Peer]] = {
    "TPE (Optuna)": optuna_peer(tpe_sampler, as_evaluated=True),
    "NGOpt (nevergrad)": nevergrad_ngopt,
    "CMA-ES (pycma)": pycma,
    "CMA-ES (Optuna)": optuna_peer(cma_sampler, as_evaluated=False),
    "GP (Optuna)": optuna_peer(gp_sampler, as_evaluated=True),
    "SMAC": smac,
}


def search_with_peer(name: str, game: Game, num_trials: int) -> Float[np.ndarray, "seeds t"]:
    """Incumbents of one search for each seed of a game."""
    peers = [
        PEERS[name](Start(points, values, seed, num_trials))
        for seed, (points, values) in enumerate(zip(game.initial, game.initial_values, strict=True))
    ]
    trials = []
    for _ in range(num_trials):
        proposed = np.stack([np.clip(peer.ask(), 0.0, 1.0) for peer in peers])
        evaluated, values = game.play(proposed[:, None, :])
        for peer, asked, seen, value in zip(peers, proposed, evaluated[:, 0], values[:, 0], strict=True):
            peer.tell(asked, seen, float(value))
        trials.append(values[:, 0])
    return incumbents(game.initial_values, np.stack(trials, axis=1), num_trials)
