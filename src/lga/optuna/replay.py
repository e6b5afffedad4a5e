"""The search behind a study. It is not stored: it is a function of the study's trials, and played again from them.

A trial of the search carries its generation and its slot, and all random numbers follow from the seed, the generation
and the slot: whoever knows the trials knows every state of the search. Slots are without end, so that nobody waits:
while the last trials of a generation are still running, further children are drawn from the same parents. A
generation is over when as many trials as the population has members are finished. Which ones these were is decided
once, and kept in the study, since trials may be finished by several processes at the same time.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Float
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from lga.core.tree_io import leaf_name
from lga.optimize.bounds import within_floats
from lga.optimize.options import Search, SearchOptions, make_search
from lga.optimize.scores import least
from lga.optimize.state import Best, Pending, SearchState, first_state
from lga.optimize.steps import complete, open_generation
from lga.optuna.parameters import Parameters

FINISHED = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)


class Place(NamedTuple):
    """Where in the search a trial belongs."""

    digest: str
    """Of the parameters."""
    generation: int
    slot: int


class Decision(NamedTuple):
    """What a generation learns from, by the numbers of trials."""

    children: list[int]
    adopted: list[int]
    """Other trials that have become known: stragglers of earlier generations, and what other samplers or users tried.
    They take the places of worse parents."""


@dataclass(frozen=True)
class Played:
    """The search after some generations."""

    search: Search
    parameters: Parameters
    state: SearchState
    parent_trials: tuple[int, ...] = ()
    used: frozenset[int] = frozenset()
    draws: dict[int, SearchState] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Children that were drawn already. They follow from all else, so whatever is replaced, none are left."""

    @property
    def generation(self) -> int:
        return self.state.generation

    @property
    def size(self) -> int:
        return self.search.size(self.state.restarts)


def start(parameters: Parameters, seed: int, popsize: int | None, weights: Any) -> Played:
    variables = parameters.variables
    options = SearchOptions(
        bounds=[(one.low, one.high) for one in variables],
        integrality=[one.integer for one in variables],
        log_scale=[one.log for one in variables],
        seed=seed,
        popsize=popsize,
        weights=weights,
    )
    search = make_search(options)
    return Played(search, parameters, first_state(search))


# Children.


def batch(played: Played, number: int) -> SearchState:
    """The generation with all of its children drawn: the first time, or once more."""
    if number not in played.draws:
        played.draws[number] = drawn(played.search, played.state, number)
    return played.draws[number]


def drawn(search: Search, state: SearchState, number: int) -> SearchState:
    seed = search.options.seed
    assert seed is not None
    # Another seed, and so other children of the same parents.
    own = seed if number == 0 else int(np.random.SeedSequence((seed, number)).generate_state(1, np.uint64)[0])
    return open_generation(replace(search, options=replace(search.options, seed=own)), state)


def child(played: Played, slot: int) -> dict[str, Any]:
    """The values of the parameters in a slot of the generation."""
    number, row = divmod(slot, played.size)
    return played.parameters.values(batch(played, number).pending.solutions[row])


# What is known of trials.


def place_of(trial: FrozenTrial, attribute: str) -> Place | None:
    found = trial.system_attrs.get(attribute)
    return None if found is None else Place(*found)


def violation(trial: FrozenTrial) -> float:
    return sum((max(float(one), 0.0) for one in trial.constraints.values()), start=0.0)


def values_of(trials: Sequence[FrozenTrial], direction: StudyDirection) -> Float[np.ndarray, " n"]:
    """To be minimised. Trials that failed or were pruned have none; any that is feasible is before any that is not."""
    sign = -1.0 if direction == StudyDirection.MAXIMIZE else 1.0
    is_done = [trial.state == TrialState.COMPLETE and trial.values is not None for trial in trials]
    plain = np.array(
        [sign * trial.values[0] if done else math.nan for trial, done in zip(trials, is_done, strict=True)]
    )
    excess = np.array([violation(trial) if done else 0.0 for trial, done in zip(trials, is_done, strict=True)])
    plain = np.where(np.isfinite(plain), plain, math.nan)
    feasible = plain[(excess == 0.0) & np.isfinite(plain)]
    top, width = (feasible.max(), np.ptp(feasible)) if feasible.size else (0.0, 0.0)
    return np.where(excess > 0.0, top + (width or 1.0) * (1.0 + excess), plain)


def decide(played: Played, trials: Iterable[FrozenTrial], attribute: str, direction: StudyDirection) -> Decision | None:
    """Which trials the open generation learns from; None while too few are finished."""
    parameters = played.parameters
    fresh = [trial for trial in trials if trial.state in FINISHED and trial.number not in played.used]
    mine, others = [], []
    for trial in fresh:
        place = place_of(trial, attribute)
        if place is not None and place[:2] == (parameters.digest, played.generation):
            mine.append((place.slot, trial))
        elif trial.state == TrialState.COMPLETE and parameters.has(trial.params, trial.distributions):
            others.append(trial)
    own_trials = [trial for _, trial in sorted(mine, key=lambda pair: pair[0])]
    is_first = played.generation == 0
    candidates = [*own_trials, *others] if is_first else own_trials
    if len(candidates) < played.size:
        return None
    if is_first:
        # The search starts from the best that is known.
        order = np.argsort(values_of(candidates, direction), kind="stable")
        candidates = [candidates[place] for place in order]
    chosen = [trial.number for trial in candidates[: played.size]]
    rest = [trial.number for trial in [*own_trials, *others] if trial.number not in chosen]
    return Decision(chosen, rest)


