"""Workers that step together, of a script that the workbench did not write."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.engine.tasks import cluster_variables, run_workers
from tests.forked import run_program
from tests.observe.observing import OBSERVER, SCRIPTS, STEPS, Done, events

WORKERS = SCRIPTS / "workers.py"


def observe_workers(folder: Path, *, stop_last: bool = False) -> list[Done]:
    folder.mkdir(exist_ok=True)
    words = [OBSERVER, "--run-dir", folder, WORKERS, folder]
    return run_workers(words, folder, stop_last=stop_last)


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workers")
    observe_workers(folder)
    return folder


def rows_of(folder: Path, number: int) -> np.ndarray[Any, Any]:
    return np.fromfile(folder / f"worker-{number}" / "steps.f4", np.float32).reshape(-1, 3)


def test_each_worker_records_its_replicas_and_all_report_the_results_of_all(workers: Path) -> None:
    first, second = (rows_of(workers, number) for number in (0, 1))
    assert len(first) == len(second) == STEPS
    assert (first != second).any()
    both = (first + second).reshape(3, 6, 3).sum(axis=1)
    for number in (0, 1):
        epochs = events(workers, "epoch", f"worker-{number}")
        losses = [each["loss"] for each in epochs]
        np.testing.assert_allclose(losses, both[:, 0] / both[:, 2], rtol=1e-5)
        assert [each["test_loss"] for each in epochs] == [
            each["test_loss"] for each in events(workers, "epoch", "worker-0")
        ]
        (start,) = events(workers, "start", f"worker-{number}")
        assert start["workers"] == 2


def test_workers_of_which_one_is_asked_to_stop_stop_at_the_same_step_and_continue(
    workers: Path, tmp_path: Path
) -> None:
    observe_workers(tmp_path, stop_last=True)
    stops = [events(tmp_path, "stopped", f"worker-{number}") for number in (0, 1)]
    assert stops[0][0]["step"] == stops[1][0]["step"]
    assert 0 < stops[0][0]["step"] < STEPS
    observe_workers(tmp_path)
    for number in (0, 1):
        np.testing.assert_array_equal(rows_of(tmp_path, number), rows_of(workers, number))
        assert events(tmp_path, "start", f"worker-{number}")[1]["step"] == stops[0][0]["step"]


def test_workers_leave_once_all_have_reported_their_end(workers: Path) -> None:
    (first,), (second,) = (events(workers, "finished", f"worker-{number}") for number in (0, 1))
    left = [float((workers / f"left-{number}").read_text()) for number in (0, 1)]
    assert max(first["time"], second["time"]) < min(left)


@pytest.mark.slow
def test_a_worker_that_is_called_chief_is_the_first_one(workers: Path, tmp_path: Path) -> None:
    words = [OBSERVER, "--run-dir", tmp_path, WORKERS, tmp_path]
    with cluster_variables({"chief": 1, "worker": 1}) as tasks, ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda variables: run_program(words, tmp_path, variables), tasks))
    for number in (0, 1):
        np.testing.assert_array_equal(rows_of(tmp_path, number), rows_of(workers, number))
    assert not (tmp_path / "chief-0").exists()


def test_workers_restore_the_newest_checkpoint_that_the_first_one_can_read(
    workers: Path, tmp_path: Path
) -> None:
    shutil.copytree(workers, tmp_path / "run")
    checkpoints = tmp_path / "run" / "saved"
    *_, newest = sorted(checkpoints.glob("*.index"))
    newest.write_bytes(b"damaged")
    (checkpoints / "checkpoint").write_bytes(b"\xff\xfe damaged")
    observe_workers(tmp_path / "run")
    for number in (0, 1):
        assert events(tmp_path / "run", "checkpoint_damaged", f"worker-{number}")
        assert events(tmp_path / "run", "start", f"worker-{number}")[1]["step"] == STEPS - 6
        np.testing.assert_array_equal(rows_of(tmp_path / "run", number), rows_of(workers, number))
