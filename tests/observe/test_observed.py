"""Scripts that the workbench did not write, unchanged and under observation."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.forked import LOG_LEVEL, run_program
from tests.observe.observing import (
    LOOP,
    OBSERVER,
    PER_REPLICA,
    SCRIPTS,
    STEPS,
    events,
    losses,
    observe,
)
from tests.waiting import until
from workbench.observe.folder.records import LOG_ROW_BYTES
from workbench.runs.processes.environment import pack_observer

FIT = SCRIPTS / "fit.py"


def largest(folder: Path) -> np.ndarray[Any, Any]:
    """Return another number that each step of each replica reported."""
    return np.fromfile(folder / "worker-0" / "scalar-largest.f4", np.float32).reshape(-1, 2)


@pytest.fixture(scope="module")
def loop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("loop")
    observe(LOOP, folder)
    return folder


def test_every_step_of_every_replica_is_recorded(loop: Path) -> None:
    own = np.load(loop / "losses-0.npy")
    assert own.shape == (STEPS, 2)
    assert (losses(loop) == own * PER_REPLICA).all()
    assert largest(loop).shape == (STEPS, 2)
    assert (largest(loop) > own).all()


def test_the_script_trains_as_it_does_alone(loop: Path, tmp_path: Path) -> None:
    run_program([LOOP, tmp_path])
    assert (np.load(tmp_path / "losses-0.npy") == np.load(loop / "losses-0.npy")).all()


def test_an_optimizer_may_make_its_variables_in_the_first_step(loop: Path, tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    builds = "    optimizer.build(model.trainable_variables)\n"
    script.write_text(LOOP.read_text().replace(builds, ""))
    observe(script, tmp_path / "run")
    np.testing.assert_array_equal(losses(tmp_path / "run"), losses(loop))


@pytest.mark.parametrize("size", [16, 12])
@pytest.mark.parametrize("more", ["", " + 0.0 * tf.reduce_sum(model.trainable_variables[0])"])
def test_a_loss_that_replicas_return_to_be_summed_is_the_mean_of_their_own_examples(
    more: str, size: int, tmp_path: Path
) -> None:
    found, mean = [], '{"loss": tf.reduce_mean(losses),'
    for name, loss in ("mean", mean), ("share", f'{{"loss": loss{more},'):
        script, text = (
            tmp_path / f"{name}.py",
            LOOP.read_text().replace(".batch(16)", f".batch({size})"),
        )
        assert mean in text
        script.write_text(text.replace(mean, loss))
        observe(script, tmp_path / name, 4)
        rows = np.fromfile(tmp_path / name / "worker-0" / "steps.f4", np.float32)
        found.append(rows.reshape(4, 2, 3))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5)


def test_epochs_end_where_the_script_saves_and_each_call_is_timed(loop: Path) -> None:
    assert [(each["epoch"], each["step"]) for each in events(loop, "epoch")] == [
        (1, 6), (2, 12), (3, 18)
    ]  # fmt: skip
    assert [each["step"] for each in events(loop, "checkpoint")] == [6, 12, 18]
    calls = np.fromfile(loop / "worker-0" / "calls.f8").reshape(-1, LOG_ROW_BYTES // 8)
    assert calls[:, 1].sum() == STEPS
    assert (np.diff(calls[:, 2]) > 0).all()
    assert [each["step"] for each in events(loop, "finished")] == [STEPS]


def test_a_stopped_script_goes_on_to_the_same_losses(loop: Path, tmp_path: Path) -> None:
    for step in (1, 2):
        done = observe(LOOP, tmp_path, stop=True)
        assert f"stopped step={step}" in done.stdout
    observe(LOOP, tmp_path)
    assert [each["step"] for each in events(tmp_path, "start")] == [0, 1, 2]
    assert (losses(tmp_path) == losses(loop)).all()
    assert (largest(tmp_path) == largest(loop)).all()


def test_damaged_checkpoints_are_passed_over(loop: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(loop, folder)
    newest = max((folder / "saved").glob("*.index"), key=lambda path: path.name)
    newest.write_bytes(newest.read_bytes()[:40])
    observe(LOOP, folder)
    assert [each["checkpoint"] for each in events(folder, "checkpoint_damaged")] == [
        str(newest.with_suffix(""))
    ]
    assert [each["step"] for each in events(folder, "start")] == [0, 12]
    assert (losses(folder) == losses(loop)).all()


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_a_script_at_a_terminal_saves_when_it_is_asked_to_end(
    asked: signal.Signals, tmp_path: Path
) -> None:
    words = [sys.executable, OBSERVER, "--run-dir", tmp_path, LOOP, tmp_path, "1000000"]
    environment = {**os.environ, **LOG_LEVEL}
    environment.pop("WORKBENCH_STOP_FD", None)
    with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True) as process:
        until((tmp_path / "saved" / "checkpoint").exists)
        process.send_signal(asked)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Ask again to end at once." in said
    (stopped,) = events(tmp_path, "stopped")
    assert events(tmp_path, "checkpoint")[-1]["step"] == stopped["step"]


def test_a_damaged_list_of_checkpoints_is_written_again(loop: Path, tmp_path: Path) -> None:
    script, folder = tmp_path / "mine.py", tmp_path / "copy"
    restores = "checkpoint.restore(manager.latest_checkpoint)"
    script.write_text(LOOP.read_text().replace(restores, "manager.restore_or_initialize()"))
    shutil.copytree(loop, folder)
    (folder / "saved" / "checkpoint").write_bytes(b"\xff damaged")
    other = folder / "saved" / "best-9.index"
    other.write_bytes(b"of another name")
    os.utime(other, (0, 0))
    observe(script, folder)
    assert not events(folder, "checkpoint_damaged")
    assert [each["step"] for each in events(folder, "start")] == [0, STEPS]
    assert (losses(folder) == losses(loop)).all()


def test_a_script_may_begin_with_the_weights_of_another_training(
    loop: Path, tmp_path: Path
) -> None:
    script, path = tmp_path / "mine.py", str(loop / "saved" / "ckpt-3")
    script.write_text(LOOP.read_text().replace("manager.latest_checkpoint", repr(path)))
    observe(script, tmp_path / "run", STEPS + 2)
    assert np.load(tmp_path / "run" / f"losses-{STEPS}.npy").shape == (2, 2)
    assert losses(tmp_path / "run").shape == (2, 2)


def test_a_run_whose_checkpoints_are_gone_does_not_start_again(loop: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(loop, folder, ignore=shutil.ignore_patterns("saved"))
    done = observe(LOOP, folder, check=False)
    assert done.returncode == 1
    assert "Needs a checkpoint to resume from" in done.stderr
    assert (losses(folder) == losses(loop)).all()


def test_one_file_observes_as_the_folder_does(loop: Path, tmp_path: Path) -> None:
    words = [pack_observer(tmp_path), "--run-dir", tmp_path, LOOP, tmp_path]
    subprocess.run([sys.executable, *words], capture_output=True, check=True)
    assert (losses(tmp_path) == losses(loop)).all()


def test_keras_fit_is_recorded_as_keras_reports_it(tmp_path: Path) -> None:
    observe(FIT, tmp_path)
    history = json.loads((tmp_path / "history.json").read_text())
    names = {"loss": "loss", "accuracy": "accuracy", "test_loss": "val_loss",
             "test_accuracy": "val_accuracy"}  # fmt: skip
    found = events(tmp_path, "epoch")
    assert len(found) == 2
    for ours, keras in names.items():
        assert [each[ours] for each in found] == pytest.approx(history[keras], abs=1e-6)
    assert losses(tmp_path).shape == (12, 2)


LATER = """
other = tf.keras.models.clone_model(model)
other.compile("adam", "binary_crossentropy", metrics=["accuracy"])
for each in model, other:
    each.evaluate(batches.take(1), verbose=0)
