"""A run that ends on a full disk says that it waits for room, and loses nothing."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.training import ENDLESS
from tests.machines import LAPTOP
from tests.waiting import LIMIT_SECONDS, until
from workbench.config import RunConfig
from workbench.runs import Run, start_run

pytestmark = pytest.mark.slow

MODEL = f"{Path(__file__).parent / 'own_models.py'}:broad"
KIB = 1024


class Disk:
    """A file system of 4 MiB on which ballast takes what room there is."""

    def __init__(self, at: Path) -> None:
        self.at, self.ballast = at, at / "ballast"
        at.mkdir()
        mount = ("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(at))
        subprocess.run(mount, check=True, capture_output=True)

    def leave(self, room_bytes: int) -> None:
        """Take all but this much of what is left."""
        with self.ballast.open("ab", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4 * KIB))
            except OSError:
                file.truncate(max(0, file.tell() - room_bytes))

    def end(self) -> None:
        subprocess.run(("umount", "--lazy", str(self.at)), check=True, capture_output=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    try:
        made = Disk(tmp_path / "disk")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mounting is not allowed here")
    yield made
    made.end()


def start(disk: Disk, epochs: int) -> Run:
    config = RunConfig(
        model=MODEL, synthetic_examples=320, global_batch_size=32, optimizer="sgd",
        strategy="one_device", epochs=epochs, start_now=True,
    )  # fmt: skip
    run = start_run(config, disk.at / "runs", LAPTOP, rehearse=False)
    disk.leave(512 * KIB)  # records and events have room, a checkpoint of 1 MiB has none
    return run


@pytest.mark.promise
def test_a_run_that_finishes_waits_with_its_model_until_there_is_room(disk: Disk) -> None:
    run = start(disk, epochs=2)
    until(lambda: "Waits for room" in run.progress.note or not run.alive)
    assert "Waits for room on its disk to save its checkpoint. Make room on" in run.progress.note
    until(lambda: disk.leave(0) or f"The disk of {run.dir} is full" in run.progress.note)
    disk.ballast.unlink()
    assert run.wait(LIMIT_SECONDS) == "finished", run.failure
    assert (run.dir / "model.keras").is_file()
    assert run.progress.note == ""
    assert run.missing == []
    saved = [event["step"] for event in run.events() if event["event"] == "checkpoint"]
    assert saved == [20]


def test_a_run_that_is_stopped_waits_with_its_checkpoint_until_there_is_room(disk: Disk) -> None:
    run = start(disk, epochs=ENDLESS)
    until(lambda: "could not be saved" in run.progress.note or not run.alive)
    run.stop()
    until(lambda: "Waits for room" in run.progress.note or not run.alive)
    disk.leave(0)
    disk.ballast.unlink()
    assert run.wait(LIMIT_SECONDS) == "stopped", run.failure
    saved = [event["step"] for event in run.events() if event["event"] == "checkpoint"]
    assert saved == [run.progress.step]
