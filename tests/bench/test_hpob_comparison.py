"""The benchmark on a small pool: snapping, batching, peers, and that it goes on where it was killed."""

import json
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from lga.bench.cells import outcome
from lga.bench.hpob import entries, games, protocol
from lga.bench.hpob.entries import Entry, Version, cell_of
from lga.bench.hpob.games import PoolGame, SurrogateGame, incumbents, rows_of
from lga.bench.hpob.peers import CMA_SIGMA, PEERS, Start, search_with_peer
from lga.bench.hpob.protocol import CHEAP_PEERS, HpobProtocol, compare_on_hpob
from lga.bench.hpob.searches import search_games
from lga.bench.methods import HAND_DESIGNED, as_shipped
from lga.tasks.hpob import Pool, Range
from lga.weights import resolve

SCREENED = ("lga-hpo", "lga-hpo-2")
GAUSSIAN = HAND_DESIGNED["gaussian_ga"].at(0.5, 1.0)


def random_pool(name, num_dims, num_rows=60, initial=True):
    draw = np.random.default_rng([num_dims, *name.encode()])
    features = draw.uniform(size=(num_rows, num_dims)).astype(np.float32)
    accuracy = 0.9 - 0.3 * np.abs(features - 0.7).mean(axis=1)
    rows = np.stack([draw.choice(num_rows, 5, replace=False) for _ in range(2)]) if initial else None
    return Pool(name, features, accuracy.astype(np.float64), rows, Range(0.5, 0.95))


POOLS = {
    pool.name: pool
    for pool in (random_pool("1_1", 2), random_pool("1_2", 2), random_pool("2_1", 4), random_pool("9_9", 2, 30, False))
}


@pytest.fixture
def small_data(monkeypatch):
    def validation(found):
        return [found["9_9"]]

    for module in (entries, protocol):
        monkeypatch.setattr(module, "load_pools", lambda: POOLS)
    monkeypatch.setattr(protocol, "validation_tasks", validation)


def test_a_point_stands_for_the_nearest_row_that_is_left():
    pool = POOLS["2_1"]
    game, draw = PoolGame(pool, "features"), np.random.default_rng(0)
    taken = [set(rows) for rows in pool.initial.tolist()]
    for _ in range(10):
        points = draw.uniform(size=(2, 3, 4))
        places, values = game.play(points)
        for seed, position in np.ndindex(2, 3):
            distance = np.sum((pool.features - points[seed, position]) ** 2, axis=1)
            distance[list(taken[seed])] = np.inf
            row = int(np.argmin(distance))
            np.testing.assert_array_equal(places[seed, position], pool.features[row].astype(np.float64))
            assert values[seed, position] == 1.0 - pool.range.normalized(pool.accuracy)[row]
            taken[seed].add(row)


def test_ranks_spread_a_crowded_pool_evenly_and_leave_switches_alone():
    draw = np.random.default_rng(1)
    features = np.column_stack([draw.uniform(size=200) ** 8, draw.integers(0, 2, 200)]).astype(np.float32)
    rows = rows_of(Pool("3_3", features, draw.uniform(size=200), None), "ranks")
    np.testing.assert_allclose(np.sort(rows[:, 0]), np.linspace(0.0, 1.0, 200), atol=1e-12)
    np.testing.assert_array_equal(rows[:, 1], features[:, 1])
    assert np.all(np.diff(rows[np.argsort(features[:, 0]), 0]) >= 0.0)


def test_both_are_ranks_and_features_and_switches_once():
    draw = np.random.default_rng(1)
    features = np.column_stack([draw.uniform(size=50) ** 8, draw.integers(0, 2, 50)]).astype(np.float32)
    pool = Pool("3_3", features, draw.uniform(size=50), None)
    rows = rows_of(pool, "both")
    np.testing.assert_array_equal(rows[:, :2], rows_of(pool, "ranks"))
    np.testing.assert_array_equal(rows[:, 2:], features[:, :1].astype(np.float64))


