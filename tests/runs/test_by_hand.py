"""Runs of a script that a person started under the observer alone, without the workbench."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.forked import LOG_LEVEL, run_program
from tests.machines import LAPTOP
from tests.runs.run_folders import Runs, states
from tests.waiting import LIMIT_SECONDS, until
from workbench import RunConfig
from workbench.codegen import render_script
from workbench.plan import make_plan
from workbench.runs import Run, RunError, list_runs
from workbench.runs.consent import foreign_code
from workbench.runs.copying.pack import pack
from workbench.runs.copying.restore import restore
from workbench.runs.folder.files import CARD, KEPT_CODE, json_text, read_json, sha256
from workbench.runs.processes.environment import OBSERVER, STOP_FD

EPOCHS, STEPS = 2, 8
CONFIG = RunConfig(strategy="mirrored", replicas=2, epochs=EPOCHS, steps_per_epoch=STEPS)
MODEL = """
import tensorflow as tf

def make_model():
    model = tf.keras.Sequential([tf.keras.Input([10]), tf.keras.layers.Dense(1, "sigmoid")])
    model.compile("sgd", "binary_crossentropy")
    return model
"""


def words(script: Path, folder: Path) -> list[object]:
    return [OBSERVER, "--run-dir", folder, script, "--run-dir", folder]


@contextmanager
def started(script: Path, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a script as a person does at a terminal."""
    environment = {**os.environ, **LOG_LEVEL}
    environment.pop(STOP_FD, None)
    command = [sys.executable, *map(str, words(script, folder))]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    with process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that a script with a person's own model has written on another machine."""
    home = tmp_path_factory.mktemp("there")
    (home / "my_model.py").write_text(MODEL)
    address = f"{home / 'my_model.py'}:make_model"
    script = home / "lesson.py"
    script.write_text(
        render_script(make_plan(RunConfig(**{**vars(CONFIG), "model": address}), LAPTOP))
    )
    run_program(words(script, home / "run"))
    (home / "my_model.py").unlink()
    return home / "run"


@pytest.fixture
def run(trained: Path, runs: Runs) -> Run:
    return Run(shutil.copytree(trained, runs.root / "brought"))


def test_its_folder_opens_as_a_run_wherever_it_is_copied(run: Run, runs: Runs) -> None:
    assert [each.id for each in list_runs(runs.root)] == ["brought"]
    assert (run.status, run.tasks) == ("finished", ("worker-0",))
    assert run.title.startswith("my_model.make_model, Mirrored x 2")
    assert run.progress.step == run.progress.total_steps == EPOCHS * STEPS
    frame = run.replica_steps()
    assert len(frame) == 2 * EPOCHS * STEPS
    assert frame["loss"].notna().all()
    assert run.epochs()["epoch"].tolist() == [1, 2]
    spent = {entry.name: entry.seconds for entry in run.ledger.whole}
    assert spent["steps"] > 0
    assert spent["start-up"] > 0


def test_it_keeps_the_script_and_the_files_that_the_script_imports(run: Run) -> None:
    assert run.script.startswith('"""')
    assert (run.dir / KEPT_CODE / "my_model.py").read_text() == MODEL


def test_it_is_evaluated_and_goes_on_here(run: Run, forking: None) -> None:
    tested = run.evaluate()
    assert tested["test_loss"] > 0
    assert tested["test_accuracy"] is None  # the model has no such metric
    run.resume(epochs=EPOCHS + 1)
    assert run.wait(LIMIT_SECONDS) == "finished", run.failure
    assert len(run.replica_steps()) == 2 * (EPOCHS + 1) * STEPS
    assert len(run.epochs()) == EPOCHS + 1
    assert [path.name for path in (run.dir / KEPT_CODE).iterdir()] == ["my_model.py"]


