"""Runs from a terminal: training, display, resuming, the test, the stop and the deletion."""

import json
import os
import re
import signal
from pathlib import Path
from subprocess import Popen
from typing import Any

import psutil
import pytest

from tests.cli.terminal import ENDLESS, SMALL, Terminal, last_json
from tests.forked import LOG_LEVEL
from tests.waiting import LIMIT_SECONDS, until
from workbench.runs import Run, RunError, list_runs, open_run
from workbench.runs.folder.files import sha256
from workbench.runs.programs.step_xray import StepXray
from workbench.runs.records.live import LiveRun

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("forking")]

FIELDS = {
    *("run", "dir", "status", "num_replicas_in_sync", "global_batch_size", "steps"),
    *("examples_per_second", "loss", "accuracy", "test_loss", "test_accuracy", "script_sha256"),
}


@pytest.fixture(scope="module")
def finished(terminal: Terminal) -> dict[str, Any]:
    """The last line that `run --json` printed for a small run."""
    named = ("--name", 'it\'s "mine"')
    done = terminal.type("run", *SMALL, *named, "--json")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr.startswith("Note: Gradients are summed by ReductionToOneDevice")
    assert "epoch 1: loss" in done.stderr
    return dict(last_json(done))


@pytest.mark.promise
def test_json_ends_with_every_field_of_the_result(
    finished: dict[str, Any], terminal: Terminal
) -> None:
    assert finished.keys() == FIELDS
    assert finished["status"] == "finished"
    assert (finished["num_replicas_in_sync"], finished["global_batch_size"]) == (2, 128)
    assert finished["steps"] == 5
    run = open_run(finished["run"], terminal.runs)
    assert finished["dir"] == str(run.dir)
    assert finished["script_sha256"] == sha256(run.script)
    for name in ("loss", "accuracy", "test_loss", "test_accuracy"):
        assert 0 < finished[name] < 2


@pytest.mark.promise
def test_runs_are_listed_and_shown(finished: dict[str, Any], terminal: Terminal) -> None:
    table = terminal.type("runs", "list").stdout
    row = next(line for line in table.splitlines() if finished["run"] in line)
    assert "finished" in row
    assert "mirrored on 2 virtual replicas" in row
    listed = json.loads(terminal.type("runs", "list", "--json").stdout)
    assert finished in listed
    card = terminal.type("runs", "show", finished["run"]).stdout
    assert "2 virtual replicas" in card
    assert finished["dir"] in card
    assert 'it\'s "mine"' in card
    shown = last_json(terminal.type("runs", "show", finished["dir"], "--json"))
    assert {name: shown[name] for name in FIELDS} == finished


def test_the_import_of_a_cold_start_is_told(terminal: Terminal) -> None:
    done = terminal.type("run", *SMALL, "--start", "cold", "--json")
    assert done.returncode == 0, done.stderr
    assert "\nImporting TensorFlow.\n" in done.stderr


def test_the_times_of_a_run_are_shown(finished: dict[str, Any], terminal: Terminal) -> None:
    shown = last_json(terminal.type("runs", "show", finished["run"], "--json"))
    first_step, whole = shown["ledger"]["first_step"], shown["ledger"]["whole"]
    assert list(first_step) == ["queue", "start", "data", "trace", "first step"]
    assert {"start-up", "trace", "steps", "checkpoints", "evaluation", "other"} <= whole.keys()
    lines = terminal.type("runs", "show", finished["run"]).stdout.splitlines()
    (line,) = [line for line in lines if line.startswith("  first step  ")]
    assert re.search(r"[\d.]+ s: queue [\d.]+ s, start .* data .* trace .* first step", line)
    (line,) = [line for line in lines if line.startswith("  duration    ")]
    assert re.search(r"start-up .* trace .* steps .* evaluation .* other", line)


def test_a_step_is_x_rayed(finished: dict[str, Any], terminal: Terminal) -> None:
    step = last_json(terminal.type("runs", "xray", finished["run"], "--step", 5, "--json"))
    assert (step["step"], step["agrees"], step["weights"]["equal"]) == (5, True, True)
    lines = terminal.type("runs", "xray", finished["run"], "--step", 5).stdout.splitlines()
    for name in ("loss sum", "  recorded", "loss sum / 128", "gradient norm", "weights after"):
        (line,) = [line for line in lines if re.match(f"{name}  +", line)]
        assert len(re.findall(r"  [\w.]+", line.removeprefix(name))) == 2, line
    assert "record         the same loss sums and examples, to 1e-6 of the mean loss" in lines
    refused = terminal.type("runs", "xray", finished["run"], "--step", 6)
    assert refused.returncode == 1
    assert "has not done step 6, only steps 1 to 5" in refused.stderr


