"""Workers that are stopped, killed and resumed, with other numbers of workers too."""

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
def test_stopped_then_killed_at_some_step_and_resumed_it_gives_the_curve_of_a_run_never_stopped(
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
    assert_same_curve(run, never_disturbed(root, run, FIELDS))


def test_a_worker_that_is_held_is_named_and_when_it_comes_back_all_go_on(root: Path) -> None:
    run = start_run(RunConfig(**WORKERS, start_now=True), root, LAPTOP)
    until(lambda: run.progress.step > 20 or not run.alive)
    held = task_of(run.dir / "train.py", "worker-1")
    assert held is not None, run.failure
    held.suspend()
    until(lambda: "worker-1 has been silent" in run.progress.note or not run.alive)
    assert run.alive, run.failure  # TensorFlow by itself ends the others after 10 s
    held.resume()
    beyond = max(run.progress.step, STEPS) + 20
    until(lambda: run.progress.step > beyond or not run.alive)
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped", run.failure
    assert_same_curve(run, never_disturbed(root, run, FIELDS))


def test_resumed_with_fewer_workers_and_then_with_more_it_gives_the_curve_of_one_device(
    root: Path,
) -> None:
    batch = 24  # which 1, 2 and 3 workers share evenly
    fields = {**FIELDS, "global_batch_size": batch, "synthetic_examples": STEPS * batch}
    config = RunConfig(**{**WORKERS, **fields}, start_now=True)
    run = start_run(config, root, LAPTOP)
    until(lambda: saved(run) or not run.alive)
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
    whole = never_disturbed(root, run, fields)
    assert_same_curve(run, whole)
    compared = compare_checkpoints(run, whole.run)
    assert compared["step"] > steps[2]
    assert compared["numbers"] == 3 * len(weights(whole.run)) + 2  # Adam: moments, rate, counter
    assert compared["largest_difference"] < 1e-6


def never_disturbed(root: Path, run: Run, fields: Mapping[str, object]) -> Trained:
    """Train as many epochs as a run has begun, on one device."""
    epochs = 1 + (run.progress.step - 1) // STEPS
    config = RunConfig(**{**fields, "epochs": epochs, "strategy": "one_device"})
    name = f"never-{run.id}"
    return train_together(root, {name: config})[name]


def assert_same_curve(run: Run, whole: Trained) -> None:
    """Compare the steps and epochs that both have done."""
    found, losses = run.steps()["loss"], whole.losses()
    steps = min(len(found), len(losses))
    np.testing.assert_allclose(found[:steps], losses[:steps], rtol=0, atol=1e-6)
    names = ["loss", "accuracy", "test_loss", "test_accuracy"]
    told, expected = run.epochs()[names].dropna(), whole.run.epochs()[names]
    both = told.index.intersection(expected.index)
    assert len(both) > 0
    np.testing.assert_allclose(told.loc[both], expected.loc[both], rtol=0, atol=1e-5)


def saved(run: Run) -> bool:
    """Whether the worker whose checkpoints stay has one."""
    return any((e["event"], e["task"]) == ("checkpoint", "worker-0") for e in run.events())


def starts(run: Run) -> list[tuple[int, int]]:
    """The step at which each attempt of the leading task began, and its workers."""
    told = [event for event in run.events() if event["event"] == "start"]
    return [(event["step"], event["workers"]) for event in told if event["task"] == "worker-0"]
