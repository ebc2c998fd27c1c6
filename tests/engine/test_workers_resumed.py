"""Workers that are stopped, killed and resumed, also with another number of workers."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from tests.engine.tasks import task_of
from tests.engine.training import ENDLESS, Trained, compare_checkpoints, train_together, weights
from tests.machines import LAPTOP
from tests.waiting import LIMIT_SECONDS, until
from workbench.config import RunConfig
from workbench.runs import Run, start_run

pytestmark = pytest.mark.slow

STEPS, BATCH = 200, 32
FIELDS = {"global_batch_size": BATCH, "synthetic_examples": STEPS * BATCH}
STRATEGY = {"strategy": "multi_worker_mirrored", "steps_per_call": 1}
WORKERS = {**FIELDS, **STRATEGY, "epochs": ENDLESS}


@pytest.mark.promise
def test_workers_stopped_then_killed_and_resumed_give_the_curve_of_an_undisturbed_run(
    root: Path,
) -> None:
    config = RunConfig(**WORKERS, start_now=True)
    run: Run = start_run(config, root, LAPTOP)
    until(lambda: run.progress.step > 20 or not run.alive)
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped", run.failure
    stops = [event["step"] for event in run.events() if event["event"] == "stopped"]
    assert len(stops) == 2
    assert len(set(stops)) == 1
    run.resume()
    until(lambda: run.progress.step > stops[0] + 20 or not run.alive)
    victim = task_of(run.dir / "train.py", "worker-1")
    assert victim is not None
    victim.kill()
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert run.failure is not None
    assert run.failure.task == "worker-1"
    assert "SIGKILL" in run.failure.cause
    beyond = max(run.progress.step, STEPS) + 20
    run.resume()
    until(lambda: run.progress.step > beyond or not run.alive)
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped", run.failure
    assert run.missing == []
    assert_same_curve(run, train_undisturbed(root, run, FIELDS))


def test_a_paused_worker_is_named_and_training_goes_on_when_it_continues(root: Path) -> None:
    run = start_run(RunConfig(**WORKERS, start_now=True), root, LAPTOP)
    until(lambda: run.progress.step > 20 or not run.alive)
    paused = task_of(run.dir / "train.py", "worker-1")
    assert paused is not None, run.failure
    paused.suspend()
    until(lambda: "worker-1 has been silent" in run.progress.note or not run.alive)
    assert run.alive, run.failure  # TensorFlow alone ends the others after 10 s
    paused.resume()
    beyond = max(run.progress.step, STEPS) + 20
    until(lambda: run.progress.step > beyond or not run.alive)
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped", run.failure
    assert_same_curve(run, train_undisturbed(root, run, FIELDS))


def test_a_run_resumed_with_fewer_then_more_workers_gives_the_curve_of_one_device(
    root: Path,
) -> None:
    batch = 24  # a multiple of 1, 2 and 3 workers
    fields = {**FIELDS, "global_batch_size": batch, "synthetic_examples": STEPS * batch}
    config = RunConfig(**{**WORKERS, **fields}, start_now=True)
    run = start_run(config, root, LAPTOP)
    until(lambda: has_checkpoint(run) or not run.alive)
    victim = task_of(run.dir / "train.py", "worker-0")
    assert victim is not None, run.failure
    victim.kill()
    assert run.wait(LIMIT_SECONDS) == "failed"
    run.resume(workers=1)
    until(lambda: len(starts(run)) == 2 or not run.alive)
    until(lambda: run.progress.step > starts(run)[1][0] or not run.alive)
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped", run.failure
    run.resume(workers=3)
    until(lambda: len(starts(run)) == 3 or not run.alive)
    until(lambda: run.progress.step > starts(run)[2][0] + STEPS or not run.alive)
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped", run.failure
    began = starts(run)
    assert [workers for _, workers in began] == [2, 1, 3]
    steps = [step for step, _ in began]
    assert steps[0] == 0 < steps[1] < steps[2] < run.progress.step - STEPS
    assert steps[1] % STEPS == 0
    assert run.missing == []
    assert run.steps()["examples"].unique() == [batch]
    whole = train_undisturbed(root, run, fields)
    assert_same_curve(run, whole)
    compared = compare_checkpoints(run, whole.run)
    assert compared["step"] > steps[2]
    assert compared["numbers"] == 3 * len(weights(whole.run)) + 2  # Adam: moments, rate, counter
    assert compared["largest_difference"] < 1e-6


def train_undisturbed(root: Path, run: Run, fields: Mapping[str, object]) -> Trained:
    """Train the epochs that a run has begun, on one device."""
    epochs = 1 + (run.progress.step - 1) // STEPS
    config = RunConfig(**{**fields, "epochs": epochs, "strategy": "one_device"})
    name = f"never-{run.id}"
    return train_together(root, {name: config})[name]


def assert_same_curve(run: Run, whole: Trained) -> None:
    """Compare the steps and epochs that both runs have done."""
    found, losses = run.steps()["loss"], whole.losses()
    steps = min(len(found), len(losses))
    np.testing.assert_allclose(found[:steps], losses[:steps], rtol=0, atol=1e-6)
    names = ["loss", "accuracy", "test_loss", "test_accuracy"]
    recorded, expected = run.epochs()[names].dropna(), whole.run.epochs()[names]
    both = recorded.index.intersection(expected.index)
    assert len(both) > 0
    np.testing.assert_allclose(recorded.loc[both], expected.loc[both], rtol=0, atol=1e-5)


def has_checkpoint(run: Run) -> bool:
    """Return whether the worker that keeps the checkpoints has one."""
    return any((e["event"], e["task"]) == ("checkpoint", "worker-0") for e in run.events())


def starts(run: Run) -> list[tuple[int, int]]:
    """Return the first step and the count of workers of each attempt of the first task."""
    events = [event for event in run.events() if event["event"] == "start"]
    return [(event["step"], event["workers"]) for event in events if event["task"] == "worker-0"]
