"""Image files: what they hold, and what is said when they are damaged or missing."""

import gzip
import hashlib
import io
import struct
from urllib.error import URLError

import numpy as np
import pytest

from lga.tasks import data
from lga.tasks.data import TEST_IMAGES, TEST_LABELS, TRAIN_IMAGES, TRAIN_LABELS, parse_idx


def idx(array):
    return bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


class Response(io.BytesIO):
    """What a mirror answers."""

    def geturl(self):
        return "https://example.org"


@pytest.fixture
def files():
    generator = np.random.default_rng(0)
    return {
        TRAIN_IMAGES: generator.integers(0, 256, (20, 28, 28), dtype=np.uint8),
        TRAIN_LABELS: generator.integers(0, 10, 20, dtype=np.uint8),
        TEST_IMAGES: generator.integers(0, 256, (10, 28, 28), dtype=np.uint8),
        TEST_LABELS: generator.integers(0, 10, 10, dtype=np.uint8),
    }


@pytest.fixture
def folder(files, tmp_path, monkeypatch):
    """A data directory with a small data set under the name of MNIST, on a machine without network."""

    def unreachable(url, timeout):
        raise URLError("no route to host")

    sums = {name: hashlib.sha256(idx(array)).hexdigest() for name, array in files.items()}
    monkeypatch.setitem(data.SOURCES, "mnist", data.SOURCES["mnist"]._replace(sha256=sums))
    monkeypatch.setattr(data, "urlopen", unreachable)
    monkeypatch.setenv("LGA_DATA", str(tmp_path))
    (tmp_path / "mnist").mkdir()
    for name, array in files.items():
        (tmp_path / "mnist" / name).write_bytes(gzip.compress(idx(array)))
    return tmp_path / "mnist"


def test_images_and_labels_come_back_as_they_were_written(folder, files):
    images = data.load_images("mnist")
    np.testing.assert_allclose(images.train[..., 0] * 255.0, files[TRAIN_IMAGES], atol=1e-4)
    np.testing.assert_array_equal(images.test_labels, files[TEST_LABELS])
    assert images.note == ""


def test_halved_images_are_means_of_four_pixels(folder, files):
    halved = data.halved(data.load_images("mnist"))
    assert halved.train.shape == (20, 14, 14, 1)
    corner = files[TRAIN_IMAGES][3, :2, :2].mean() / 255.0
    np.testing.assert_allclose(halved.train[3, 0, 0, 0], corner, rtol=1e-5)


def test_a_damaged_file_is_named(folder):
    path = folder / TEST_IMAGES
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(bytes(content))
    with pytest.raises(ValueError, match=rf"{TEST_IMAGES} is damaged.*fetched anew"):
        data.load_images("mnist")


def test_a_cut_off_file_is_named(folder):
    path = folder / TEST_LABELS
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(ValueError, match=f"{TEST_LABELS} is damaged"):
        data.load_images("mnist")


def test_another_file_is_refused_by_its_checksum(folder, files):
    (folder / TEST_LABELS).write_bytes(gzip.compress(idx(files[TEST_LABELS] + 1)))
    with pytest.raises(ValueError, match="its SHA-256 is not the expected one"):
        data.load_images("mnist")


def test_a_missing_file_without_network_says_what_to_do(folder):
    (folder / TEST_IMAGES).unlink()
    with pytest.raises(OSError, match=r"is missing and https://.* cannot be reached .no route to host.*LGA_DATA"):
        data.load_images("mnist")


def test_missing_train_images_may_split_the_test_images_and_the_note_says_so(folder, files, monkeypatch):
    (folder / TRAIN_IMAGES).unlink()
    with pytest.raises(OSError, match=f"{TRAIN_IMAGES} is missing"):
        data.load_images("mnist")
    monkeypatch.setitem(data.SOURCES, "mnist", data.SOURCES["mnist"]._replace(splits_test_images=True))
    images = data.load_images("mnist")
    assert len(images.train) == 8
    assert len(images.test) == 2
    np.testing.assert_array_equal(images.test_labels, files[TEST_LABELS][8:])
    assert "its 10 test images are split into 8 for training and 2 for testing" in images.note