@pytest.mark.promise
def test_the_first_step_is_step_1_and_the_last_is_the_number_of_steps_everywhere(
    finished: dict[str, Any], terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**LOG_LEVEL, "WORKBENCH_STATE": str(terminal.state)}.items():
        monkeypatch.setenv(name, value)
    run, last = open_run(finished["dir"]), finished["steps"]
    charts = LiveRun(run.dir, run.plan)
    charts.poll()
    losses = run.steps().set_index("step")["loss"]
    for steps in (losses.index, run.replica_steps()["step"], charts.points().step):
        assert (steps.min(), steps.max()) == (1, last)
    assert run.progress.step == last
    for step in (0, last + 1):
        with pytest.raises(RunError, match=f"has not done step {step}, only steps 1 to {last}"):
            run.xray(step)
    xray = run.xray(1)
    assert isinstance(xray, StepXray)
    assert (xray.step, xray.origin) == (1, "the first weights")
    assert xray.loss == pytest.approx(losses[1], abs=1e-6)
    assert (run.dir / "xray-0.json").exists()


def test_the_model_of_a_run_is_tested(finished: dict[str, Any], terminal: Terminal) -> None:
    done = terminal.type("evaluate", finished["run"], "--json")
    assert done.returncode == 0, done.stderr
    tested = last_json(done)
    assert tested["test_loss"] == pytest.approx(finished["test_loss"], abs=1e-5)
    assert tested["test_accuracy"] == pytest.approx(finished["test_accuracy"], abs=1e-5)
    assert (tested["test_examples"], tested["checkpoint_step"]) == (128, None)
    assert sum(examples for *_, examples in tested["confusion"]["pairs"]) == 128


def test_a_finished_run_resumes_only_for_more_epochs(
    finished: dict[str, Any], terminal: Terminal
) -> None:
    again = terminal.type("runs", "resume", finished["run"])
    assert again.returncode == 1
    assert "Resume it with epochs=2 or more" in again.stderr
    longer = terminal.type("runs", "resume", finished["run"], "--epochs", 2, "--json")
    assert longer.returncode == 0, longer.stderr
    assert last_json(longer)["steps"] == 10


def test_a_failed_run_gives_the_cause_and_exits_with_one(terminal: Terminal) -> None:
    text = (
        "import tensorflow as tf\n\n\n"
        "class Torn(tf.keras.Model):\n"
        "    def train_step(self, data):\n"
        "        return super().train_step((data[0], tf.reshape(data[1], [7])))\n\n\n"
        "def build():\n"
        "    inputs = tf.keras.Input([10])\n"
        "    model = Torn(inputs, tf.keras.layers.Dense(1)(inputs))\n"
        "    model.compile(loss='mse')\n"
        "    return model\n"
    )
    (terminal.folder / "mine.py").write_text(text)
    done = terminal.type("run", *SMALL, "--model", "mine.py:build")
    assert done.returncode == 1
    assert "status      failed" in done.stdout
    assert "cause       In a rehearsal of two steps, before the run itself: " in done.stdout
    assert "fix         " in done.stdout
    assert "input shapes: [64,1], [1]" in done.stdout


def test_a_model_that_does_not_fit_the_data_is_refused_before_a_run(terminal: Terminal) -> None:
    text = (
        "import tensorflow as tf\n\n\n"
        "def build():\n"
        "    model = tf.keras.Sequential([tf.keras.Input([7]), tf.keras.layers.Dense(1)])\n"
        "    model.compile(loss='mse')\n"
        "    return model\n"
    )
    (terminal.folder / "narrow.py").write_text(text)
    done = terminal.type("run", *SMALL, "--model", "narrow.py:build")
    assert done.returncode == 2
    assert "model must be a model that takes the data; got build's, given" in done.stderr
    assert "value 7, but received input with shape (1, 10). Make the model" in done.stderr


def begin(terminal: Terminal) -> tuple[Popen[str], Run]:
    """Start a long run, and return it when it trains."""
    before = {run.id for run in list_runs(terminal.runs)}
    process = terminal.begin("run", *ENDLESS)
    (run,) = until(lambda: [r for r in list_runs(terminal.runs) if r.id not in before])
    until(lambda: run.progress.step)
    return process, run


def interrupt(process: Popen[str]) -> None:
    """Press Ctrl+C for the command."""
    os.killpg(process.pid, signal.SIGINT)


def line_with(process: Popen[str], text: str) -> str:
    """Read the output of the command up to a line with this text, and return the line."""
    assert process.stdout is not None
    return next(line for line in process.stdout if text in line)


