"""HPO-B: files in both of their forms, pools, initial points; and, where the real data are, what must hold of them."""

import hashlib
import io
import json
import zipfile
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest

from lga.tasks import hpob
from lga.tasks.hpob import HpobMissing, files, load_pools, pools, validation_tasks

PUBLISHED = Path(__file__).parents[2] / "results/hpob/published.json"
SPACE, DATASET, NUM_ROWS = "5970", "37", 40
VALIDATION = "4796_9906"


def random_table(seed, num_dims):
    draw = np.random.default_rng(seed)
    return draw.uniform(size=(NUM_ROWS, num_dims)), np.round(draw.uniform(0.5, 0.9, NUM_ROWS), 3)


def json_table(x, y):
    return {"X": x.tolist(), "y": y[:, None].tolist()}


def initial_indices():
    return {f"test{seed}": list(range(5 * seed, 5 * seed + 5)) for seed in range(5)}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty data directory, on a machine that reaches nothing and has no such package."""

    def unreachable(url, timeout):
        raise URLError("no route to host")

    monkeypatch.setenv("LGA_DATA", str(tmp_path))
    monkeypatch.setattr(files, "urlopen", unreachable)
    monkeypatch.setattr(files, "PACKAGE", "a-package-that-is-nowhere==0")
    monkeypatch.setattr(files.importlib.util, "find_spec", lambda name: None)
    (tmp_path / "hpob").mkdir()
    load_pools.cache_clear()
    yield tmp_path / "hpob"
    load_pools.cache_clear()


def put(folder, monkeypatch, name, content):
    (folder / name).write_bytes(content)
    monkeypatch.setitem(files.SHA256, name, hashlib.sha256(content).hexdigest())


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, value in members.items():
            archive.writestr(name, json.dumps(value))
    return buffer.getvalue()


@pytest.fixture
def archives(folder, monkeypatch):
    """The authors' archives, with two small tasks."""
    x, y = random_table(0, 2)
    space, dataset = VALIDATION.split("_")
    put(
        *(folder, monkeypatch, files.DATA_ARCHIVE),
        zipped(
            {
                "hpob-data/meta-test-dataset.json": {SPACE: {DATASET: json_table(x, y)}},
                "hpob-data/meta-train-dataset.json": {space: {dataset: json_table(*random_table(1, 3))}},
                "hpob-data/meta-validation-dataset.json": {},
                "hpob-data/bo-initializations.json": {SPACE: {DATASET: initial_indices()}},
            }
        ),
    )
    ranges = {f"surrogate-{SPACE}-{DATASET}": {"y_min": 0.4, "y_max": 1.0}}
    put(folder, monkeypatch, files.SURROGATE_ARCHIVE, zipped({"saved-surrogates/summary-stats.json": ranges}))
    return x, y


@pytest.fixture
def package(folder, monkeypatch):
    """The package's array with a logged column, and the small files beside it."""
    x, y = random_table(0, 2)
    logged = np.log(x[:, 1] + 1e-6)
    a, b = logged.min(), np.ptp(logged)
    name = f"{SPACE}_{DATASET}"
    buffer = io.BytesIO()
    table = np.column_stack([x[:, 0], (logged - a) / b, y]).astype(np.float32)
    np.savez(buffer, **{name: table})
    put(folder, monkeypatch, files.POOLS, buffer.getvalue())
    points = {
        f"{name}_{seed}": {"X": x[rows].tolist(), "y": y[rows].tolist()}
        for seed, rows in enumerate(initial_indices().values())
    }
    small = {
        files.INITIAL_POINTS: points,
        files.RANGES: {f"surrogate-{SPACE}-{DATASET}": {"y_min": 0.4, "y_max": 1.0}},
        files.LOGARITHMS: {name: {"lambda": {"dim": 1, "a": float(a), "b": float(b)}}},
    }
    for file, value in small.items():
        put(folder, monkeypatch, file, json.dumps(value).encode())
    return x, y


def check_pool(x, y):
    pool = load_pools()[f"{SPACE}_{DATASET}"]
    np.testing.assert_allclose(pool.features, x, atol=1e-5)
    np.testing.assert_allclose(pool.accuracy, y, atol=1e-6)
    np.testing.assert_array_equal(pool.initial, list(initial_indices().values()))
    assert pool.surrogate_range == pools.Range(0.4, 1.0)
    assert [one.name for one in hpob.test_tasks(load_pools())] == [pool.name]


def test_the_archives_hold_pools_initial_rows_and_ranges(archives):
    check_pool(*archives)
    assert [pool.name for pool in validation_tasks(load_pools())] == [VALIDATION]
    assert load_pools()[VALIDATION].initial is None


def test_logarithms_of_the_package_are_undone_and_initial_rows_found(package):
    check_pool(*package)


def test_a_damaged_file_is_named(package, folder):
    (folder / files.RANGES).write_text("{}")
    with pytest.raises(ValueError, match=r"summary-stats\.json is damaged"):
        load_pools()


def test_a_damaged_archive_is_named(archives, folder):
    (folder / files.DATA_ARCHIVE).write_bytes(b"nonsense")
    with pytest.raises(ValueError, match=r"hpob-data\.zip is damaged"):
        load_pools()


@pytest.mark.usefixtures("folder")
def test_without_any_data_one_sentence_says_what_to_do():
    with pytest.raises(HpobMissing, match=r"cannot be reached: put hpob-data\.zip .* or point LGA_DATA at a folder"):
        load_pools()


def test_without_the_package_one_sentence_says_what_to_do(package, folder):
    (folder / files.POOLS).unlink()
    with pytest.raises(HpobMissing, match="pip cannot fetch"):
        load_pools()


def test_numeric_columns_are_in_the_order_of_initial_points():
    assert pools.numeric_columns("4796") == [2, 1, 0]
    assert pools.numeric_columns("5527") == [0, 1, 3]


def test_values_are_normalized_and_clipped_to_the_range():
    np.testing.assert_allclose(pools.Range(0.5, 0.9).normalized([0.4, 0.7, 1.0]), [0.0, 0.5, 1.0])


# The real data.


@pytest.fixture(scope="module")
def real():
    load_pools.cache_clear()
    if not (files.has_archives() or files.has_small_files()):
        pytest.skip(files.missing_sentence("this test does not fetch them"))
    try:
        return load_pools()
    except HpobMissing as error:
        pytest.skip(str(error))


def test_all_starting_incumbents_are_the_published_ones(real):
    published = json.loads(PUBLISHED.read_text())
    tasks = [pool for pool in hpob.test_tasks(real) if pool.name in published["discrete"]["Random"]]
    assert sum(pool.initial.shape[0] for pool in tasks) == 390
    for pool in tasks:
        starts = pool.accuracy[pool.initial].max(axis=1)
        expected = published["discrete"]["Random"][pool.name][0]
        assert pool.range.normalized(starts).mean() == pytest.approx(expected, abs=2e-5)


def test_no_initial_row_is_given_twice(real):
    assert all(len(set(rows)) == 5 for pool in hpob.test_tasks(real) for rows in pool.initial.tolist())


def test_validation_tasks_are_no_test_tasks(real):
    assert len(validation_tasks(real)) == 10
    assert not {pool.name for pool in validation_tasks(real)} & {pool.name for pool in hpob.test_tasks(real)}