def test_a_damaged_train_file_is_no_reason_to_split(folder, monkeypatch):
    monkeypatch.setitem(data.SOURCES, "mnist", data.SOURCES["mnist"]._replace(splits_test_images=True))
    (folder / TRAIN_IMAGES).write_bytes(b"nonsense")
    with pytest.raises(ValueError, match=f"{TRAIN_IMAGES} is damaged"):
        data.load_images("mnist")


def test_a_missing_file_is_fetched_and_kept(folder, files, monkeypatch):
    (folder / TEST_IMAGES).unlink()
    asked = []

    def mirror(url, timeout):
        asked.append(url)
        return Response(gzip.compress(idx(files[TEST_IMAGES])))

    monkeypatch.setattr(data, "urlopen", mirror)
    data.load_images("mnist")
    data.load_images("mnist")
    assert asked == [f"{data.SOURCES['mnist'].mirror}/{TEST_IMAGES}"]


def test_what_a_mirror_sends_is_not_kept_when_it_is_wrong(folder, monkeypatch):
    (folder / TEST_IMAGES).unlink()
    monkeypatch.setattr(data, "urlopen", lambda url, timeout: Response(gzip.compress(b"a page, not a file")))
    with pytest.raises(ValueError, match="SHA-256"):
        data.load_images("mnist")
    assert not (folder / TEST_IMAGES).exists()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\0\0\x0d\x01\0\0\0\x01\0\0\0\0", "is no IDX file of bytes: it starts with 00 00 0d 01"),
        (b"PK", "is no IDX file"),
        (b"\0\0\x08\x03\0\0", "ends in its header"),
        (b"\0\0\x08\x01\0\0\0\x05\x01\x02", "has 10 bytes, but its header promises 13"),
    ],
)
def test_idx_files_must_keep_what_their_header_promises(content, sentence):
    with pytest.raises(ValueError, match=sentence):
        parse_idx(content, "x")


def test_digits_are_split_without_overlap():
    images = data.load_digits()
    assert len(images.train) + len(images.test) == 1797
    assert images.train.shape[1:] == (8, 8, 1)
    assert images.train.min() == 0.0
    assert images.train.max() == 1.0
    assert set(images.test_labels) == set(range(10))


def test_data_are_fetched_by_https_alone(folder, monkeypatch):
    assert all(source.mirror.startswith("https://") for source in data.SOURCES.values())
    (folder / TEST_IMAGES).unlink()
    monkeypatch.setitem(data.SOURCES, "mnist", data.SOURCES["mnist"]._replace(mirror="http://example.org"))
    monkeypatch.setattr(data, "urlopen", lambda *_, **__: pytest.fail("it was asked"))
    with pytest.raises(ValueError, match="must begin with https"):
        data.load_images("mnist")


class Endless(Response):
    """A mirror that never stops sending."""

    sent = 0

    def read(self, size=-1):
        assert size > 0, "read without end"
        self.sent += size
        return b"\0" * size


def test_what_is_fetched_is_bounded_before_its_hash_is_known(folder, monkeypatch):
    mirror = Endless()
    (folder / TEST_IMAGES).unlink()
    monkeypatch.setattr(data, "urlopen", lambda *_, **__: mirror)
    with pytest.raises(ValueError, match="damaged|more than"):
        data.load_images("mnist")
    assert mirror.sent <= data.MOST_BYTES + 1


def test_a_file_that_unpacks_to_gigabytes_is_not_unpacked(folder, monkeypatch):
    monkeypatch.setattr(data, "MOST_BYTES", 10_000)
    (folder / TEST_IMAGES).write_bytes(gzip.compress(b"\0" * 10_000_000))
    with pytest.raises(ValueError, match="it holds more than 10,000 bytes"):
        data.load_images("mnist")
