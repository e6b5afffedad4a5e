"""Ask, tell in parts and in any order, forget, save and load in any sequence, against a simple model and a twin.

The twin is told each generation in one piece, in the order of asking, and is never saved: its state must be the same.
"""

import math
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import lga
from lga.core.tree_io import digest

BOX = [(-5.0, 5.0), (0.0, 20.0)]
SIZE = 4
values = st.one_of(
    st.floats(-1e6, 1e6), st.sampled_from([0.0, 1.0]), st.sampled_from([math.nan, math.inf, -math.inf, None])
)


class AskAndTell(RuleBasedStateMachine):
    @initialize(seed=st.integers(0, 3), noisy=st.booleans())
    def start(self, seed, noisy):
        options = {"seed": seed, "popsize": SIZE, "algorithm": "samr_ga", "reevaluate": int(noisy)}
        self.optimizer, self.twin = (lga.Optimizer(BOX, **options) for _ in range(2))
        self.noisy = noisy
        self.asked = np.zeros((0, 2))
        self.outcomes: dict[int, float | None] = {}
        self.successes: list[float] = []
        self.told = self.failed = self.generations = 0

    def waiting(self):
        return [position for position in range(len(self.asked)) if position not in self.outcomes]

    def learn(self, outcomes):
        """The model's own bookkeeping of some outcomes by position."""
        self.outcomes |= outcomes
        good = [value for value in outcomes.values() if value is not None and math.isfinite(value)]
        self.told, self.failed = self.told + len(outcomes), self.failed + len(outcomes) - len(good)
        self.successes += good
        if len(self.asked) and not self.waiting():
            np.testing.assert_array_equal(self.twin.ask(), self.asked)
            self.twin.tell(self.asked, [self.outcomes[position] for position in range(len(self.asked))])
            assert digest(self.twin.state) == digest(self.optimizer.state)
            self.asked, self.outcomes, self.generations = np.zeros((0, 2)), {}, self.generations + 1

    @rule()
    def ask(self):
        solutions = self.optimizer.ask()
        if not len(self.asked):
            self.asked = solutions
            assert len(solutions) >= SIZE
        np.testing.assert_array_equal(solutions, self.asked[self.waiting()])

    @precondition(lambda self: len(self.waiting()) > 0)
    @rule(data=st.data())
    def tell(self, data):
        chosen = data.draw(st.lists(st.sampled_from(self.waiting()), unique=True, min_size=1))
        told = data.draw(st.lists(values, min_size=len(chosen), max_size=len(chosen)))
        rows = self.asked[chosen]
        self.optimizer.tell(rows, told)
        free, outcomes = self.waiting(), {}
        for row, value in zip(rows, told, strict=True):
            # Of equal solutions the first is meant.
            position = next(one for one in free if np.array_equal(self.asked[one], row))
            free.remove(position)
            outcomes[position] = value
        self.learn(outcomes)

    @rule()
    def forget(self):
        self.optimizer.forget()
        self.learn(dict.fromkeys(self.waiting()))

    @rule()
    def save_and_load(self):
        with tempfile.TemporaryDirectory() as folder:
            self.optimizer.save(Path(folder) / "run")
            loaded = lga.Optimizer.load(Path(folder) / "run")
        assert digest(loaded.state) == digest(self.optimizer.state)
        assert loaded.state.examples == self.optimizer.state.examples
        assert loaded.search.settings == self.optimizer.search.settings
        self.optimizer = loaded

    @invariant()
    def counts_and_best_are_those_of_the_model(self):
        assert self.optimizer.evaluations == self.told
        assert sum(self.optimizer.failures.values()) == self.failed
        assert self.optimizer.generation == self.generations
        best = self.optimizer.best_value
        if self.noisy:
            assert math.isnan(best) or min(self.successes) <= best <= max(self.successes)
        elif self.successes:
            assert best == min(self.successes)
        else:
            assert math.isnan(best)


AskAndTell.TestCase.settings = settings(max_examples=30, stateful_step_count=30)
TestAskAndTell = AskAndTell.TestCase