def trainer_of(run: Run) -> psutil.Process:
    path = str(run.dir / "train.py")
    processes = psutil.process_iter(["cmdline"])
    return next(p for p in processes if path in (p.info["cmdline"] or ()))


def test_ctrl_c_stops_with_a_checkpoint_and_exits_with_zero(terminal: Terminal) -> None:
    process, run = begin(terminal)
    interrupt(process)
    assert line_with(process, "Stopping after the current call, with a checkpoint")
    assert line_with(process, "status      stopped")
    assert process.wait(LIMIT_SECONDS) == 0
    assert run.status == "stopped"
    assert list((run.dir / "checkpoints").iterdir())


def test_a_second_ctrl_c_leaves_the_run_to_end_by_itself(terminal: Terminal) -> None:
    process, run = begin(terminal)
    trainer = trainer_of(run)
    trainer.suspend()
    interrupt(process)
    assert line_with(process, "Stopping after the current call")
    interrupt(process)
    assert run.id in line_with(process, "Left running. Watch it with: workbench runs watch")
    assert process.wait(LIMIT_SECONDS) == 0
    until(lambda: run.status == "stopping")
    trainer.resume()
    assert run.wait(LIMIT_SECONDS) == "stopped"


def test_watch_follows_a_run_and_ctrl_c_leaves_it_running(terminal: Terminal) -> None:
    started = last_json(terminal.type("run", *ENDLESS, "--detach", "--json"))
    run = open_run(started["run"], terminal.runs)
    with terminal.begin("runs", "watch", run.id) as watching:
        assert run.id in line_with(watching, run.plan.arithmetic)
        interrupt(watching)
        assert run.id in line_with(watching, "Left running. Watch it with: workbench runs watch")
        assert watching.wait(LIMIT_SECONDS) == 0
    assert run.alive
    run.stop()
    with terminal.begin("runs", "watch", run.id) as watching:
        assert line_with(watching, "status      stopped")
        assert watching.wait(LIMIT_SECONDS) == 0


def test_a_detached_run_trains_is_stopped_and_deleted(terminal: Terminal) -> None:
    done = terminal.type("run", *ENDLESS, "--detach", "--json")
    assert done.returncode == 0
    result = last_json(done)
    assert result["status"] in ("queued", "starting")
    assert result["loss"] is None
    run = open_run(result["run"], terminal.runs)
    until(lambda: run.progress.step)
    refused = terminal.type("runs", "delete", run.id, "--yes")
    assert refused.returncode == 1
    assert "Stop it first" in refused.stderr
    stopped = terminal.type("runs", "stop", run.id, "--json")
    assert stopped.returncode == 0
    assert last_json(stopped)["status"] == "stopped"
    tested = terminal.type("evaluate", run.id).stdout.splitlines()[0]
    assert tested.endswith(f", with the weights of step {run.progress.step:,}, the last checkpoint")
    kept = terminal.type("runs", "delete", run.id, answer="n\n")
    assert kept.returncode == 1
    assert "Not deleted." in kept.stderr
    assert run.dir.exists()
    assert terminal.type("runs", "delete", run.id, answer="y\n").returncode == 0
    assert not run.dir.exists()


def test_a_run_is_restored_from_its_archive_and_resumed(terminal: Terminal) -> None:
    done = terminal.type("run", *SMALL, "--archive", "copies", "--json")
    assert done.returncode == 0, done.stderr
    run = open_run(last_json(done)["run"], terminal.runs)
    copy = terminal.folder / "copies" / run.id
    until(lambda: (found := run.copies) and found.step == 5 and not run.alive)
    assert (
        f"archive     {copy}, continues from step 5" in terminal.type("runs", "show", run.id).stdout
    )
    refused = terminal.type("runs", "restore", copy)
    assert refused.returncode == 1
    assert "replaces nothing" in refused.stderr
    until(lambda: Run(copy).status == "finished")
    run.delete()
    restored = terminal.type("runs", "restore", copy, "--json")
    assert restored.returncode == 0, restored.stderr
    assert last_json(restored) == last_json(done)
    packed = last_json(terminal.type("runs", "pack", run.id, "--json"))
    assert packed["bytes"] == Path(packed["path"]).stat().st_size
    elsewhere = terminal.type("runs", "restore", packed["path"], "--runs-dir", "elsewhere")
    assert elsewhere.returncode == 0, elsewhere.stderr
    assert "status      finished" in elsewhere.stdout
    longer = terminal.type("runs", "resume", run.id, "--epochs", 2, "--json")
    assert longer.returncode == 0, longer.stderr
    assert last_json(longer)["steps"] == 10
