"""Fashion-MNIST comes from Keras' cache or from a folder; a message says if it is absent."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.engine.training import write_run
from tests.forked import run_code
from tests.machines import LAPTOP
from workbench import catalog
from workbench.codegen import render_script
from workbench.config import RunConfig
from workbench.plan import make_plan
from workbench.runs import Run, start_run
from workbench.runs.programs.published import keras_home

ROW = catalog.DATA["fashion_mnist"]
SOURCE = next((f for f in (Path(ROW.packaged), keras_home() / ROW.cache) if f.is_dir()), None)
IMAGES, LABELS = "train-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"
FACTS = """
import json, numpy as np
train, test = make_data()
images, labels = map(np.asarray, train)
print(json.dumps({
    "shapes": [list(part.shape) for part in (*train, *test)],
    "types": [str(images.dtype), str(labels.dtype)],
    "sums": [float(np.sum(images * np.float32(255), dtype=float)), int(np.sum(labels))],
    "classes": sorted(set(labels.tolist())),
}))
"""
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(SOURCE is None, reason="no copy of Fashion-MNIST on this machine"),
]


def copy_into(folder: Path) -> Path:
    """Make a folder with links to the four files, so that a test can replace each one."""
    folder.mkdir(parents=True)
    for name in ROW.files:
        (folder / name).symlink_to(Path(SOURCE or "", name))
    return folder


def facts_of(folder: Path | None, keras: Path) -> dict[str, Any]:
    """Return what a script loads from a folder, or from a home of Keras."""
    config = RunConfig(data="fashion_mnist", data_dir=None if folder is None else str(folder))
    script = render_script(make_plan(config, LAPTOP)).partition("if __name__")[0]
    done = run_code(f"import os; os.environ['KERAS_HOME'] = {str(keras)!r}\n{script}{FACTS}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_keras_cache_and_a_folder_give_the_same_whole_data(tmp_path: Path) -> None:
    copy_into(tmp_path / "keras" / ROW.cache)
    cached = facts_of(None, tmp_path / "keras")
    assert cached == facts_of(copy_into(tmp_path / 'it\'s "whole"\n'), tmp_path / "nobody")
    assert cached["shapes"] == [[60_000, 28, 28, 1], [60_000], [10_000, 28, 28, 1], [10_000]]
    assert cached["types"] == ["float32", "uint8"]
    assert cached["classes"] == list(range(10))
    with gzip.open(Path(SOURCE or "", IMAGES)) as file:
        assert cached["sums"][0] == pytest.approx(sum(file.read()[16:]), rel=1e-6)


@pytest.mark.parametrize("content", [b"<html>Not found</html>", None])
def test_a_damaged_file_fails_the_run_with_its_fix(content: bytes | None, tmp_path: Path) -> None:
    folder = copy_into(tmp_path / "data")
    packed = (folder / LABELS).read_bytes()
    (folder / LABELS).unlink()
    (folder / LABELS).write_bytes(packed[:-100] if content is None else content)
    config = RunConfig(data="fashion_mnist", data_dir=str(folder), model="dense", epochs=1)
    run = start_run(config, tmp_path / "runs", LAPTOP)
    assert failure_of(run).cause.startswith("A packed file of the data is damaged.")
    assert "replace those in the data folder" in failure_of(run).fix


def failure_of(run: Run) -> Any:
    assert run.wait() == "failed"
    return run.failure


def test_without_a_network_the_failure_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = RunConfig(data="fashion_mnist", model="dense", epochs=1, start="cold")
    run = write_run(tmp_path, "run", config).run
    for name in [name for name in os.environ if name.lower() == "no_proxy"]:
        monkeypatch.delenv(name)
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    assert failure_of(run.resume()).cause.startswith("A download failed.")


@pytest.mark.promise
def test_a_folder_that_lacks_files_is_refused_by_the_plan(tmp_path: Path) -> None:
    folder = copy_into(tmp_path / "data")
    (folder / IMAGES).unlink()
    config = RunConfig(data="fashion_mnist", data_dir=str(folder))
    with pytest.raises(ValueError, match=f"data_dir must be .* got no {IMAGES}. Put the missing"):
        make_plan(config, LAPTOP)
