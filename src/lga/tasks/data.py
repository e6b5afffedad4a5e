"""Image data sets on disk: IDX files from `LGA_DATA`, fetched from public mirrors when they are missing."""

import gzip
import hashlib
import io
import os
import struct
import zlib
from pathlib import Path
from typing import NamedTuple
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np
from jaxtyping import Float, Int

from lga.core.checks import require
from lga.core.files import write_atomically

UNSIGNED_BYTES = 8  # third byte of an IDX file's magic number: the type of its values
SPLIT_PARTS = 5
DOWNLOAD_SECONDS = 60
MOST_BYTES = 64 * 2**20
"""More than any of the files has, packed or not: before its hash is known, a file is read, but not without end."""


class Images(NamedTuple):
    """Pixels lie in [0, 1]; the last axis is the one channel."""

    train: Float[np.ndarray, "n h w 1"]
    train_labels: Int[np.ndarray, " n"]
    test: Float[np.ndarray, "m h w 1"]
    test_labels: Int[np.ndarray, " m"]
    note: str = ""
    """What a reader of results must know of the data."""


class Source(NamedTuple):
    """A data set's folder under the data directory, its mirror, and the SHA-256 of each file."""

    folder: str
    mirror: str
    sha256: dict[str, str]
    """Of the content, for mirrors compress it in different ways; of the compressed file where only that is known."""
    splits_test_images: bool = False
    """Whether its test images are split where its train images cannot be had."""


TRAIN_IMAGES, TRAIN_LABELS = "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"
TEST_IMAGES, TEST_LABELS = "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"

