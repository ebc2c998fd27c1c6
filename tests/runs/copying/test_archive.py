"""Copies of a living run in an archive: complete, in order, and without harm to the run."""

from __future__ import annotations

import os
import signal
import zipfile
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from tests.machines import LAPTOP
from tests.runs.run_folders import QUICK, Runs, event_of, pid_of, states
from tests.waiting import LIMIT_SECONDS, until
from workbench import RunConfig
from workbench.plan import PlanError
from workbench.runs import Run, start_run, start_script
from workbench.runs.copying.mirror import GoneError, Mirror
from workbench.runs.folder.archive import archive_of
from workbench.runs.folder.checkpoints import Saved
from workbench.runs.folder.files import json_text, read_json, write_text

OFTEN = replace(QUICK, archive_every_seconds=0.1)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return tmp_path / "archive"


def copy_of(run: Run, archive: Path) -> Path:
    return archive / run.id


def content(folder: Path) -> dict[str, bytes]:
    """Return all files of a run, except files about its copies and about this moment."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path.name not in ("archive.json", "archive.jsonl", "entered", "supervisor.log")
    }


def archiver_of(run: Run) -> psutil.Process | None:
    """Return the process that copies this run."""
    command = ["workbench.runs.copying.archiver", str(run.dir)]
    found = [
        process
        for process in psutil.process_iter(["cmdline", "status"])
        if process.info["status"] != psutil.STATUS_ZOMBIE
        and all(word in (process.info["cmdline"] or ()) for word in command)
    ]
    return found[0] if found else None


def copied_to(run: Run, step: int) -> bool:
    """Return whether the copy can resume from this step and has no error."""
    copies = run.copies
    return copies is not None and copies.step == step and copies.failing_since is None


def copied_whole(run: Run) -> bool:
    """Return whether a copy was made after the run's last event."""
    events = run.events()
    whole = [event["time"] for event in events if event.get("whole")]
    last = [event["time"] for event in events if event["task"] != "archive"]
    return bool(whole) and whole[-1] > last[-1] and not run.alive


def test_the_copy_of_an_ended_run_is_complete(runs: Runs, archive: Path) -> None:
    run = runs.make(archive=str(archive))
    (run.dir / "own_code").mkdir()
    (run.dir / "own_code" / "mine.py").write_text("WIDTH = 8\n")
    start_script(run.dir, QUICK)
    assert run.wait(LIMIT_SECONDS) == "finished"
    until(lambda: copied_whole(run))
    assert content(copy_of(run, archive)) == content(run.dir)
    assert event_of(run, "archived")["whole"]
    assert event_of(run, "archived")["task"] == "archive"
    assert run.progress.note == ""


def test_a_living_run_is_copied_with_each_checkpoint_and_reads_like_the_run(
    runs: Runs, archive: Path
) -> None:
    bounds = replace(QUICK, archive_every_seconds=600)
    run = runs.start(bounds, archive=str(archive), pauses={"40": "go"})
    until(lambda: copied_to(run, 30))
    copy = Run(copy_of(run, archive))
    assert copy.id == run.id
    assert copy.steps()["step"].tolist()[:30] == list(range(1, 31))
    assert copy.missing == []
    (run.dir / "go").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"
    until(lambda: copied_whole(run))
    assert copy.steps().equals(run.steps())


@pytest.mark.parametrize("way", ["file", "gone", "full"])
def test_an_archive_failure_during_a_run_is_reported_and_copies_continue_later(
    way: str, runs: Runs, archive: Path
) -> None:
    run = runs.start(OFTEN, archive=str(archive), pauses={"20": "one", "40": "two"})
    until(lambda: run.copies)
    hurt = copy_of(run, archive) / "worker-0" / "events.jsonl" if way == "full" else archive
    away = hurt.with_name("away")
    hurt.rename(away)
    if way == "file":
        hurt.write_text("")
    else:
        hurt.symlink_to("/dev/full" if way == "full" else "nowhere")
    (run.dir / "one").touch()
    until(lambda: run.progress.step == 40 and run.copies.failing_since)
    assert "No copy has been made since" in run.progress.note
    assert str(archive) in run.progress.note
    assert ("Make room in" in run.progress.note) == (way == "full")
    assert run.status == "running"
    assert len([e for e in run.events() if e["event"] == "unarchived"]) == 1
    hurt.unlink()
    away.rename(hurt)
    until(lambda: copied_to(run, 30))
    assert run.progress.note == ""
    (run.dir / "two").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"
    until(lambda: copied_whole(run))
    assert content(copy_of(run, archive)) == content(run.dir)


