"""A run restored from its archive after its machine ended, and resumed."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest

from tests.engine.training import ENDLESS, compare_checkpoints
from tests.machines import LAPTOP
from tests.runs.run_folders import QUICK, Runs, event_of, processes_of, starts_of
from tests.runs.task_groups import TWO
from tests.waiting import LIMIT_SECONDS, until
from workbench import RunConfig
from workbench.runs import Run, RunError, archived_runs, open_run, restore_run, start_run
from workbench.runs.copying.mirror import Mirror
from workbench.runs.folder.checkpoints import Saved
from workbench.runs.folder.files import json_text, read_json, write_text
from workbench.runs.processes.environment import Launch

OFTEN = replace(QUICK, archive_every_seconds=0.1)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return tmp_path / "archive"


def end_runtime(run: Run) -> None:
    """Kill every process of a run and delete the folder of runs, as a host does."""
    while numbers := processes_of(run):
        for number in numbers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
    until(lambda: not run.alive)
    shutil.rmtree(run.dir.parent)


def trainer_of(run: Run) -> int:
    """Return the id of the process that runs its script."""
    script = str(run.dir / "train.py")
    every = psutil.process_iter(["cmdline"])
    return next(process.pid for process in every if script in (process.info["cmdline"] or ()))


def copied(run: Run, step: int) -> bool:
    return run.copies is not None and run.copies.step == step


@pytest.mark.parametrize("tasks", [TWO[:1], TWO])
def test_a_run_whose_runtime_ended_resumes_from_its_copy_to_the_same_curve(
    tasks: tuple[str, ...], runs: Runs, archive: Path, tmp_path: Path
) -> None:
    whole = Runs(tmp_path / "other").start(devices=["CPU:1"], tasks=tasks)
    run = runs.start(OFTEN, archive=str(archive), pauses={"40": "go"}, tasks=tasks)
    until(lambda: run.progress.step == 40 and copied(run, 30))
    end_runtime(run)

    back = restore_run(archive / run.id, runs.root)
    assert back.dir == run.dir
    assert back.status == "lost"
    assert back.steps()["step"].tolist()[:30] == list(range(1, 31))
    assert back.epochs()["epoch"].tolist() == [1]
    assert event_of(back, "restored")["folder"] == str(archive / run.id)
    (back.dir / "go").touch()
    assert back.resume().wait(LIMIT_SECONDS) == "finished"
    assert whole.wait(LIMIT_SECONDS) == "finished"
    assert back.missing == []
    assert event_of(back, "start")["step"] == 30
    assert back.steps()[["step", "loss"]].equals(whole.steps()[["step", "loss"]])
    until(lambda: Run(archive / run.id).status == "finished")


def test_the_copy_itself_is_opened_and_resumed_in_the_folder_of_runs(
    runs: Runs, archive: Path
) -> None:
    run = runs.start(OFTEN, archive=str(archive), pauses={"40": "go"})
    until(lambda: copied(run, 30))
    copy = open_run(archive / run.id, runs.root)
    assert copy.status == "running"
    with pytest.raises(RunError, match="cannot be restored, because it is not over"):
        copy.resume()
    copy.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped"
    end_runtime(run)

    (archive / run.id / "go").touch()
    back = copy.resume()
    assert back.dir == run.dir
    assert back.wait(LIMIT_SECONDS) == "finished"


def test_a_run_that_exists_here_is_named_and_not_replaced(runs: Runs, archive: Path) -> None:
    run = runs.make(archive=str(archive))
    Mirror(run.dir, archive / run.id).update()
    (run.dir / "train.py").write_text("edited")
    with pytest.raises(
        RunError, match=r"exists already, and restoring a run replaces nothing\. Open that run"
    ):
        restore_run(archive / run.id, runs.root)
    with pytest.raises(RunError, match="exists already"):
        open_run(archive / run.id, runs.root).resume()
    assert (run.dir / "train.py").read_text() == "edited"


def test_a_partial_copy_resumes_from_its_newest_complete_checkpoint(
    runs: Runs, tmp_path: Path
) -> None:
    run = runs.make()
    saved = run.dir / "checkpoints"
    saved.mkdir()
    lines = ['model_checkpoint_path: "ckpt-2"', *(f'all_{WAYS}: "ckpt-{n}"' for n in (1, 2))]
    (saved / "checkpoint").write_text("\n".join(lines))
    for name in ("ckpt-1.index", "ckpt-1.data-00000-of-00001", "ckpt-2.index"):
        (saved / name).write_text("")
    back = restore_run(run.dir, tmp_path / "here")
    assert Saved.read(back.dir / "checkpoints").names == ("ckpt-1",)
    (saved / "ckpt-1.index").unlink()
    none = restore_run(run.dir, tmp_path / "there")
    assert Saved.read(none.dir / "checkpoints").whole() == []
    assert not (none.dir / "checkpoints" / "checkpoint").exists()


WAYS = "model_checkpoint_paths"


def test_a_restored_run_is_adapted_to_the_new_machine(
    runs: Runs, tmp_path: Path, archive: Path
) -> None:
    run = runs.make(archive="/content/drive/MyDrive/runs")
    gone = {"interpreter": "/gone/python", "state_dir": "/gone"}
    card = {**read_json(run.dir / "run.json"), **gone}
    write_text(run.dir / "run.json", json_text(card))
    Mirror(run.dir, archive / run.id).update()
    back = restore_run(archive / run.id, tmp_path / "here")
    card = read_json(back.dir / "run.json")
    assert Launch.of(back.dir).interpreter == sys.executable
    assert card["state_dir"] == str(tmp_path / "state")
    assert back.config.archive == str(archive)
    assert not (back.dir / "archive.json").exists()
    assert restore_run(run.dir, tmp_path / "there").config == run.config


def test_an_environment_made_before_or_after_the_restore_gives_the_same_interpreter(
    runs: Runs, tmp_path: Path
) -> None:
    environment = tmp_path / "environments" / "tpu" / "bin" / "python"
    run = runs.make()
    card = {**read_json(run.dir / "run.json"), "interpreter": str(environment)}
    write_text(run.dir / "run.json", json_text(card))
    before = restore_run(run.dir, tmp_path / "before")
    assert Launch.of(before.dir).interpreter == sys.executable
    environment.parent.mkdir(parents=True)
    environment.symlink_to(sys.executable)
    after = restore_run(run.dir, tmp_path / "after")
    assert Launch.of(before.dir).interpreter == Launch.of(after.dir).interpreter == str(environment)


def test_a_folder_that_is_not_a_copy_is_refused_with_a_fix(runs: Runs, tmp_path: Path) -> None:
    one, two = runs.make(), runs.make()
    assert [run.id for run in archived_runs(runs.root)] == [two.id, one.id]
    assert [run.id for run in archived_runs(one.dir)] == [one.id]
    with pytest.raises(RunError, match=rf"holds several runs\. Name one of them, such as {two.id}"):
        restore_run(runs.root, tmp_path / "here")
    for nothing in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(RunError, match=r"neither it nor a folder in it holds a run\.json"):
            restore_run(nothing, tmp_path / "here")
    (one.dir / "train.py").unlink()
    with pytest.raises(RunError, match=r"has no train\.py"):
        restore_run(one.dir, tmp_path / "here")
    card = read_json(two.dir / "run.json")
    write_text(two.dir / "run.json", json_text({**card, "id": "../../elsewhere"}))
    with pytest.raises(RunError, match=r"it has the id '\.\./.*an id that can name a folder"):
        restore_run(two.dir, tmp_path / "here")
    assert not (tmp_path / "here").exists()


@pytest.mark.promise
@pytest.mark.slow
@pytest.mark.usefixtures("forking")
def test_real_training_resumes_in_a_new_runtime_to_the_same_curve(
    runs: Runs, archive: Path, tmp_path: Path
) -> None:
    steps, fields = 1_000, {"pipeline": "indexed", "global_batch_size": 64, "start_now": True}
    config = RunConfig(**fields, epochs=ENDLESS, steps_per_epoch=steps)
    run = start_run(replace(config, archive=str(archive)), runs.root, LAPTOP)
    until(lambda: event_of(run, "checkpoint"))
    os.kill(trainer_of(run), signal.SIGSTOP)
    until(lambda: run.copies and run.copies.step)
    end_runtime(run)

    back = open_run(archive / run.id, runs.root)
    assert back.status == "lost"
    back = back.resume()
    runs.made.append(back)
    until(lambda: len(starts_of(back, "worker-0")) == 2 or not back.alive)
    until(lambda: back.progress.step > starts_of(back, "worker-0")[1] + steps or not back.alive)
    back.stop()
    assert back.wait(LIMIT_SECONDS) == "stopped", back.failure
    again = starts_of(back, "worker-0")[1]
    assert again >= steps
    until(lambda: copied(back, back.progress.step))

    epochs = 1 + (back.progress.step - 1) // steps
    whole = start_run(replace(config, epochs=epochs), tmp_path / "other", LAPTOP)
    assert whole.wait(LIMIT_SECONDS) == "finished", whole.failure
    losses = back.steps()["loss"].to_numpy()
    np.testing.assert_array_equal(losses, whole.steps()["loss"][: len(losses)])
    compared = compare_checkpoints(back, whole)
    assert compared["step"] > again
    assert compared["largest_difference"] == 0.0
