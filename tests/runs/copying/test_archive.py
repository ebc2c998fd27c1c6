"""Copies of a living run in an archive: whole, in order, and none of the run's own trouble."""

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
    """All files of a run but what tells of its copies and of this moment."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path.name not in ("archive.json", "archive.jsonl", "entered", "supervisor.log")
    }


def archiver_of(run: Run) -> psutil.Process | None:
    """The process that copies this run."""
    words = ["workbench.runs.copying.archiver", str(run.dir)]
    found = [
        process
        for process in psutil.process_iter(["cmdline", "status"])
        if process.info["status"] != psutil.STATUS_ZOMBIE
        and all(word in (process.info["cmdline"] or ()) for word in words)
    ]
    return found[0] if found else None


def copied_to(run: Run, step: int) -> bool:
    """Whether the copy can go on from this step, and nothing is in its way."""
    copies = run.copies
    return copies is not None and copies.step == step and copies.failing_since is None


def copied_whole(run: Run) -> bool:
    """Whether a copy was made after the run's last word."""
    told = run.events()
    whole = [event["time"] for event in told if event.get("whole")]
    last = [event["time"] for event in told if event["task"] != "archive"]
    return bool(whole) and whole[-1] > last[-1] and not run.alive


def test_when_a_run_is_over_its_copy_is_whole_and_nothing_is_left_to_copy(
    runs: Runs, archive: Path
) -> None:
    run = runs.start(archive=str(archive))
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
    assert copy.steps()["step"].tolist()[:30] == list(range(30))
    assert copy.missing == []
    (run.dir / "go").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"
    until(lambda: copied_whole(run))
    assert copy.steps().equals(run.steps())


