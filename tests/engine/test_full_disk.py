"""A run that ends on a full disk says that it waits for room, and loses nothing."""

from pathlib import Path
from typing import Any

import pytest

from tests.disks import KIB, Disk, disk
from tests.engine.training import ENDLESS
from tests.machines import LAPTOP
from tests.waiting import LIMIT_SECONDS, until
from workbench.config import RunConfig
from workbench.runs import Run, start_run

__all__ = ["disk"]

pytestmark = pytest.mark.slow

MODEL = f"{Path(__file__).parent / 'own_models.py'}:broad"
WORKERS = {"strategy": "multi_worker_mirrored", "workers": 2}


def start(disk: Disk, epochs: int, **fields: Any) -> Run:
    config = RunConfig(
        model=MODEL, synthetic_examples=320, global_batch_size=32, optimizer="sgd",
        epochs=epochs, start_now=True, **{"strategy": "one_device"} | fields,
    )  # fmt: skip
    run = start_run(config, disk.at / "runs", LAPTOP, rehearse=False)
    disk.leave(512 * KIB)  # room for records and events, but not for a checkpoint of 1 MiB
    return run


@pytest.mark.parametrize(
    "fields", [pytest.param({}, marks=pytest.mark.promise), WORKERS], ids=["one process", "workers"]
)
def test_a_run_that_finishes_waits_for_room_to_save_its_model(
    disk: Disk, fields: dict[str, Any]
) -> None:
    run = start(disk, epochs=2, **fields)
    until(lambda: "Waits for room" in run.progress.note or not run.alive)
    assert "Waits for room on its disk to save the trained model. Make room" in run.progress.note
    until(lambda: disk.leave(0) or f"The disk of {run.dir} is full" in run.progress.note)
    disk.ballast.unlink()
    assert run.wait(LIMIT_SECONDS) == "finished", run.failure
    assert (run.dir / "model.keras").is_file()
    assert run.progress.note == ""
    assert run.missing == []
    saved = {event["step"] for event in run.events() if event["event"] == "checkpoint"}
    assert saved == {20}


@pytest.mark.parametrize("fields", [{}, WORKERS], ids=["one process", "workers"])
def test_a_run_that_is_stopped_waits_for_room_to_save_its_checkpoint(
    disk: Disk, fields: dict[str, Any]
) -> None:
    run = start(disk, epochs=ENDLESS, **fields)
    until(lambda: "could not be saved" in run.progress.note or not run.alive)
    run.stop()
    until(lambda: "Waits for room" in run.progress.note or not run.alive)
    disk.leave(0)
    disk.ballast.unlink()
    assert run.wait(LIMIT_SECONDS) == "stopped", run.failure
    saved = {event["step"] for event in run.events() if event["event"] == "checkpoint"}
    assert saved == {run.progress.step}
