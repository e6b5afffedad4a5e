"""Pictures of the functions."""

import pytest
from matplotlib.image import imread

from lga.analysis.figures import bbob_contours
from lga.tasks import bbob


@pytest.mark.slow
def test_there_is_a_picture_of_every_function_and_one_of_all(tmp_path):
    files = bbob_contours(tmp_path / "new", resolution=12)
    assert sorted(files) == sorted((tmp_path / "new").glob("*.png"))
    assert len({file.read_bytes() for file in files}) == len(bbob.FUNCTIONS) + 1
    for file in files:
        assert imread(file)[..., :3].std() > 0.1