@pytest.mark.parametrize("way", ["file", "gone", "full"])
def test_an_archive_that_fails_in_mid_run_is_told_and_goes_on_when_it_is_back(
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
    assert "No copy was made since" in run.progress.note
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


def test_an_archive_that_was_emptied_is_filled_anew(runs: Runs, archive: Path) -> None:
    run = runs.start(OFTEN, archive=str(archive), pauses={"40": "go"})
    until(lambda: copied_to(run, 30))
    copy_of(run, archive).rename(archive / "elsewhere")
    until((copy_of(run, archive) / "run.json").exists)
    (run.dir / "go").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"
    until(lambda: copied_whole(run))
    assert content(copy_of(run, archive)) == content(run.dir)


def test_a_copy_that_hangs_is_told_and_holds_up_nothing(runs: Runs, archive: Path) -> None:
    run = runs.make(archive=str(archive), pauses={"40": "go"})
    pipe = copy_of(run, archive) / "checkpoints" / "checkpoint"
    pipe.parent.mkdir(parents=True)
    os.mkfifo(pipe)  # whoever opens it to read waits
    bounds = replace(OFTEN, archive_slow_seconds=0.2, archive_last_seconds=0.2)
    start_script(run.dir, bounds)
    until(lambda: "has not taken a copy for more than 0.2 s" in run.progress.note)
    (run.dir / "go").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"
    until(lambda: not run.alive)
    until(lambda: "No more is tried, as the run is over" in run.progress.note)
    until(lambda: archiver_of(run) is None)


def test_a_process_that_copies_and_dies_takes_nothing_with_it(runs: Runs, archive: Path) -> None:
    run = runs.start(OFTEN, archive=str(archive), pauses={"40": "go"})
    process = until(lambda: archiver_of(run))
    process.kill()
    (run.dir / "go").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"
    assert "unarchived" not in [event["event"] for event in run.events()]


def test_what_a_dead_supervisor_leaves_is_copied_to_the_end(runs: Runs, archive: Path) -> None:
    run = runs.start(archive=str(archive), pauses={"40": "go"})
    until(lambda: run.progress.step == 40)
    os.kill(pid_of(run, "supervisor"), signal.SIGKILL)
    assert run.wait(LIMIT_SECONDS) == "lost"
    until(lambda: copied_whole(run))
    assert copied_to(run, 40)
    assert content(copy_of(run, archive)) == content(run.dir)


def test_a_resumed_run_goes_on_in_the_same_copy(runs: Runs, archive: Path) -> None:
    run = runs.start(OFTEN, archive=str(archive), pauses={"20": "go"})
    until(lambda: run.progress.step == 20)
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped"
    (run.dir / "go").touch()
    assert run.resume().wait(LIMIT_SECONDS) == "finished"
    until(lambda: copied_whole(run))
    assert states(Run(copy_of(run, archive))) == states(run)
    assert content(copy_of(run, archive)) == content(run.dir)


def test_a_deleted_run_ends_its_copying_and_leaves_the_copy(runs: Runs, archive: Path) -> None:
    run = runs.make(archive=str(archive))
    folder = copy_of(run, archive)
    mirror = Mirror(run.dir, folder)
    mirror.update()
    held = content(folder)
    run.delete()
    with pytest.raises(GoneError):
        mirror.update()
    assert content(folder) == held


def test_a_copy_is_extended_by_what_is_new_and_mended_where_it_differs(
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


def test_a_model_that_is_being_written_waits(runs: Runs, archive: Path) -> None:
    run = runs.make()
    mirror = Mirror(run.dir, copy_of(run, archive))
    (run.dir / "model.keras").write_bytes(b"PK\x03\x04 the first half")
    mirror.update()
    assert not (copy_of(run, archive) / "model.keras").exists()
    (run.dir / "model.keras").write_bytes(b"PK\x05\x06" + bytes(18))
    mirror.update()
    assert (copy_of(run, archive) / "model.keras").exists()


def save(run: Run, *names: str, shards: int = 1) -> None:
    """Write checkpoints as TensorFlow does, the last the newest."""
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


def test_only_whole_checkpoints_are_named_and_old_ones_go(runs: Runs, archive: Path) -> None:
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


def test_one_that_the_list_does_not_name_is_not_gone_on_from(runs: Runs) -> None:
    run = runs.make()
    save(run, "ckpt-1", "ckpt-2")
    for kind in ("data-00000-of-00001", "index"):  # as a full disk leaves it
        (run.dir / "checkpoints" / f"ckpt-3.{kind}").touch()
    with zipfile.ZipFile(run.pack()) as packed:
        assert f"{run.id}/checkpoints/ckpt-2.index" in packed.namelist()
        assert f"{run.id}/checkpoints/ckpt-3.index" not in packed.namelist()


@pytest.mark.parametrize("torn", ["", "model_checkpoint_path: "])
def test_checkpoints_are_copied_and_packed_also_where_the_list_of_them_is_torn(
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


def test_what_cannot_be_an_archive_is_said_before_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_STATE", str(tmp_path / "state"))
    (tmp_path / "file").write_text("")
    root = tmp_path / "runs"
    for archive, words in {
        root / "copies": r"archive must be a folder outside the folder of runs.*Choose a folder",
        root: "outside the folder of runs",
        tmp_path / "file" / "copies": r"archive must be a folder that can be made and written; got",
        "/content/drive/MyDrive/runs": r"Drive is not mounted.*Mount it in a cell: from google",
    }.items():
        with pytest.raises(PlanError, match=words):
            start_run(RunConfig(archive=archive), root, LAPTOP)
    with pytest.raises(PlanError) as caught:
        start_run(RunConfig(archive=root, epochs=0), root, LAPTOP)
    assert [problem.field for problem in caught.value.problems] == ["epochs", "archive"]
    assert not root.exists()


def test_a_relative_archive_counts_from_where_the_run_was_asked_for(
    runs: Runs, tmp_path: Path
) -> None:
    run = runs.make(archive="copies")
    card = read_json(run.dir / "run.json")
    write_text(run.dir / "run.json", json_text({**card, "working_dir": str(tmp_path)}))
    assert archive_of(run.dir) == tmp_path / "copies" / run.id


def test_a_script_that_was_edited_in_the_archive_is_kept_beside_the_new_one(
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
