"""TensorBoard itself reads the exported files."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.exports.tensorboard_server import TensorBoard, tensorboard
from tests.waiting import until
from tests.widgets.folders import BATCH, write_run, write_steps
from workbench.exports import export_runs
from workbench.runs import Run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run of two replicas whose losses fall, in two calls: at 1000 s and at 2000 s."""
    run = write_run(tmp_path_factory.mktemp("runs"), steps=0, name="the/first")
    for first, start in ((0, 1000.0), (50, 2000.0)):
        rows = np.zeros((50, 2, 3), np.float32)
        rows[:, :, 2], rows[:, :, 1] = BATCH, BATCH / 4
        rows[:, :, 0] = BATCH / (1 + first + np.arange(50)[:, None] + [0, 1])
        write_steps(run.dir / "worker-0", first, rows, start=start, seconds=5.0)
    errors = np.arange(100, dtype="<f4")[:, None] + np.array([0, 2], "<f4")
    errors.tofile(run.dir / "worker-0" / "scalar-mae.f4")
    return run


@pytest.fixture(scope="module")
def exported(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The export of this run and of a second run, which has epochs."""
    other = write_run(run.dir.parent)
    return export_runs([run, other], "tensorboard", tmp_path_factory.mktemp("out") / "boards")


@pytest.fixture(scope="module")
def board(exported: Path) -> Iterator[TensorBoard]:
    with tensorboard(exported) as server:
        until(lambda: len(server.ask("runs")) == 11)
        yield server


def test_each_measure_has_a_line_for_each_replica_and_for_all(board: TensorBoard, run: Run) -> None:
    tags = board.ask("plugin/scalars/tags")
    measures = {"step/loss", "step/accuracy", "step/examples_per_second", "step/mae"}
    for line in ("all", "replica-0", "replica-1"):
        assert set(tags[f"the_first {run.id}/{line}"]) == measures


def test_every_step_has_its_value_and_its_end_time(board: TensorBoard, run: Run) -> None:
    line = {"run": f"the_first {run.id}/replica-1", "tag": "step/loss"}
    times, steps, losses = zip(*board.ask("plugin/scalars/scalars", **line), strict=True)
    assert list(steps) == list(range(1, 101))
    assert losses == pytest.approx([1 / (2 + step) for step in range(100)])
    ends = [start + 0.1 * (step + 1) for start in (1000, 2000) for step in range(50)]
    assert times == pytest.approx(ends)


def test_a_number_that_steps_report_has_its_own_line(board: TensorBoard, run: Run) -> None:
    for line, first in (("replica-1", 2), ("all", 1)):
        asked = {"run": f"the_first {run.id}/{line}", "tag": "step/mae"}
        _, steps, values = zip(*board.ask("plugin/scalars/scalars", **asked), strict=True)
        assert [list(steps), list(values)] == [list(range(1, 101)), list(range(first, first + 100))]


def test_the_speed_of_all_is_the_sum_of_the_replicas_speeds(board: TensorBoard, run: Run) -> None:
    for line, rate in (("replica-0", 640.0), ("all", 1280.0)):
        asked = {"run": f"the_first {run.id}/{line}", "tag": "step/examples_per_second"}
        assert {value for *_, value in board.ask("plugin/scalars/scalars", **asked)} == {rate}


def test_epochs_have_separate_lines_for_train_and_test(board: TensorBoard) -> None:
    tags = board.ask("plugin/scalars/tags")
    (test,) = [name for name in tags if name.endswith("/test")]
    train = test.replace("/test", "/train")
    assert set(tags[train]) == set(tags[test]) == {"epoch/loss", "epoch/accuracy"}
    rows = board.ask("plugin/scalars/scalars", run=test, tag="epoch/accuracy")
    assert [(epoch, value) for _, epoch, value in rows] == [(1, 0.75), (2, 0.75)]


def test_config_and_script_are_texts_and_hyperparameters_are_compared(
    board: TensorBoard, run: Run
) -> None:
    name = f"the_first {run.id}"
    assert set(board.ask("plugin/text/tags")[name]) == {"config", "result", "script"}
    (script,) = board.ask("plugin/text/text", run=name, tag="script")
    assert "make_strategy" in script["text"]
    experiment = board.post("plugin/hparams/experiment", {})
    names = {each["name"] for each in experiment["hparamInfos"]}
    assert {"strategy", "per_replica_batch_size", "num_replicas_in_sync"} <= names


def test_the_export_imports_no_tensorflow(run: Run, tmp_path: Path) -> None:
    code = (
        "import sys; from workbench import open_run; from workbench.exports import export_runs\n"
        "export_runs([open_run(sys.argv[1])], 'tensorboard', sys.argv[2])\n"
        "assert 'tensorflow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, run.dir, tmp_path / "board"], check=True)
