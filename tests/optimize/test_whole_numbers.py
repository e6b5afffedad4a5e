"""Whole numbers go on changing when rates have become small, and no point is evaluated twice without need."""

import numpy as np

from lga.optimize.bounds import make_space
from lga.optimize.minimize import minimize
from lga.optimize.whole import mark_of, neighbour, with_marks, with_moves

BITS = make_space([(0, 1)] * 6, integrality=True)
MIXED = make_space([(0, 9), (0, 4), (-1.0, 1.0)], integrality=[True, True, False], categories=[False, True, False])
NOTHING = np.zeros(0, np.uint64)


def test_a_neighbour_has_other_whole_numbers_within_the_bounds():
    generator, start = np.random.default_rng(0), np.array([9.0, 2.0, 0.5])
    found = np.array([neighbour(generator, MIXED, np.array([0, 1]), start) for _ in range(500)])
    assert (np.any(found[:, :2] != start[:2], axis=1)).all()
    assert (found >= MIXED.low).all()
    assert (found <= MIXED.high).all()
    assert (found[:, 2] == start[2]).all()
    assert len(np.unique(found[:, 0])) == 10


def test_things_in_no_order_are_all_equally_near():
    generator, start = np.random.default_rng(0), np.array([0.0, 0.0, 0.5])
    found = [neighbour(generator, MIXED, np.array([1]), start)[1] for _ in range(4000)]
    shares = np.bincount(np.array(found, int), minlength=5)[1:] / len(found)
    np.testing.assert_allclose(shares, 0.25, atol=4 * np.sqrt(0.25 * 0.75 / len(found)))


def test_children_that_all_stand_for_one_point_become_different_ones():
    same = np.zeros((16, 6))
    moved = with_moves(np.random.default_rng(0), BITS, same, same[0], same[:1], NOTHING)
    assert len(np.unique(BITS.decode(moved), axis=0)) == 16


def test_points_that_were_seen_are_not_asked_for_again_while_there_are_others():
    every = np.array(np.meshgrid(*[[0.0, 1.0]] * 6)).reshape(6, -1).T
    left = every[[3, 40]]
    seen = with_marks(NOTHING, BITS, every[[row for row in range(64) if row not in (3, 40)]])
    generator, start = np.random.default_rng(0), np.stack([BITS.encode(row) for row in every[:2]])
    asked = BITS.decode(np.concatenate([with_moves(generator, BITS, start, start[0], start, seen) for _ in range(30)]))
    assert {mark_of(row) for row in left} & {mark_of(row) for row in asked}


def test_real_variables_keep_the_children_that_the_algorithm_meant():
    meant = np.random.default_rng(1).normal(size=(40, 3))
    moved = with_moves(np.random.default_rng(0), MIXED, meant, meant[0], meant[:4], NOTHING)
    np.testing.assert_array_equal(moved[:, 2], meant[:, 2])


def test_a_search_over_switches_evaluates_each_point_once():
    weights = np.array([3.0, -1.0, 4.0, -1.0, 5.0, -9.0, 2.0, -6.0])
    result = minimize(
        lambda x: float(weights @ x), [(0, 1)] * 8, integrality=True, max_evaluations=96, popsize=8, seed=0
    )
    assert result.fun == -17.0
    assert len(np.unique(result.evaluations.x, axis=0)) > 90


def test_marks_survive_a_checkpoint(tmp_path):
    def fun(x):
        return float(np.sum((x - 2) ** 2) + 3 * (x[0] == x[1]))

    options = {"integrality": True, "max_evaluations": 80, "popsize": 8, "seed": 0}
    whole = minimize(fun, [(0, 5)] * 8, **options)
    minimize(fun, [(0, 5)] * 8, **options, checkpoint=tmp_path / "run", callback=lambda so_far: so_far.nit == 4)
    parts = minimize(fun, [(0, 5)] * 8, **options, checkpoint=tmp_path / "run")
    np.testing.assert_array_equal(parts.evaluations.x, whole.evaluations.x)