SOURCES: dict[str, Source] = {
    "mnist": Source(
        "mnist",
        "https://ossci-datasets.s3.amazonaws.com/mnist",
        {
            TRAIN_IMAGES: "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
            TRAIN_LABELS: "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
            TEST_IMAGES: "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
            TEST_LABELS: "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        },
    ),
    "fashion-mnist": Source(
        "fashion_mnist",
        "https://storage.googleapis.com/tensorflow/tf-keras-datasets",
        {
            TRAIN_IMAGES: "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
            TRAIN_LABELS: "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
            TEST_IMAGES: "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
            TEST_LABELS: "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
        },
    ),
    "k-mnist": Source(
        "kmnist",
        "https://codh.rois.ac.jp/kmnist/dataset/kmnist",
        {
            TRAIN_IMAGES: "51467d22d8cc72929e2a028a0428f2086b092bb31cfb79c69cc0a90ce135fde4",
            TRAIN_LABELS: "e38f9ebcd0f3ebcdec7fc8eabdcdaef93bb0df8ea12bee65224341c8183d8e17",
            TEST_IMAGES: "76fbd229ce87db80dd281af5e6670de4ad0e42fb30a7bd643972994c47c1f42e",
            TEST_LABELS: "a11dc742be8e781a40a92f53d6a4957e7b7d36df2faa097659131ebfd8fd60c6",
        },
        splits_test_images=True,
    ),
}


def data_directory() -> Path:
    if given := os.environ.get("LGA_DATA"):
        return Path(given)
    try:
        return Path.home() / ".cache" / "lga"
    except RuntimeError as error:
        raise OSError("this user has no home folder for data: point LGA_DATA at a folder.") from error


def load_images(name: str) -> Images:
    """A data set of 28 x 28 images. Where K-MNIST's train images cannot be had, its test images are split."""
    source = SOURCES[name]
    test, test_labels = read_pair(source, TEST_IMAGES, TEST_LABELS)
    try:
        train, train_labels = read_pair(source, TRAIN_IMAGES, TRAIN_LABELS)
    except OSError:
        if not source.splits_test_images:
            raise
        cut = len(test) - len(test) // SPLIT_PARTS
        note = (
            f"The train images of {name} cannot be had here: its {len(test):,} test images are split into {cut:,} for "
            f"training and {len(test) - cut:,} for testing."
        )
        return Images(test[:cut], test_labels[:cut], test[cut:], test_labels[cut:], note)
    return Images(train, train_labels, test, test_labels)


def load_digits() -> Images:
    """The 1,797 digits of 8 x 8 pixels that come with scikit-learn; every fifth is for testing."""
    try:
        from sklearn import datasets
    except ImportError as error:
        raise ImportError("the digits come with scikit-learn: pip install 'lga[neuro]'.") from error
    images, labels = datasets.load_digits(return_X_y=True)
    images = np.asarray(images, np.float32).reshape(-1, 8, 8, 1) / np.float32(16.0)
    labels = np.asarray(labels, np.int32)
    testing = np.arange(len(images)) % SPLIT_PARTS == 0
    return Images(images[~testing], labels[~testing], images[testing], labels[testing])


def halved(images: Images) -> Images:
    """Half the height and width: means of 2 x 2 pixels."""

    def shrink(pixels: np.ndarray) -> np.ndarray:
        number, height, width, _ = pixels.shape
        return pixels.reshape(number, height // 2, 2, width // 2, 2, 1).mean(axis=(2, 4), dtype=np.float32)

    return images._replace(train=shrink(images.train), test=shrink(images.test))


def read_pair(source: Source, image_file: str, label_file: str) -> tuple[np.ndarray, np.ndarray]:
    pixels, labels = (parse_idx(content(source, name), name) for name in (image_file, label_file))
    require(
        pixels.ndim == 3 and labels.shape == pixels.shape[:1],
        f"{image_file} has shape {pixels.shape} and {label_file} {labels.shape}, but there must be a label an image.",
    )
    return (pixels[..., None] / np.float32(255.0)).astype(np.float32), labels.astype(np.int32)


def content(source: Source, name: str) -> bytes:
    """The decompressed file, downloaded if it is missing, and checked in any case."""
    path = data_directory() / source.folder / name
    packed = start_of(path) if path.is_file() else download(source, name, path)
    try:
        with gzip.open(io.BytesIO(packed)) as file:
            unpacked = file.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} is damaged ({error}): delete it, and it is fetched anew.") from error
    require(
        max(len(packed), len(unpacked)) <= MOST_BYTES,
        f"{path} is no file of images or labels: it holds more than {MOST_BYTES:,} bytes. Delete it.",
    )
    require(
        source.sha256[name] in (hashlib.sha256(data).hexdigest() for data in (unpacked, packed)),
        f"{path} is damaged or another file: its SHA-256 is not the expected one. Delete it, and it is fetched anew.",
    )
    if not path.is_file():
        write_atomically(path, packed)
    return unpacked


def start_of(path: Path) -> bytes:
    """All of a file, unless it is larger than any that belongs here."""
    with open(path, "rb") as file:
        return file.read(MOST_BYTES + 1)


def download(source: Source, name: str, path: Path) -> bytes:
    url = f"{source.mirror}/{name}"
    require(
        url.startswith("https://"), f"{url} is not fetched, because nobody vouches for it: it must begin with https."
    )
    try:
        with urlopen(url, timeout=DOWNLOAD_SECONDS) as response:
            require(response.geturl().startswith("https://"), f"{url} leads to {response.geturl()}: not https.")
            return response.read(MOST_BYTES + 1)
    except (URLError, OSError) as error:
        raise OSError(
            f"{path} is missing and {url} cannot be reached ({getattr(error, 'reason', error)}): put the file there by "
            "hand, or point LGA_DATA at a folder that has it."
        ) from error


def parse_idx(data: bytes, name: str) -> np.ndarray:
    """The array of an IDX file: two zero bytes, the type, the number of axes, their lengths, then the values."""
    require(
        len(data) >= 4 and data[:2] == b"\0\0" and data[2] == UNSIGNED_BYTES and 1 <= data[3] <= 3,
        f"{name} is no IDX file of bytes: it starts with {data[:4].hex(' ')}.",
    )
    header = 4 + 4 * data[3]
    require(len(data) >= header, f"{name} is cut off: it ends in its header.")
    shape = struct.unpack(f">{data[3]}I", data[4:header])
    expected = header + int(np.prod(shape))
    require(len(data) == expected, f"{name} has {len(data)} bytes, but its header promises {expected}.")
    return np.frombuffer(data, np.uint8, offset=header).reshape(shape)
