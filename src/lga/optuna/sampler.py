"""The sampler itself: what Optuna calls, and what is kept in the study."""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.search_space import IntersectionSearchSpace
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from lga.operators.theta import Theta
from lga.optuna.parameters import Parameters, split
from lga.optuna.replay import Decision, Place, Played, advance, child, decide, place_of, start

PLACE, SEED = "lga:place", "lga:seed"


class LGASampler(BaseSampler):
    """Samples trials by a learned genetic algorithm.

    All parameters are searched together: numbers, whole numbers, steps, logarithms and choices. The study holds all
    that is to be known, so a study that is loaded again goes on where it was, and several processes may work on one.

    Args:
        seed: Of everything random; with None, one is drawn and kept in the study.
        popsize: Trials per generation; by default it follows from the number of parameters.
        weights: The name of shipped weights, a file, or a theta.
        x0: Values that the first trial begins with, by name.
        independent_sampler: For parameters that not all trials have; random by default.
    """

    def __init__(
        self,
        seed: int | None = None,
        *,
        popsize: int | None = None,
        weights: str | Path | Theta | None = None,
        x0: Mapping[str, Any] | None = None,
        independent_sampler: BaseSampler | None = None,
    ):
        self._seed, self._popsize, self._weights = seed, popsize, weights
        self._x0 = dict(x0 or {})
        self._independent = independent_sampler or RandomSampler(seed)
        self._spaces = IntersectionSearchSpace(include_pruned=True)
        self._played: dict[str, Played] = {}
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        """Without what follows from the study anyway."""
        return {name: value for name, value in vars(self).items() if name not in ("_lock", "_played")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _played={}, _lock=threading.RLock())

    def reseed_rng(self) -> None:
        self._independent.reseed_rng()

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        with self._lock:
            return self._spaces.calculate(study)

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        self._raise_error_if_multi_objective(study)
        if trial.number == 0 and param_name in self._x0:
            value = self._x0[param_name]
            if param_distribution._contains(param_distribution.to_internal_repr(value)):
                return value
        return self._independent.sample_independent(study, trial, param_name, param_distribution)

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        self._raise_error_if_multi_objective(study)
        parameters, fixed = split(search_space)
        if not parameters.distributions:
            return fixed
        with self._lock:
            # In this order: whatever was decided is about trials that are known then.
            decisions = study._storage.get_study_system_attrs(study._study_id)
            trials = study._get_trials(deepcopy=False, use_cache=False)
            played = self._up_to_date(study, parameters, decisions, trials)
            slot = free_slot(trials, trial, played)
            place = Place(parameters.digest, played.generation, slot)
            study._storage.set_trial_system_attr(trial._trial_id, PLACE, list(place))
            return fixed | child(played, slot)

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        self._independent.before_trial(study, trial)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        self._independent.after_trial(study, trial, state, values)

    def _up_to_date(
        self, study: Study, parameters: Parameters, decisions: Mapping[str, Any], trials: list[FrozenTrial]
    ) -> Played:
        """The search after all generations that are over; those that nobody has decided yet are decided here."""
        digest = parameters.digest
        if digest not in self._played:
            self._played[digest] = start(parameters, self._seed_of(study), self._popsize, self._weights)
        played = self._played[digest]
        by_number = {trial.number: trial for trial in trials}
        while True:
            key = f"lga:{digest}:{played.generation}"
            found = decisions.get(key)
            decision = Decision(*found) if found else decide(played, trials, PLACE, study.direction)
            if decision is None:
                break
            if found is None:
                study._storage.set_study_system_attr(study._study_id, key, list(decision))
            played = advance(played, decision, by_number, PLACE, study.direction)
        self._played[digest] = played
        return played

    def _seed_of(self, study: Study) -> int:
        if self._seed is not None:
            return self._seed
        kept = study._storage.get_study_system_attrs(study._study_id).get(SEED)
        if kept is None:
            kept = int(np.random.SeedSequence().generate_state(1)[0])
            study._storage.set_study_system_attr(study._study_id, SEED, kept)
        return kept


def free_slot(trials: list[FrozenTrial], trial: FrozenTrial, played: Played) -> int:
    """The first slot that no earlier trial has, or will have: those that are about to take one are counted."""
    here = (played.parameters.digest, played.generation)
    taken = 0
    for other in trials:
        if other.number >= trial.number:
            continue
        place = place_of(other, PLACE)
        undecided = place is None and other.state == TrialState.RUNNING
        taken = max(taken, place.slot + 1) if place is not None and place[:2] == here else taken + undecided
    return taken
