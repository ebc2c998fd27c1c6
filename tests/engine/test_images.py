"""Examples that are images are kept as images, in every shape and type that images have."""

from pathlib import Path

import numpy as np
import pytest

from tests.forked import run_program

PROGRAM = Path(__file__).parent / "keep_images.py"
SHAPES = {
    "grey": (12, 16),
    "one_channel": (12, 16),
    "rgb": (12, 16, 3),
    "rgb_floats": (12, 16, 3),
    "rgba": (12, 16, 4),
    "bool": (12, 16),
    "named": (12, 16, 3),
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the examples that an evaluation of each kind of data keeps."""
    folder = tmp_path_factory.mktemp("kept")
    run_program([PROGRAM, folder])
    return folder


def images(folder: Path, name: str) -> np.ndarray | None:
    with np.load(folder / f"{name}.npz") as arrays:
        return arrays.get("images")


@pytest.mark.parametrize("name", SHAPES)
def test_images_are_kept_from_black_to_white(name: str, kept: Path) -> None:
    found = images(kept, name)
    assert found is not None
    assert (found.dtype, found.shape) == (np.uint8, (8, *SHAPES[name]))
    rising = found[0, :, 0].reshape(12, -1)[:, 0]
    assert (rising[0], rising[-1]) == (0, 255)
    assert (np.diff(rising.astype(int)) >= 0).all()


def test_a_large_image_is_thinned_out(kept: Path) -> None:
    found = images(kept, "large")
    assert found is not None
    assert found.shape == (8, 100, 7, 3)


@pytest.mark.parametrize("name", ["two_channels", "row", "words"])
def test_other_examples_are_no_images(name: str, kept: Path) -> None:
    assert images(kept, name) is None