# A generation.


def advance(
    played: Played,
    decision: Decision,
    trials: Mapping[int, FrozenTrial],
    attribute: str,
    direction: StudyDirection,
) -> Played:
    """The search after the generation that the decision is about."""
    children = [trials[number] for number in decision.children]
    parents = [trials[number] for number in played.parent_trials]
    # Children and parents are judged together: what counts of an infeasible one depends on the feasible ones.
    values = values_of([*children, *parents], direction)
    own, theirs = values[: len(children)], values[len(children) :]
    state = told(played, children, own, attribute)
    run = replace(state.run, parent_values=theirs, reference=least(theirs)) if parents else state.run
    state = replace(state, run=run, best=best_of(state, children, own))
    after = complete(played.search, state)
    algorithm = after.run.algorithm
    numbers = (*decision.children, *played.parent_trials)
    used = played.used | {*decision.children, *decision.adopted}
    if algorithm is None:  # A restart.
        return replace(played, state=after, parent_trials=(), used=used)
    if state.run.algorithm is None:
        order = np.argsort(np.where(np.isfinite(own), own, np.inf), kind="stable")
        survivors = order[np.arange(len(after.run.parent_values)) % len(own)]
    else:
        survivors = np.asarray(algorithm.survivor_index)
    next_played = replace(played, state=after, parent_trials=tuple(numbers[index] for index in survivors), used=used)
    return adopt(next_played, [trials[number] for number in decision.adopted], direction)


def told(played: Played, children: list[FrozenTrial], values: Float[np.ndarray, " n"], attribute: str) -> SearchState:
    """The open generation with its outcomes; its children may come from several draws."""
    first = batch(played, 0)
    space = played.search.space
    if first.run.algorithm is None:
        solutions = np.stack([played.parameters.position(trial.params) for trial in children])
        coordinates = np.stack([space.encode(x) for x in solutions])
        run = first.run
    else:
        slots = [place.slot for trial in children if (place := place_of(trial, attribute)) is not None]
        places = [divmod(slot, played.size) for slot in slots]
        draws = {number: batch(played, number) for number, _ in places}

        def gathered(pick: Any) -> Any:
            return jax.tree.map(
                lambda *rows: np.stack(rows),
                *(jax.tree.map(lambda a, r=row: a[r], pick(draws[n])) for n, row in places),
            )

        run = replace(first.run, children=gathered(lambda draw: draw.run.children))
        coordinates = within_floats(run.children.solutions)
        solutions = gathered(lambda draw: draw.pending.solutions)
    number = len(children)
    pending = Pending(coordinates, solutions, values, np.ones(number, np.int64), np.ones(number, bool))
    return replace(first, run=run, pending=pending, evaluations=first.evaluations + number)


def best_of(state: SearchState, children: list[FrozenTrial], values: Float[np.ndarray, " n"]) -> Best:
    """Of feasible trials only: what counts of the others changes from generation to generation."""
    feasible = np.array([violation(trial) == 0.0 for trial in children])
    known = np.where(feasible & np.isfinite(values), values, np.inf)
    place = int(np.argmin(known))
    if not known[place] < state.best.value:
        return state.best
    return Best(float(known[place]), state.pending.solutions[place], 1, state.generation, place)


def adopt(played: Played, strangers: list[FrozenTrial], direction: StudyDirection) -> Played:
    """Trials that the search did not ask for, or no longer waited for, in the places of worse parents."""
    run = played.state.run
    known = [trial for trial in strangers if played.parameters.has(trial.params, trial.distributions)]
    if not known or not len(run.parent_values):
        return played
    parents, numbers = run.algorithm.parents, list(played.parent_trials)
    solutions, values, ages = parents.solutions.copy(), run.parent_values.copy(), parents.age.copy()
    theirs = values_of(known, direction)
    for place in np.argsort(np.where(np.isfinite(theirs), theirs, np.inf), kind="stable"):
        worst = int(np.argmax(np.where(np.isfinite(values), values, np.inf)))
        if not theirs[place] < values[worst] and np.isfinite(values[worst]):
            break
        trial = known[place]
        position = played.parameters.position(trial.params)
        solutions[worst], values[worst] = played.search.space.encode(position), theirs[place]
        ages[worst], numbers[worst] = 0, trial.number
    changed = {"parents.solutions": solutions, "parents.age": ages}
    algorithm = jax.tree_util.tree_map_with_path(lambda path, leaf: changed.get(leaf_name(path), leaf), run.algorithm)
    state = replace(played.state, run=replace(run, algorithm=algorithm, parent_values=values))
    return replace(played, state=state, parent_trials=tuple(numbers))