def test_it_goes_on_here_where_its_interpreter_does_not_exist(run: Run, forking: None) -> None:
    card = read_json(run.dir / CARD)
    (run.dir / CARD).write_text(json_text({**card, "interpreter": "/there/bin/python"}))
    run.resume(epochs=EPOCHS + 1)
    assert run.wait(LIMIT_SECONDS) == "finished", run.failure


LINE = "    model.save(", '    print("mine")\n    model.save('
CONSTANT = "SEED = 42", "SEED = 43"


@pytest.mark.parametrize(("edit", "ran"), [(LINE, True), (LINE, False), (CONSTANT, False)])
def test_an_edited_script_is_not_replaced_by_one_with_more_epochs(
    edit: tuple[str, str], run: Run, *, ran: bool
) -> None:
    assert run.plan.epochs == EPOCHS
    text = run.script.replace(*edit)
    assert text != run.script
    (run.dir / "train.py").write_text(text)
    if ran:
        card = read_json(run.dir / CARD)
        (run.dir / CARD).write_text(json_text({**card, "script_sha256": sha256(text)}))
        (run.dir / "plan.json").unlink()
    with pytest.raises(RunError, match=r"train\.py was edited by hand .* would replace it"):
        run.resume(epochs=EPOCHS + 1)
    assert run.script == text


def test_a_look_at_what_a_resume_runs_executes_nothing(run: Run, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o755)
    card = read_json(run.dir / CARD)
    (run.dir / CARD).write_text(json_text({**card, "interpreter": str(program)}))
    code = foreign_code(run.dir, epochs=EPOCHS + 1)
    assert code is not None
    assert f"EPOCHS = {EPOCHS + 1}" in code.script
    assert MODEL in code.script
    assert not ran.exists()


def test_it_is_packed_and_restored(run: Run, runs: Runs, tmp_path: Path) -> None:
    assert run.plan.own_model is not None  # from here on there is a plan.json, with this folder
    packed = pack(run.dir, tmp_path / "packed.zip")
    run.delete()
    restored = Run(restore(packed, runs.root))
    assert restored.status == "finished"
    code = foreign_code(restored.dir, epochs=EPOCHS + 1)
    assert code is not None
    assert f"EPOCHS = {EPOCHS + 1}" in code.script


def test_a_script_that_the_workbench_did_not_write_says_why_it_does_not_open(run: Run) -> None:
    (run.dir / "train.py").write_text("print(1)\n")
    with pytest.raises(RunError, match=r"brought has no plan\.json, and its train\.py does not"):
        run.plan  # noqa: B018 - it is read


def test_it_is_followed_and_stopped_while_it_trains_and_not_started_twice(
    runs: Runs, tmp_path: Path
) -> None:
    script = tmp_path / "lesson.py"
    script.write_text(
        render_script(make_plan(RunConfig(**{**vars(CONFIG), "epochs": 5000}), LAPTOP))
    )
    folder = runs.root / "here"
    with started(script, folder) as process:
        until((folder / "worker-0" / "steps.f4").exists)
        run = Run(folder)
        assert (run.status, run.alive) == ("running", True)
        with pytest.raises(RunError, match="cannot be resumed, because it is not over"):
            run.resume()
        text = script.read_text()
        script.write_text(f"{text}\nprint('another text')\n")
        second = run_program(words(script, folder), check=False)
        script.write_text(text)
        assert run.script == text
        assert (second.returncode, second.stderr) == (
            1,
            f"Another process records in {folder / 'worker-0'}. Wait for its end, or name another "
            "folder as --run-dir.\n",
        )
        run.stop()
        assert process.wait(LIMIT_SECONDS) == 0
    assert (run.status, states(run)) == ("stopped", ["starting", "running", "stopped"])
    with started(script, folder) as process:
        until(lambda: states(run)[3:] == ["starting", "running"])
        process.send_signal(signal.SIGKILL)
        process.wait(LIMIT_SECONDS)
    assert (run.status, run.alive) == ("lost", False)
    assert run.failure.task == "worker-0"
    assert run.failure.cause.startswith("The process that was started by hand ended without")
    assert run.resume_step > 0
