"""Fashion-MNIST is found, checked and kept unpacked; a message says if it is absent."""

import filecmp
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.machines import LAPTOP
from workbench import catalog
from workbench.codegen import render_script
from workbench.config import RunConfig
from workbench.plan import make_plan

DEBIAN = Path("/usr/share/datasets/fashion-mnist")
KERAS = Path.home() / ".keras/datasets/fashion-mnist"
SOURCE = DEBIAN if DEBIAN.is_dir() else KERAS
IMAGES = "train-images-idx3-ubyte.gz"
LABELS = "t10k-labels-idx1-ubyte.gz"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not SOURCE.is_dir(), reason="no copy of Fashion-MNIST on this machine"),
]


def copy_into(folder: Path) -> Path:
    """Make a folder with links to the four files, so that a test can replace each one."""
    folder.mkdir(parents=True)
    for name in catalog.DATA["fashion_mnist"].files:
        (folder / name).symlink_to(SOURCE / name)
    return folder


def replace(folder: Path, name: str, content: bytes) -> Path:
    (folder / name).unlink()
    (folder / name).write_bytes(content)
    return folder


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    root = tmp_path_factory.mktemp("data")
    script = root / "train.py"
    text = render_script(make_plan(RunConfig(data="fashion_mnist"), LAPTOP))
    script.write_text(text.replace(str(DEBIAN), str(root / "no-system-wide-copy")))
    missing = copy_into(root / "missing")
    (missing / LABELS).unlink()
    whole = gzip.decompress((SOURCE / LABELS).read_bytes())
    packed = (SOURCE / LABELS).read_bytes()
    home = root / "home"
    copy_into(home / ".keras/datasets/fashion-mnist")
    (root / "nobody").mkdir()
    folders = {
        "whole": copy_into(root / 'it\'s "whole"\n'),
        "missing": missing,
        "truncated": replace(copy_into(root / "truncated"), LABELS, packed[:-100]),
        "corrupt": replace(copy_into(root / "corrupt"), LABELS, b"<html>Not found</html>"),
        "empty": replace(copy_into(root / "empty"), LABELS, b""),
        "shorter": replace(copy_into(root / "shorter"), LABELS, gzip.compress(whole[:-1])),
        "swapped": replace(copy_into(root / "swapped"), LABELS, gzip.compress(whole[::-1])),
        "folder": copy_into(root / "folder"),
    }
    (folders["folder"] / LABELS).unlink()
    (folders["folder"] / LABELS).mkdir()
    unpacked, damaged = root / "made" / "unpacked", root / "damaged"
    damaged.mkdir()
    (damaged / "train-labels-idx1").write_bytes(b"")
    (damaged / "t10k-labels-idx1").write_bytes(whole[::-1])
    nobody = str(root / "nobody")
    cases = {name: [str(folder), str(home), None] for name, folder in folders.items()}
    cases |= {
        "cache": [None, str(home), None],
        "nowhere": [None, nobody, None],
        "unpacked": [None, str(home), str(unpacked)],
        "unpacked before": [None, nobody, str(unpacked)],
        "unpacked before, damaged": [None, str(home), str(damaged)],
        "unpacked to no folder": [None, str(home), str(script)],
        "a folder beside unpacked ones": [str(folders["corrupt"]), str(home), str(unpacked)],
    }
    closed = "http://127.0.0.1:9"
    done = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "read_data.py"), str(script)],
        input=json.dumps(cases),
        env={
            **{name: value for name, value in os.environ.items() if name.lower() != "no_proxy"},
            **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), closed),
            "TF_CPP_MIN_LOG_LEVEL": "2",
            "HOME": str(root / "nobody"),  # Keras finds its cache once, on import
        },
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    names = [name.removesuffix("-ubyte.gz") for name in catalog.DATA["fashion_mnist"].files]
    for folder in unpacked, damaged:
        assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    assert all(filecmp.cmp(unpacked / name, damaged / name, shallow=False) for name in names)
    assert (damaged / "t10k-labels-idx1").read_bytes() == whole
    return found


@pytest.mark.parametrize(
    "place",
    [
        "whole",
        "cache",
        "unpacked",
        "unpacked before",
        "unpacked before, damaged",
        "unpacked to no folder",
    ],
)
def test_the_data_are_the_whole_set_scaled_to_one(place: str, outcomes: dict[str, Any]) -> None:
    assert outcomes[place] == {
        "shapes": [[60_000, 28, 28, 1], [60_000], [10_000, 28, 28, 1], [10_000]],
        "types": ["float32", "uint8"],
        "range": [0.0, 1.0],
        "levels": True,
        "classes": list(range(10)),
    }


@pytest.mark.parametrize(
    ("case", "cause"),
    [
        ("missing", "No such file"),
        ("folder", "Is a directory"),
        ("truncated", "ended before the end-of-stream"),
        ("corrupt", "Not a gzipped file"),
        ("empty", "differs. Replace it."),
        ("shorter", "differs. Replace it."),
        ("swapped", "differs. Replace it."),
    ],
)
def test_a_bad_file_is_named_with_its_fix(case: str, cause: str, outcomes: dict[str, Any]) -> None:
    assert outcomes[case].startswith("Needs ")
    assert f"{case}/{LABELS}" in outcomes[case]
    assert cause in outcomes[case]
    assert "Replace it" in outcomes[case]


def test_a_folder_given_by_the_user_is_read_even_if_unpacked_files_exist(
    outcomes: dict[str, Any],
) -> None:
    assert f"corrupt/{LABELS}" in outcomes["a folder beside unpacked ones"]


def test_without_a_network_the_message_names_the_missing_file_and_the_remedy(
    outcomes: dict[str, Any],
) -> None:
    message = outcomes["nowhere"]
    assert IMAGES in message
    assert "https://storage.googleapis.com/tensorflow/tf-keras-datasets/" in message
    assert message.endswith(catalog.DATA["fashion_mnist"].remedy)
    assert "Traceback" not in message


@pytest.mark.promise
def test_a_folder_that_lacks_files_is_refused_by_the_plan(tmp_path: Path) -> None:
    folder = copy_into(tmp_path / "data")
    (folder / IMAGES).unlink()
    config = RunConfig(data="fashion_mnist", data_dir=str(folder))
    with pytest.raises(ValueError, match=f"data_dir must be .* got no {IMAGES}. Put the missing"):
        make_plan(config, LAPTOP)