def test_candidates_land_where_they_would_be_evaluated(monkeypatch):
    monkeypatch.setattr(games, "BLOCK", 7)
    game, draw = PoolGame(POOLS["2_1"], "both"), np.random.default_rng(0)
    for _ in range(5):
        points = draw.uniform(size=(2, 1, game.rows.shape[1]))
        landed = game.land(points)
        np.testing.assert_array_equal(landed, game.land(points))
        np.testing.assert_array_equal(landed, game.play(points)[0])


def test_some_candidates_land_by_features_and_the_others_by_ranks():
    draw = np.random.default_rng(2)
    # Crowded near 0, with one row far out.
    features = np.append(1e-3 * draw.uniform(size=40), 1.0)[:, None].astype(np.float32)
    game = PoolGame(Pool("4_4", features, draw.uniform(size=41), None))
    landed = game.land(np.full((len(game.initial), 8, 1), 0.6))
    is_far = landed[..., 0] == 1.0
    assert is_far[:, [3, 7]].all()
    assert not is_far[:, [0, 1, 2, 4, 5, 6]].any()


def test_a_regression_never_asks_for_a_row_twice():
    pool, asked = POOLS["2_1"], []

    class Watched(PoolGame):
        def play(self, points):
            asked.append(points[0])
            return super().play(points)

    search_games(*(as_shipped(resolve("lga-hpo-2")), 4, ["2_1"], [Watched(pool, "both")]), num_trials=20, lands=True)
    rows, points = rows_of(pool, "both"), np.concatenate(asked)
    nearest = np.argmin(np.sum((points[:, None] - rows[None]) ** 2, axis=-1), axis=1)
    np.testing.assert_allclose(points, rows[nearest], atol=1e-5)
    assert len({*nearest, *pool.initial[0]}) == 25


def test_incumbents_start_from_the_initial_points_and_never_fall():
    curve = incumbents(np.array([[0.5, 0.4]]), np.array([[0.6, 0.3, 0.35, 0.1]]), 3)
    np.testing.assert_allclose(curve, [[0.6, 0.6, 0.7, 0.7]])


def test_surrogates_are_fitted_once_and_predict_their_pool(tmp_path):
    pool = POOLS["2_1"]
    game = SurrogateGame(pool, tmp_path)
    (file,) = tmp_path.iterdir()
    before = file.stat().st_mtime_ns
    again = SurrogateGame(pool, tmp_path)
    assert file.stat().st_mtime_ns == before
    points = pool.features[None, :20].astype(np.float64)
    np.testing.assert_array_equal(game.play(points)[1], again.play(points)[1])
    np.testing.assert_allclose(
        game.play(points)[1][0], 1.0 - pool.surrogate_range.normalized(pool.accuracy[:20]), atol=0.02
    )


@pytest.mark.parametrize("method", [GAUSSIAN, *map(as_shipped, map(resolve, SCREENED))], ids=["gaussian", *SCREENED])
def test_tasks_that_are_searched_together_do_not_influence_each_other(method):
    names = ["1_1", "1_2"]

    def curves(names):
        return search_games(method, 4, names, [PoolGame(POOLS[name]) for name in names], num_trials=10)

    together = curves(names)
    assert together.shape == (2, 2, 11)
    np.testing.assert_allclose(together, np.concatenate([curves([name]) for name in names]), atol=1e-6)


def test_coordinates_that_no_task_looks_at_change_nothing():
    small = search_games(GAUSSIAN, 4, ["1_1"], [PoolGame(POOLS["1_1"])], num_trials=10)
    names = ["1_1", "2_1"]
    mixed = search_games(GAUSSIAN, 4, names, [PoolGame(POOLS[name]) for name in names], num_trials=10)
    np.testing.assert_allclose(mixed[:1], small, atol=1e-6)


def test_both_starts_end_above_their_initial_points():
    for start in ("initial", "centre"):
        curves = search_games(GAUSSIAN, 4, ["1_1"], [PoolGame(POOLS["1_1"])], num_trials=30, start=start)
        assert np.all(np.diff(curves) >= 0.0)
        assert curves[..., -1].mean() > curves[..., 0].mean()


