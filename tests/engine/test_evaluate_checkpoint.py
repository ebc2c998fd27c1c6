"""Evaluations of runs that did not finish: the weights are those of their last checkpoint."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.tasks import trainer_of
from tests.engine.training import ENDLESS
from tests.machines import LAPTOP
from tests.waiting import LIMIT_SECONDS, until
from workbench.config import RunConfig
from workbench.runs import Run, start_run
from workbench.runs.processes.environment import Launch

pytestmark = pytest.mark.slow

OWN = Path(__file__).parent / "own_models.py"
LONG = {
    "synthetic_examples": 6400,
    "per_replica_batch_size": 16,
    "start_now": True,
    "epochs": ENDLESS,
}
Start = Callable[..., Run]


@pytest.fixture(scope="module")
def start(root: Path) -> Start:
    def start_one(**fields: Any) -> Run:
        return start_run(RunConfig(**{**LONG, **fields}), root, LAPTOP, rehearse=False)

    return start_one


def results_of(run: Run) -> dict[int, dict[str, Any]]:
    """Return the results of the run's own test passes, by the step after which each was done."""
    return {event["step"]: event for event in run.events() if event["event"] == "epoch"}


def own_test_at(run: Run, step: int, folder: Path) -> list[dict[str, Any]]:
    """Return the events of the run's own script if its test pass follows its last checkpoint."""
    shutil.copytree(run.dir / "checkpoints", folder / "checkpoints")
    text = re.sub(r"^STEPS_PER_EPOCH = .*$", f"STEPS_PER_EPOCH = {step}", run.script, flags=re.M)
    text = re.sub(r"^EPOCHS = .*$", "EPOCHS = 1", text, flags=re.M)
    (folder / "train.py").write_text(text)
    command = Launch(sys.executable, folder).command(folder)
    subprocess.run([sys.executable, *command], capture_output=True, check=True)
    return [
        json.loads(line) for line in (folder / "worker-0" / "events.jsonl").read_text().splitlines()
    ]


def assert_tested(found: dict[str, Any], expected: dict[str, Any]) -> None:
    for name in ("test_loss", "test_accuracy"):
        assert found[name] == pytest.approx(float(expected[name]), abs=1e-5)


@pytest.mark.promise
def test_a_stopped_run_is_evaluated_with_the_weights_of_its_checkpoint(
    start: Start, tmp_path: Path
) -> None:
    run = start(steps_per_epoch=1_000_000)
    until(lambda: run.progress.step > 100 or not run.alive)
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped", run.failure
    step = run.progress.step
    assert run.evaluated_step == step
    found = run.evaluate()
    assert found["checkpoint_step"] == step
    events = {event["event"]: event for event in own_test_at(run, step, tmp_path)}
    assert events["start"]["step"] == step
    assert_tested(found, events["epoch"])


def test_a_failed_run_of_an_own_model_is_evaluated_with_its_last_checkpoint(start: Start) -> None:
    run = start(model=f"{OWN}:regularized", loop="fit")
    until(lambda: len(results_of(run)) > 1 or not run.alive)
    os.kill(trainer_of(run) or 0, signal.SIGKILL)
    assert run.wait(LIMIT_SECONDS) == "failed"
    found = run.evaluate()
    assert found["checkpoint_step"] == run.evaluated_step
    assert_tested(found, results_of(run)[found["checkpoint_step"]])


@pytest.mark.parametrize("strategy", ["multi_worker_mirrored", "parameter_server"])
def test_a_run_of_several_tasks_is_evaluated_in_one_process(start: Start, strategy: str) -> None:
    run = start(strategy=strategy)
    until(lambda: len(results_of(run)) > 1 or not run.alive)
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped", run.failure
    newest = max((run.dir / "checkpoints").glob("*.index"), key=lambda path: path.stat().st_mtime)
    newest.unlink()  # of the stop; the one before it is of the end of an epoch
    found = run.evaluate()
    assert_tested(found, results_of(run)[found["checkpoint_step"]])
