"""A run packed into one zip file with its last checkpoint, and restored from it."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.runs.run_folders import Runs, event_of
from tests.waiting import LIMIT_SECONDS, until
from workbench.runs import RunError, restore_run


def test_a_packed_run_is_restored_elsewhere_and_resumed(runs: Runs, tmp_path: Path) -> None:
    whole = runs.start(devices=["CPU:1"])
    run = runs.start(pauses={"40": "go"})
    until(lambda: run.progress.step == 40 and event_of(run, "checkpoint"))
    earlier = run.dir / "checkpoints" / "ckpt-7.index"
    earlier.write_text("an earlier one")
    path = run.pack()
    assert path == run.dir.with_name(f"{run.id}.zip")
    names = zipfile.ZipFile(path).namelist()
    for name in ("run.json", "config.json", "plan.json", "train.py", "checkpoints/ckpt-30.index"):
        assert f"{run.id}/{name}" in names
    assert f"{run.id}/checkpoints/{earlier.name}" not in names

    back = restore_run(path, tmp_path / "here")
    assert back.status == "lost"
    assert event_of(back, "restored")["folder"] == str(path)
    assert list((tmp_path / "here").iterdir()) == [back.dir]
    (back.dir / "go").touch()
    (run.dir / "go").touch()
    runs.made.append(back)
    assert back.resume().wait(LIMIT_SECONDS) == "finished"
    assert whole.wait(LIMIT_SECONDS) == "finished"
    assert event_of(back, "start")["step"] == 30
    assert back.steps()[["step", "loss"]].equals(whole.steps()[["step", "loss"]])
    run.wait(LIMIT_SECONDS)


def test_a_zip_file_that_cannot_be_written_leaves_no_temporary_file(
    runs: Runs, tmp_path: Path
) -> None:
    run = runs.make()
    with pytest.raises(RunError, match="cannot be written: "):
        run.pack(tmp_path / "no" / "such" / "folder.zip")
    (tmp_path / "folder.zip").mkdir()
    with pytest.raises(RunError, match="cannot be written: "):
        run.pack(tmp_path / "folder.zip")
    assert not list(tmp_path.glob(".packing-*"))


def test_a_file_that_is_not_a_packed_run_is_refused(runs: Runs, tmp_path: Path) -> None:
    path = tmp_path / "run.zip"
    with pytest.raises(RunError, match=r"There is no packed run .*run\.zip\. Upload it"):
        restore_run(path, runs.root)
    path.write_bytes(runs.make().pack().read_bytes()[:-30])
    with pytest.raises(RunError, match=r"read as a zip file.*download or upload it again"):
        restore_run(path, tmp_path / "here")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("notes.txt", "words " * 1000)
    whole = path.read_bytes()
    path.write_bytes(whole[:40] + b"\xff" * 20 + whole[60:])
    with pytest.raises(RunError, match=r"read as a zip file.*download or upload it again"):
        restore_run(path, tmp_path / "here")
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("notes.txt", "")
    with pytest.raises(RunError, match=r"is not a packed run: it has 0 folders with a run\.json"):
        restore_run(path, tmp_path / "here")
    assert list((tmp_path / "here").iterdir()) == []