def test_an_emptied_archive_is_filled_again(runs: Runs, archive: Path) -> None:
    run = runs.start(OFTEN, archive=str(archive), pauses={"40": "go"})
    until(lambda: copied_to(run, 30))
    copy_of(run, archive).rename(archive / "elsewhere")
    until((copy_of(run, archive) / "run.json").exists)
    (run.dir / "go").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"
    until(lambda: copied_whole(run))
    assert content(copy_of(run, archive)) == content(run.dir)


def test_a_copy_that_hangs_is_reported_and_delays_nothing(runs: Runs, archive: Path) -> None:
    run = runs.make(archive=str(archive), pauses={"40": "go"})
    pipe = copy_of(run, archive) / "checkpoints" / "checkpoint"
    pipe.parent.mkdir(parents=True)
    os.mkfifo(pipe)  # a process that opens it for reading waits
    bounds = replace(OFTEN, archive_slow_seconds=0.2, archive_last_seconds=0.2)
    start_script(run.dir, bounds)
    until(lambda: "has taken more than 0.2 s" in run.progress.note)
    (run.dir / "go").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"
    until(lambda: not run.alive)
    until(lambda: "The run is over, so copying is not tried again" in run.progress.note)
    until(lambda: archiver_of(run) is None)


def test_the_death_of_the_copying_process_does_not_harm_the_run(runs: Runs, archive: Path) -> None:
    run = runs.start(OFTEN, archive=str(archive), pauses={"40": "go"})
    process = until(lambda: archiver_of(run))
    process.kill()
    (run.dir / "go").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"
    assert "unarchived" not in [event["event"] for event in run.events()]


def test_a_run_is_copied_to_its_end_after_its_supervisor_was_killed(
    runs: Runs, archive: Path
) -> None:
    run = runs.start(archive=str(archive), pauses={"40": "go"})
    until(lambda: run.progress.step == 40)
    os.kill(pid_of(run, "supervisor"), signal.SIGKILL)
    assert run.wait(LIMIT_SECONDS) == "lost"
    until(lambda: copied_whole(run))
    assert copied_to(run, 40)
    assert content(copy_of(run, archive)) == content(run.dir)


def test_a_resumed_run_continues_the_same_copy(runs: Runs, archive: Path) -> None:
    run = runs.start(OFTEN, archive=str(archive), pauses={"20": "go"})
    until(lambda: run.progress.step == 20)
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped"
    (run.dir / "go").touch()
    assert run.resume().wait(LIMIT_SECONDS) == "finished"
    until(lambda: copied_whole(run))
    assert states(Run(copy_of(run, archive))) == states(run)
    assert content(copy_of(run, archive)) == content(run.dir)


def test_deleting_a_run_ends_the_copying_and_keeps_the_copy(runs: Runs, archive: Path) -> None:
    run = runs.make(archive=str(archive))
    folder = copy_of(run, archive)
    mirror = Mirror(run.dir, folder)
    mirror.update()
    held = content(folder)
    run.delete()
    with pytest.raises(GoneError):
        mirror.update()
    assert content(folder) == held


def test_new_lines_are_appended_to_a_copy_and_differences_are_fixed(
    runs: Runs, archive: Path
) -> None:
    run = runs.make()
    source, copy = run.dir / "worker-0" / "log.txt", copy_of(run, archive) / "worker-0" / "log.txt"
    mirror = Mirror(run.dir, copy_of(run, archive))
    source.write_text("one\n")
    mirror.update()
    inode = copy.stat().st_ino
    for text in ("one\ntwo\n", "ONE\nTWO\nthree\n", "one\n"):
        source.write_text(text)
        mirror.update()
        assert copy.read_text() == text
    assert copy.stat().st_ino == inode


def test_a_half_written_model_is_not_copied(runs: Runs, archive: Path) -> None:
    run = runs.make()
    mirror = Mirror(run.dir, copy_of(run, archive))
    (run.dir / "model.keras").write_bytes(b"PK\x03\x04 the first half")
    mirror.update()
    assert not (copy_of(run, archive) / "model.keras").exists()
    (run.dir / "model.keras").write_bytes(b"PK\x05\x06" + bytes(18))
    mirror.update()
    assert (copy_of(run, archive) / "model.keras").exists()


def save(run: Run, *names: str, shards: int = 1) -> None:
    """Write checkpoints like TensorFlow; the last name is the newest."""
    folder = run.dir / "checkpoints"
    folder.mkdir(exist_ok=True)
    for name in names:
        for shard in range(shards):
            (folder / f"{name}.data-{shard:05d}-of-{shards:05d}").write_text(name)
        (folder / f"{name}.index").write_text(name)
    for path in folder.glob("ckpt-*"):
        if path.stem not in names:
            path.unlink()
    lines = [f'model_checkpoint_path: "{names[-1]}"']
    lines += [f'all_model_checkpoint_paths: "{name}"' for name in names]
    (folder / "checkpoint").write_text("\n".join(lines))


