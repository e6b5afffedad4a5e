"""From one state of a search to the next: a generation is opened, outcomes are noted, and it is completed."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int, UInt32

from lga.algorithms.genetic import has_parents
from lga.optimize.bounds import usual_arithmetic, within_floats
from lga.optimize.noise import TWICE, YES, confirmed, looks_for_noise, verdict
from lga.optimize.options import Search
from lga.optimize.programs import key_words, num_parents
from lga.optimize.records import Elites, best_elite, means, pruned, seen_axis_ratio, to_try_again, with_row, with_values
from lga.optimize.scores import INFEASIBLE, LARGEST, feasible, least, relation, relative, score_of
from lga.optimize.state import Best, Pending, Run, SearchState, first_state, new_run, no_points, nothing_pending
from lga.optimize.warm import checked_points, taken_in, with_known, with_shape_of
from lga.optimize.whole import as_meant, with_marks, with_moves
from lga.optimize.worker import FAILURES, Noted

# Coordinates of size 5 have a resolution of 9e-16: below that, mutation does nothing.
SMALLEST_RATE = 1e-15
# Improvements by less than this share of the value are not worth going on for.
SMALLEST_GAIN = 1e-12
# A run that is behind the best by as many times the range of its generation's values will not catch up.
HOPELESS = 30.0
# Children are alike if their values differ by rounding alone, as a share of the value, and they lie as close as this in
# boxes of side 10, which a plateau does not make them; for as many generations without improvement.
ALIKE, CLOSE, SMALLEST_WAIT = 1e-14, 1e-3, 5
# Of the digits of a solution, in relation to its size, that may be lost until its value is told: single precision.
ROUNDING = 1e-6


@usual_arithmetic
def open_generation(search: Search, state: SearchState) -> SearchState:
    """With solutions that wait for values; if there are such already, the same."""
    if state.pending.known.size:
        return state
    if state.run.algorithm is None and state.known.values.size:
        state = begun(search, state)
    space, run, x0 = search.space, state.run, search.space.x0
    if run.algorithm is None:
        generator = np.random.Generator(np.random.Philox(step_key(search, state, "start")))
        coordinates = space.first_population(generator, search.size(state.restarts))
        if x0 is not None and state.restarts == 0:
            coordinates[: len(x0)] = [space.encode(point) for point in x0]
    else:
        children, algorithm = search.programs(state.restarts).ask(step_key(search, state, "ask"), run.algorithm)
        run = replace(run, children=children, algorithm=algorithm)
        coordinates = moved(search, state, run, within_floats(children.solutions))
    solutions = space.decode(coordinates)
    if x0 is not None and state.generation == 0:
        solutions[: len(x0)] = x0
    again = to_try_again(state.elites, 0 if run.algorithm is None else search.options.reevaluate)
    if looks_for_noise(search, state):
        twice = np.zeros(TWICE)
        again = Elites(coordinates[:TWICE], solutions[:TWICE], twice.astype(int), twice, twice)
    if len(again.mean):
        coordinates = np.concatenate([coordinates, again.coordinates])
        solutions = np.concatenate([solutions, again.solutions])
    pending = Pending(
        coordinates,
        solutions,
        values=np.full(len(solutions), math.nan),
        tries=np.zeros(len(solutions), np.int64),
        known=np.zeros(len(solutions), bool),
    )
    return replace(state, run=run, pending=pending)


def moved(search: Search, state: SearchState, run: Run, coordinates: Float[np.ndarray, "n d"]) -> Any:
    """Children whose whole numbers may be others than the algorithm meant. What screens has steps of its own."""
    if search.screens or not search.space.movable.size:
        return coordinates
    generator = np.random.Generator(np.random.Philox(step_key(search, state, "whole")))
    best = np.asarray(run.algorithm.progress.best_solution)
    parents = np.asarray(run.algorithm.parents.solutions) if has_parents(run.algorithm) else best[None]
    return with_moves(generator, search.space, coordinates, best, parents, state.seen)


def starting_state(search: Search) -> SearchState:
    """Nothing asked; known is what was given."""
    state, options = first_state(search), search.options
    if options.x_init is None:
        return state
    rows, values = checked_points(search.space, options.x_init, search.sign * np.asarray(options.y_init))
    return with_known(search.space, state, rows, values)


def begun(search: Search, state: SearchState) -> SearchState:
    """A run whose first population is what is known already."""
    run = learned(search, replace(state, pending=nothing_pending(search.space.num_dims)), state.run, np.zeros(0))
    reference = least(state.known.values)
    return replace(state, run=marked(replace(run, reference=reference)), known=no_points(search.space.num_dims))


@usual_arithmetic
def note(search: Search, state: SearchState, noted: Sequence[Noted]) -> SearchState:
    """Counts evaluations, in the order of their ends. Many at once: the bookkeeping of one takes as long as of all."""
    pending, failures, examples, best = state.pending, state.failures.copy(), state.examples, state.best
    values, tries, known = (column.copy() for column in (pending.values, pending.tries, pending.known))
    single = search.options.reevaluate == 0 or state.generation == 0
    for position, outcome, is_final in noted:
        value = score_of(outcome.violation) if outcome.violation else min(search.sign * outcome.value, LARGEST)
        values[position], known[position] = value, is_final
        tries[position] += 1
        # Noisy values are compared by their means, when the generation is complete; until the first one is, a single
        # value must do. Of equal values the first one asked for is the best, whatever the order of telling.
        when = (value, state.generation, position)
        if outcome.failure is not None:
            failures[FAILURES.index(outcome.failure)] += 1
            examples = examples.with_one((state.generation, position, outcome.failure, outcome.text))
        elif single and when < (best.value, best.generation, best.position):
            best = Best(value, pending.solutions[position], 1, state.generation, position)
    pending = replace(pending, values=values, tries=tries, known=known)
    evaluations = state.evaluations + len(noted)
    return replace(state, evaluations=evaluations, pending=pending, failures=failures, examples=examples, best=best)


def give_up(state: SearchState, positions: list[int]) -> SearchState:
    """What has failed is not tried again."""
    return replace(state, pending=replace(state.pending, known=with_entry(state.pending.known, positions, True)))


@usual_arithmetic
def complete(search: Search, state: SearchState) -> SearchState:
    """Learns from a generation whose outcomes are all known."""
    if state.confirming:
        return replace(confirmed(state), pending=nothing_pending(search.space.num_dims), confirming=False)
    pending, run, elites, best = state.pending, state.run, state.elites, state.best
    size, again = search.size(state.restarts), search.options.reevaluate
    values = pending.values[:size]
    if again and run.algorithm is not None:
        elites = with_values(elites, pending.coordinates[size:], pending.solutions[size:], pending.values[size:])
        if has_parents(run.algorithm):
            parent_values = means(elites, np.asarray(run.algorithm.parents.solutions), run.parent_values)
            run = replace(run, parent_values=parent_values, reference=least(parent_values))
    starts = run.algorithm is None
    run = learned(search, state, run, values)
    # What a run starts from, its first generation, has the known points already.
    known = state.known
    if known.values.size:
        run = run if starts else taken_in(state, run, *frame(search, run))
        known = no_points(search.space.num_dims)
    by_mean = again > 0 and has_parents(run.algorithm)
    reference = least(run.parent_values) if by_mean else min(run.reference, least(values))
    if again:
        elites = with_values(elites, pending.coordinates[:size], pending.solutions[:size], values)
        own = np.asarray(run.algorithm.parents.solutions) if by_mean else pending.coordinates[:size]
        elites = pruned(elites, own, again)
        place = best_elite(elites)
        if place is not None:
            mean, count = float(elites.mean[place]), int(elites.count[place])
            when = state.generation if mean < best.value else best.generation
            best = Best(mean, elites.solutions[place], count, when, 0)
    generation_best = least(pending.values) if np.any(np.isfinite(pending.values)) else math.nan
    rate = math.nan if run.children is None else float(np.mean(run.children.sigma))
    told = [search.sign * value if value < INFEASIBLE else math.nan for value in (best.value, generation_best)]
    shape = seen_axis_ratio(getattr(run.algorithm, "shape_memory", None), state.generation, state.history)
    row = (state.evaluations, *told, rate, size, state.restarts, shape)
    after = replace(
        state,
        generation=state.generation + 1,
        best=best,
        history=with_row(state.history, state.generation, row),
        elites=elites,
        run=marked(replace(run, reference=reference)),
        pending=nothing_pending(search.space.num_dims),
        known=known,
        noisy=verdict(search, state),
        seen=state.seen if again else with_marks(state.seen, search.space, pending.solutions),
    )
    over = stagnates(search, after) or is_hopeless(search, after, values) or is_collapsed(search, after, values)
    return restarted(search, after) if over else after


def learned(search: Search, state: SearchState, run: Run, values: Float[np.ndarray, " n"]) -> Run:
    """`tell` of the algorithm, on values relative to the best so far: small differences of large values then count."""
    programs, coordinates = search.programs(state.restarts), state.pending.coordinates[: len(values)]
    if run.algorithm is None:
        values = np.concatenate([values, state.known.values])
        coordinates = np.concatenate([coordinates, state.known.coordinates])
        fitness = relative(values, *frame(search, run, values))
        algorithm = programs.init(step_key(search, state, "init"), coordinates, fitness)
        algorithm = with_shape_of(algorithm, state.known)
        order = np.argsort(fitness, kind="stable")
        return replace(
            run, algorithm=algorithm, parent_values=values[order[np.arange(num_parents(algorithm)) % len(values)]]
        )
    meant = within_floats(run.children.solutions)
    coordinates, values = as_meant(search.space, meant, coordinates, values, run.reference)
    everything = np.concatenate([values, run.parent_values])
    reference, scale = frame(search, run, everything)
    told = relative(np.append(everything, run.reference), reference, scale)
    fitness, parents, best = told[: len(values)], told[len(values) : -1], told[-1]
    key = step_key(search, state, "tell")
    algorithm = programs.tell(key, run.algorithm, run.children, coordinates, fitness, parents, best)
    survivors = everything[algorithm.survivor_index] if has_parents(algorithm) else run.parent_values
    return replace(run, algorithm=algorithm, parent_values=survivors)


def frame(search: Search, run: Run, values: Float[np.ndarray, " n"] | None = None) -> tuple[float, float]:
    """What values are told relative to, and in which unit. Screening compares values of all generations, and sees only
    their ranks: it is told the values themselves."""
    if search.screens:
        return 0.0, 1.0
    return relation(run.parent_values if values is None else values, run.reference)


def marked(run: Run) -> Run:
    """Counts the generations since the run last improved."""
    gain = SMALLEST_GAIN * abs(run.reference) if math.isfinite(run.reference) else 0.0
    if run.reference < run.mark - gain or not math.isfinite(run.mark):
        return replace(run, mark=run.reference, waited=0)
    return replace(run, waited=run.waited + 1)


def stagnates(search: Search, state: SearchState) -> bool:
    """A run that no longer improves, or whose mutations have become too small to move anything."""
    run = state.run
    if run.waited >= 40 + 4 * search.space.num_dims:
        return True
    if run.children is None or search.options.algorithm == "random_search":
        return False
    return bool(np.max(run.children.sigma) < SMALLEST_RATE)


def is_hopeless(search: Search, state: SearchState, values: Float[np.ndarray, " n"]) -> bool:
    """A run that converges to something worse than an earlier one has found: its children agree by far more."""
    own, reference = feasible(values), state.run.reference
    if (
        search.options.reevaluate
        or state.noisy == YES
        or own.size < max(2, len(values) // 2)
        or not reference < INFEASIBLE
    ):
        return False
    return bool(reference - state.best.value > HOPELESS * np.ptp(own))


def is_collapsed(search: Search, state: SearchState, values: Float[np.ndarray, " n"]) -> bool:
    """A run whose children can be told apart neither by their values nor by where they are: it has nothing to find.
    Whole numbers go on being moved, and noise tells equal ones apart."""
    run = state.run
    if run.waited < SMALLEST_WAIT or run.children is None or search.space.movable.size:
        return False
    if search.options.reevaluate or state.noisy == YES or feasible(values).size < len(values):
        return False
    are_alike = np.ptp(values) <= ALIKE * abs(run.reference)
    return bool(are_alike and np.max(np.ptp(run.children.solutions, axis=0)) <= CLOSE)


def restarted(search: Search, state: SearchState) -> SearchState:
    allowed = search.options.restarts
    if allowed is not None and state.restarts >= allowed:
        return replace(state, stagnated=True)
    return replace(state, restarts=state.restarts + 1, run=new_run())


@usual_arithmetic
def population(search: Search, state: SearchState) -> tuple[Float[np.ndarray, "e d"], Float[np.ndarray, " e"]]:
    """The parents of the current run and their values. Where values are not noisy the best so far is among them: if it
    is no parent, it has the place of the worst."""
    if not has_parents(state.run.algorithm):
        return np.zeros((0, search.space.num_dims)), np.zeros(0)
    parents, values = search.space.decode(np.asarray(state.run.algorithm.parents.solutions)), state.run.parent_values
    if search.options.reevaluate == 0 and state.noisy != YES and state.best.value < least(values):
        worst = int(np.argmax(np.where(np.isfinite(values), values, math.inf)))
        parents[worst], values = state.best.solution, with_entry(values, worst, state.best.value)
    return parents, search.sign * values


def step_key(search: Search, state: SearchState, purpose: str) -> UInt32[np.ndarray, "2"]:
    assert search.options.seed is not None
    return key_words(search.options.seed, state.generation, purpose)


@usual_arithmetic
def positions_of(pending: Pending, rows: Float[np.ndarray, "m d"]) -> list[int | None]:
    """Where in the generation the given solutions are; None for those that it does not have.

    Equal ones are taken one after the other. A solution that has lost some digits on its way is the nearest of those
    that it may be.
    """
    found: dict[int, int] = {}
    exact: dict[bytes, list[int]] = {}
    for position in reversed(pending.missing):
        exact.setdefault(pending.solutions[position].tobytes(), []).append(position)
    for number, row in enumerate(rows):
        if same := exact.get(row.tobytes()):
            found[number] = same.pop()
    free = np.array(sorted(position for same in exact.values() for position in same), int)
    near = [
        (distance, number, position)
        for number in range(len(rows))
        if number not in found
        for distance, position in neighbours(pending.solutions, free, rows[number])
    ]
    for _, number, position in sorted(near):
        if number not in found and position not in found.values():
            found[number] = position
    return [found.get(number) for number in range(len(rows))]


def neighbours(
    solutions: Float[np.ndarray, "n d"], free: Int[np.ndarray, " m"], row: Float[np.ndarray, " d"]
) -> list[tuple[float, int]]:
    """The positions, among some, of solutions that the row may have been before it was rounded, with distances."""
    scale = np.abs(solutions[free])
    apart = np.abs(solutions[free] - row)
    is_near = np.all(apart <= ROUNDING * scale, axis=1)
    furthest = np.max(apart / np.where(scale > 0.0, scale, 1.0), axis=1, initial=0.0)
    return list(zip(furthest[is_near].tolist(), free[is_near].tolist(), strict=True))


def with_entry(array: np.ndarray, place: Any, value: Any) -> np.ndarray:
    changed = array.copy()
    changed[place] = value
    return changed