@pytest.mark.parametrize("name", CHEAP_PEERS)
def test_a_peer_repeats_its_search_and_beats_its_start(name):
    first, again = (search_with_peer(name, PoolGame(POOLS["2_1"]), 20) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert first[:, -1].mean() > first[:, 0].mean()


@pytest.mark.parametrize("name", CHEAP_PEERS)
def test_a_peer_stays_in_the_box(name):
    draw = np.random.default_rng(0)
    peer = PEERS[name](Start(draw.uniform(size=(5, 3)), draw.uniform(size=5), 0, 12))
    for _ in range(12):
        point = peer.ask()
        assert np.all((point >= -1e-9) & (point <= 1.0 + 1e-9))
        peer.tell(point, np.round(point, 1), float(np.sum(point)))
    assert 0.0 < CMA_SIGMA < 0.5


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # Of its scratch folder, which goes with it.
def test_smac_is_asked_once_for_each_point(monkeypatch):
    facade, asked = pytest.importorskip("smac").HyperparameterOptimizationFacade, []
    original = facade.ask
    monkeypatch.setattr(facade, "ask", lambda self: asked.append(original(self)) or asked[-1])
    draw = np.random.default_rng(0)
    point = PEERS["SMAC"](Start(draw.uniform(size=(5, 3)), draw.uniform(size=5), 0, 12)).ask()
    assert len(asked) == 1
    np.testing.assert_array_equal(point, [asked[0].config[name] for name in ("x00", "x01", "x02")])


@pytest.mark.usefixtures("small_data")
def test_a_killed_comparison_goes_on_and_ends_with_the_same_report(tmp_path, monkeypatch):
    settings = HpobProtocol(num_trials=8, populations=(4,), designed=("gaussian_ga",), peers=("CMA-ES (pycma)",))
    monkeypatch.setattr(protocol, "UNIT_SIGMAS", (0.1, 0.5))
    monkeypatch.setattr(protocol, "ELITE_RATIOS", (0.5,))
    weights, console = [resolve("lga-hpo")], Console(quiet=True)
    compare_on_hpob(settings, weights, None, tmp_path / "whole", console)

    def killed(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(entries, "search_with_peer", killed)
        with pytest.raises(KeyboardInterrupt):
            compare_on_hpob(settings, weights, None, tmp_path / "killed", console)
    done = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "killed/cells").iterdir()}
    compare_on_hpob(settings, weights, None, tmp_path / "killed", console)
    assert all((tmp_path / "killed/cells" / name).stat().st_mtime_ns == when for name, when in done.items())
    whole, resumed = (json.loads((tmp_path / name / "discrete.json").read_text()) for name in ("whole", "killed"))
    for report in (whole, resumed):
        for row in report["rows"]:
            row.pop("seconds")
    assert whole == resumed
    assert whole["first"] == "lga-hpo"
    assert whole["num_tasks"] == 3
    # Another method beside what is known of these.
    alone = replace(settings, designed=(), peers=())
    earlier = tmp_path / "whole/discrete.json"
    compare_on_hpob(alone, [resolve("lga-hpo-2")], None, tmp_path / "later", console, earlier=earlier)
    later = json.loads((tmp_path / "later/discrete.json").read_text())
    assert [row["method"] for row in later["rows"]] == ["lga-hpo-2", *(row["method"] for row in whole["rows"])]
    assert {who: later["tasks"][who] for who in whole["tasks"]} == whole["tasks"]
    with pytest.raises(ValueError, match="was measured on other tasks earlier"):
        compare_on_hpob(
            replace(alone, tasks=("1_1",)), [resolve("lga-hpo-2")], None, tmp_path / "some", console, earlier=earlier
        )


@pytest.mark.usefixtures("small_data")
def test_cells_know_the_pool_that_they_were_computed_on(tmp_path):
    version = Version("discrete", 5, tmp_path)
    entry = Entry("random search")
    first = cell_of(entry, version, [POOLS["1_1"]])
    assert outcome(first, tmp_path)["incumbents"].shape == (1, 2, 6)
    assert first.file(tmp_path) != cell_of(entry, version, [POOLS["1_2"]]).file(tmp_path)