def test_only_complete_checkpoints_are_listed_and_old_ones_are_removed(
    runs: Runs, archive: Path
) -> None:
    run = runs.make()
    mirror = Mirror(run.dir, copy_of(run, archive))
    folder = copy_of(run, archive) / "checkpoints"
    save(run, "ckpt-1", "ckpt-2", shards=2)
    mirror.update()
    assert Saved.read(folder).whole() == ["ckpt-1", "ckpt-2"]
    save(run, "ckpt-2", "ckpt-3", shards=2)
    (run.dir / "checkpoints" / "ckpt-3.data-00001-of-00002").unlink()
    mirror.update()
    assert Saved.read(folder).names == ("ckpt-1", "ckpt-2")
    save(run, "ckpt-2", "ckpt-3", shards=2)
    mirror.update()
    assert Saved.read(folder).names == ("ckpt-2", "ckpt-3")
    assert {path.stem for path in folder.iterdir()} == {"ckpt-2", "ckpt-3", "checkpoint"}


def test_a_checkpoint_missing_from_the_list_is_not_packed(runs: Runs) -> None:
    run = runs.make()
    save(run, "ckpt-1", "ckpt-2")
    for kind in ("data-00000-of-00001", "index"):  # the state after a full disk
        (run.dir / "checkpoints" / f"ckpt-3.{kind}").touch()
    with zipfile.ZipFile(run.pack()) as packed:
        assert f"{run.id}/checkpoints/ckpt-2.index" in packed.namelist()
        assert f"{run.id}/checkpoints/ckpt-3.index" not in packed.namelist()


@pytest.mark.parametrize("torn", ["", "model_checkpoint_path: "])
def test_checkpoints_are_copied_and_packed_even_if_their_list_is_torn(
    torn: str, runs: Runs, archive: Path
) -> None:
    run = runs.make()
    save(run, "ckpt-9", "ckpt-10")
    listed = run.dir / "checkpoints" / "checkpoint"
    listed.write_text(torn)
    Mirror(run.dir, copy_of(run, archive)).update()
    copy = copy_of(run, archive) / "checkpoints"
    assert Saved.read(copy).whole() == ["ckpt-9", "ckpt-10"]
    assert (copy / "checkpoint").read_text().startswith('model_checkpoint_path: "ckpt-10"')
    listed.unlink()
    with zipfile.ZipFile(run.pack()) as packed:
        assert "ckpt-10" in packed.read(f"{run.id}/checkpoints/checkpoint").decode()
        assert f"{run.id}/checkpoints/ckpt-10.index" in packed.namelist()


def test_a_folder_that_cannot_be_an_archive_is_refused_before_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_STATE", str(tmp_path / "state"))
    (tmp_path / "file").write_text("")
    root = tmp_path / "runs"
    for archive, message in {
        root / "copies": r"archive must be a folder outside the folder of runs.*Choose a folder",
        root: "outside the folder of runs",
        tmp_path
        / "file"
        / "copies": r"archive must be a folder that can be created and written; got",
        "/content/drive/MyDrive/runs": r"Drive is not mounted.*Mount it in a cell: from google",
    }.items():
        with pytest.raises(PlanError, match=message):
            start_run(RunConfig(archive=archive), root, LAPTOP)
    with pytest.raises(PlanError) as caught:
        start_run(RunConfig(archive=root, epochs=0), root, LAPTOP)
    assert [problem.field for problem in caught.value.problems] == ["epochs", "archive"]
    assert not root.exists()


def test_a_relative_archive_is_resolved_in_the_folder_of_the_request(
    runs: Runs, tmp_path: Path
) -> None:
    run = runs.make(archive="copies")
    card = read_json(run.dir / "run.json")
    write_text(run.dir / "run.json", json_text({**card, "working_dir": str(tmp_path)}))
    assert archive_of(run.dir) == tmp_path / "copies" / run.id


def test_a_script_edited_in_the_archive_is_kept_next_to_the_new_one(
    runs: Runs, archive: Path
) -> None:
    run = runs.start()
    assert run.wait(LIMIT_SECONDS) == "finished"
    copy = copy_of(run, archive)
    Mirror(run.dir, copy).update()
    (copy / "train.py").write_text("mine\n")
    for _ in range(2):
        Mirror(run.dir, copy).update()
        assert (copy / "train.py").read_text() == run.script
        assert [path.read_text() for path in copy.glob("train-edited-*.py")] == ["mine\n"]