"""


def test_tests_of_a_model_after_its_training_change_no_results(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text(FIT.read_text() + LATER)
    observe(script, tmp_path / "run")
    history = json.loads((tmp_path / "run" / "history.json").read_text())
    found = events(tmp_path / "run", "epoch")
    assert [each["test_loss"] for each in found] == pytest.approx(history["val_loss"], abs=1e-6)
    measured = [each["metrics"]["test_accuracy"] for each in found]
    assert measured == pytest.approx(history["val_accuracy"], abs=1e-6)


def test_epochs_of_fit_without_tests_end_where_keras_ends_them(tmp_path: Path) -> None:
    script, tested = tmp_path / "mine.py", "validation_data=batches, "
    assert tested in FIT.read_text()
    script.write_text(FIT.read_text().replace(tested, ""))
    observe(script, tmp_path / "run")
    history = json.loads((tmp_path / "run" / "history.json").read_text())
    found = events(tmp_path / "run", "epoch")
    assert [each["step"] for each in found] == [6, 12]
    assert [each["loss"] for each in found] == pytest.approx(history["loss"], abs=1e-6)


PROCESS = """\
import sys
from pathlib import Path

import records

print(__name__, __file__, sys.argv, sys.path[0], records.WHAT)
{end}
"""


@pytest.mark.parametrize(
    ("end", "status", "words"),
    [
        ("", 0, ""),
        ("sys.exit()", 0, ""),
        ("sys.exit(7)", 7, ""),
        ("sys.exit('No data.')", 1, "No data."),
        ("raise ValueError('a fault')", 1, "ValueError: a fault"),
        ("import threading; threading.Timer(0.2, print, ['late']).start()", 0, ""),
    ],
)
def test_a_script_finds_itself_its_folder_and_its_arguments_and_ends_as_it_would_alone(
    end: str, status: int, words: str, tmp_path: Path
) -> None:
    (tmp_path / "records.py").write_text("WHAT = 'the sibling of the script'\n")
    script = tmp_path / "mine.py"
    script.write_text(PROCESS.format(end=end))
    done = observe(script, tmp_path / "run", "--flag", check=False)
    named = ["__main__", script, [str(script), str(tmp_path / "run"), "--flag"], tmp_path]
    assert done.stdout.startswith(" ".join(map(str, [*named, "the sibling of the script\n"])))
    assert done.returncode == status
    assert words in done.stderr
    assert ("late" in done.stdout) == ("late" in end)
    assert len(events(tmp_path / "run", "finished")) == (status == 0)


@pytest.mark.parametrize("wrong", ["0", "-1", "nan", "soon"])
def test_seconds_between_saves_are_above_0(wrong: str, tmp_path: Path) -> None:
    words = ["--run-dir", tmp_path / "run", "--save-seconds", wrong, LOOP]
    done = run_program([OBSERVER, *words], check=False)
    assert done.returncode == 2
    assert f"--save-seconds: needs a number above 0; got {wrong}" in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_missing_script_is_named(tmp_path: Path) -> None:
    words = [sys.executable, OBSERVER, "--run-dir", tmp_path / "run", tmp_path / "none.py"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"there is no script {tmp_path / 'none.py'}" in done.stderr


def test_a_script_saves_as_often_as_asked_for(tmp_path: Path) -> None:
    words = [OBSERVER, "--save-seconds", "0.001", "--run-dir", tmp_path, LOOP, tmp_path]
    run_program(words)
    assert len(events(tmp_path, "checkpoint")) > STEPS / 2


def test_a_loss_that_is_no_number_ends_the_run_where_it_happened(tmp_path: Path) -> None:
    script = tmp_path / "broken.py"
    script.write_text(LOOP.read_text().replace("Adam(0.1)", "SGD(1e30)"))
    done = observe(script, tmp_path / "run", check=False)
    assert done.returncode == 3
    (event, *_) = events(tmp_path / "run", "nonfinite")
    rows = losses(tmp_path / "run")
    assert np.isfinite(rows[: event["step"]]).all()
    assert not np.isfinite(rows[event["step"]]).all()
    (failed,) = events(tmp_path / "run", "failed")
    assert failed["cause"] == "A loss or a weight was not a finite number."


def test_a_pipeline_is_closed_beside_the_training_once_nobody_uses_it(tmp_path: Path) -> None:
    observe(SCRIPTS / "closing.py", tmp_path)
    (thread,) = (tmp_path / "closed").read_text().split()
    assert thread == "closing"
