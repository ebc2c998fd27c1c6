"""Archives on file systems that are unmounted or full during a run.

The tests are skipped if they may not mount.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.runs.run_folders import QUICK, Runs
from tests.waiting import LIMIT_SECONDS, until
from workbench.runs import Run

OFTEN = replace(QUICK, archive_every_seconds=0.1)


class Disk:
    """A file system of 256 KiB that can be mounted and unmounted."""

    def __init__(self, folder: Path) -> None:
        self.held, self.at = folder / "held", folder / "mnt"
        for place in (self.held, self.at):
            place.mkdir(parents=True)
        self._run("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(self.held))

    def mount(self) -> None:
        self._run("mount", "--bind", str(self.held), str(self.at))

    def unmount(self) -> None:
        self._run("umount", "--lazy", str(self.at))

    def end(self) -> None:
        with contextlib.suppress(subprocess.CalledProcessError):
            self.unmount()
        self._run("umount", "--lazy", str(self.held))

    def _run(self, *command: str) -> None:
        subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    try:
        made = Disk(tmp_path / "disk")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mounting is not allowed here")
    made.mount()
    yield made
    made.end()


def copied_to(run: Run, step: int) -> bool:
    copies = run.copies
    return copies is not None and copies.step == step and copies.failing_since is None


def test_an_unmounted_archive_gets_no_files_and_copies_continue_after_the_next_mount(
    runs: Runs, disk: Disk
) -> None:
    archive = disk.at / "copies"
    archive.mkdir()
    run = runs.start(OFTEN, archive=str(archive), pauses={"20": "one", "40": "two"})
    until(lambda: run.copies)
    disk.unmount()
    until(lambda: run.copies.failing_since)
    (run.dir / "one").touch()
    until(lambda: run.progress.step == 40)
    assert f"{disk.at}: nothing is mounted there any more. Mount it again" in run.progress.note
    assert list(disk.at.iterdir()) == []
    disk.mount()
    until(lambda: copied_to(run, 30))
    (run.dir / "two").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"
    until(lambda: Run(archive / run.id).status == "finished")


def test_a_full_disk_is_reported_and_copies_continue_when_there_is_room(
    runs: Runs, disk: Disk
) -> None:
    run = runs.start(OFTEN, archive=str(disk.at), pauses={"20": "one", "40": "two"})
    until(lambda: run.copies)
    filler = disk.held / "filler"
    with contextlib.suppress(OSError), filler.open("wb") as file:
        while True:
            file.write(bytes(4096))
            file.flush()
    (run.dir / "one").touch()
    until(lambda: run.progress.step == 40 and run.copies.failing_since)
    assert "No space left on device. Make room in" in run.progress.note
    assert not list(disk.at.rglob(".copying-*"))
    filler.unlink()
    until(lambda: copied_to(run, 30))
    (run.dir / "two").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"
    until(lambda: Run(disk.at / run.id).status == "finished")
