"""The ends of real runs: killed, stopped, not finite; and a resume after each."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.engine.tasks import trainer_of
from tests.engine.training import ENDLESS, weights, weights_in
from tests.machines import LAPTOP
from tests.runs.run_folders import event_of, pid_of
from tests.waiting import LIMIT_SECONDS, until
from workbench.codegen import render_script
from workbench.config import RunConfig
from workbench.plan import make_plan
from workbench.runs import Run, start_run

pytestmark = pytest.mark.slow

OWN = Path(__file__).parent / "own_models.py"
DATA = Path(__file__).parent / "own_data_sets.py"
LONG = {"synthetic_examples": 20_000, "global_batch_size": 16, "start_now": True}
STEPS_PER_EPOCH = 1250
Start = Callable[..., Run]


@pytest.fixture(scope="module")
def start(root: Path) -> Start:
    def start_one(*, rehearse: bool = True, **fields: object) -> Run:
        config = RunConfig(**{**LONG, **fields})
        return start_run(config, root, LAPTOP, rehearse=rehearse)

    return start_one


def curve(run: Run) -> pd.DataFrame:
    return run.replica_steps(["step", "replica", "loss", "examples"])


def stop(run: Run, beyond: int) -> int:
    """Stop a run after more than `beyond` steps; return the count of steps that it did."""
    until(lambda: run.progress.step > beyond or not run.alive)
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped", run.failure
    return run.progress.step


def assert_same_curve(run: Run, start: Start, **options: object) -> None:
    """Compare every step of a disturbed run with an undisturbed run."""
    epochs = 1 + (run.progress.step - 1) // STEPS_PER_EPOCH
    whole = start(epochs=epochs, **options)
    assert whole.wait(LIMIT_SECONDS) == "finished", whole.failure
    assert run.missing == []
    found, names = curve(run), ["loss", "accuracy", "test_loss", "test_accuracy"]
    pd.testing.assert_frame_equal(found, curve(whole).iloc[: len(found)], rtol=0, atol=1e-6)
    tested = run.epochs()[names].dropna()  # a stop in a test pass leaves NaN
    assert len(tested) > 0
    pd.testing.assert_frame_equal(tested, whole.epochs()[names].loc[tested.index], atol=1e-5)


@pytest.fixture(scope="module")
def whole(start: Start) -> Run:
    """An undisturbed run."""
    run = start(epochs=1)
    assert run.wait(LIMIT_SECONDS) == "finished", run.failure
    return run


def test_the_script_alone_trains_as_the_run(whole: Run, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(whole.script)
    command = [sys.executable, str(script), "--run-dir", str(tmp_path / "alone")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    names = "loss", "accuracy", "test_loss", "test_accuracy"
    result = ", ".join(f"{name} {whole.result()[name]:.4f}" for name in names)
    assert done.stdout == f"start at step 0 of {whole.progress.step}\nepoch 1: {result}\n"
    alone = weights_in(tmp_path / "alone" / "model.keras")
    np.testing.assert_allclose(alone, weights(whole), rtol=0, atol=1e-6)


def test_a_script_whose_batch_has_grown_ends_although_more_steps_are_done_than_planned(
    tmp_path: Path,
) -> None:
    sizes = {"synthetic_examples": 1_280, "global_batch_size": 32, "epochs": 1}
    text = render_script(make_plan(RunConfig(loop="fit", **sizes), LAPTOP))
    script = tmp_path / "train.py"
    for batch, epochs in ((32, 1), (256, 2)):
        changed = text.replace("GLOBAL_BATCH_SIZE = 32", f"GLOBAL_BATCH_SIZE = {batch}")
        script.write_text(changed.replace("EPOCHS = 1 ", f"EPOCHS = {epochs} "))
        done = subprocess.run(
            [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True,
            check=True, timeout=LIMIT_SECONDS,
        )  # fmt: skip
    assert done.stdout.startswith("start at step 40 of 10\n")
    assert (tmp_path / "run" / "checkpoints" / "ckpt-2.index").exists()


@pytest.mark.promise
def test_the_ledger_of_a_run_accounts_for_all_of_its_time(whole: Run) -> None:
    ledger, events = whole.ledger, whole.events()
    first_step = {entry.name: entry.seconds for entry in ledger.first_step}
    assert list(first_step) == ["queue", "start", "data", "trace", "first step"]
    assert min(first_step.values()) > 0
    first_call = np.fromfile(whole.dir / "worker-0" / "calls.f8", "<f8").reshape(-1, 4)[1]
    assert first_step.pop("first step") == pytest.approx(first_call[3])
    traced = event_of(whole, "traced")["time"]
    assert sum(first_step.values()) == pytest.approx(traced - events[0]["time"])
    spent = {entry.name: entry.seconds for entry in ledger.whole}
    stages = ["start-up", "trace", "steps", "checkpoints", "evaluation", "other"]
    assert list(spent) == stages
    assert min(spent.values()) > 0
    assert ledger.queue_seconds == first_step["queue"]
    assert sum(spent.values()) == pytest.approx(ledger.seconds)
    taken = events[-1]["time"] - events[0]["time"]
    assert ledger.seconds == pytest.approx(taken - ledger.queue_seconds)


@pytest.mark.promise
def test_a_killed_trainer_resumes_to_the_curve_of_a_run_never_killed(start: Start) -> None:
    run = start(epochs=ENDLESS, loop="fit")
    pid = until(lambda: trainer_of(run))
    until(lambda: event_of(run, "checkpoint"))
    os.kill(pid, signal.SIGKILL)
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert "SIGKILL" in run.failure.cause
    killed_at, saved = run.progress.step, event_of(run, "checkpoint")["step"]
    run.resume()
    stop(run, killed_at + STEPS_PER_EPOCH)
    again = event_of(run, "start")["step"]
    assert 0 < again == saved <= killed_at
    assert_same_curve(run, start)


def test_after_the_supervisor_is_killed_the_trainer_saves_and_the_run_is_lost(start: Start) -> None:
    run = start(epochs=ENDLESS)
    until(lambda: run.progress.step > 0)
    os.kill(pid_of(run, "supervisor"), signal.SIGKILL)
    assert run.wait(LIMIT_SECONDS) == "lost"
    saved = event_of(run, "checkpoint")["step"]
    assert saved == event_of(run, "stopped")["step"] == run.progress.step
    assert "Resume" in run.failure.fix
    run.resume()
    stop(run, saved + STEPS_PER_EPOCH)
    assert event_of(run, "start")["step"] == saved
    assert_same_curve(run, start)


def test_a_run_stopped_in_an_epoch_resumes_there_and_trains_for_more_epochs(start: Start) -> None:
    run = start(epochs=ENDLESS, loop="fit", pipeline="indexed")
    stopped_at = stop(run, 0)
    run.resume(epochs=ENDLESS + 1)
    assert run.config.epochs == run.plan.epochs == ENDLESS + 1
    stop(run, stopped_at + STEPS_PER_EPOCH)
    assert event_of(run, "start")["step"] == stopped_at
    assert_same_curve(run, start)


@pytest.mark.parametrize("pipeline", ["files", "numpy"])
def test_a_run_whose_pipeline_has_its_own_order_resumes_where_it_stopped(
    start: Start, pipeline: str
) -> None:
    # Of seven files, the last is the first to run out of examples.
    options = {"pipeline": pipeline, "data_files": 7}
    run = start(epochs=ENDLESS, **options)
    stopped_at = stop(run, STEPS_PER_EPOCH)
    run.resume()
    stop(run, stopped_at + STEPS_PER_EPOCH)
    assert_same_curve(run, start, **options)


def test_a_loss_that_is_not_finite_fails_the_run_and_names_step_and_replica(start: Start) -> None:
    run = start(model=f"{OWN}:explosive", rehearse=False)
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert "step 1 on replica 1" in run.failure.cause
    assert "learning rate" in run.failure.fix
    assert event_of(run, "failed")["exit_status"] == 3
    assert run.replica_steps(["loss"])["loss"].isna().tolist()[:2] == [False, True]


def test_a_failure_names_the_first_step_of_any_worker_whose_loss_is_not_finite(
    start: Start,
) -> None:
    run = start(
        strategy="multi_worker_mirrored", data=f"{DATA}:one_broken", model=f"{DATA}:classifier",
        steps_per_call=20, rehearse=False,
    )  # fmt: skip
    assert run.wait(LIMIT_SECONDS) == "failed"
    rows = run.replica_steps(["step", "replica", "loss"])
    first = rows[rows["loss"].isna()].iloc[0]
    assert 1 < first["step"] < 20  # inside the first call, of which both workers record all steps
    assert f"step {first['step']:.0f} on replica {first['replica']:.0f}." in run.failure.cause
    assert run.failure.task == f"worker-{first['replica']:.0f}"
