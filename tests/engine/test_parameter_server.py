"""Asynchronous workers: every step recorded once, and a killed worker restarts."""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from tests.engine.tasks import cluster_variables, task_of, tasks_of
from tests.engine.training import ENDLESS, weights, weights_in, write_run
from tests.forked import run_code, run_program
from tests.machines import LAPTOP
from tests.runs.run_folders import event_of, pid_of
from tests.waiting import LIMIT_SECONDS, until
from workbench.config import RunConfig
from workbench.plan import rehearsed
from workbench.runs import Run, RunError, start_run, start_script
from workbench.runs.programs.step_xray import WorkersXray

pytestmark = pytest.mark.slow

STEPS, EPOCHS, BATCH = 200, 5, 32
FIELDS = {
    "strategy": "parameter_server",
    "epochs": EPOCHS,
    "per_replica_batch_size": BATCH,
    "synthetic_examples": STEPS * BATCH,
    "gradient_norms": True,
}
LONG = {**FIELDS, "epochs": ENDLESS, "steps_per_call": 1, "start_now": True}


@pytest.fixture(scope="module")
def killed(root: Path) -> Run:
    """A run with a custom loop; the fixture kills a worker early and the chief later.

    The worker dies after the end of a call and before the paused chief reads its result.
    """
    run = start_run(RunConfig(**LONG), root, LAPTOP)
    until(lambda: run.progress.step > 0 or not run.alive)
    victim, chief = (task_of(run.dir / "train.py", name) for name in ("worker-1", "chief-0"))
    assert victim is not None, run.failure
    assert chief is not None, run.failure
    chief.suspend()
    until(lambda: victim.cpu_percent(0.2) == 0)
    victim.kill()
    victim.wait()
    chief.resume()
    until(lambda: event_of(run, "checkpoint") or not run.alive)
    chief = task_of(run.dir / "train.py", "chief-0")
    assert chief is not None, run.failure
    chief.kill()
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert run.failure is not None
    assert (run.failure.task, "SIGKILL" in run.failure.cause) == ("chief-0", True)
    until(lambda: not list(tasks_of(run.dir / "train.py")))
    killed_at = run.progress.step
    run.resume()
    until(lambda: run.progress.step > killed_at + STEPS or not run.alive)
    until(lambda: (event_of(run, "epoch") or {}).get("epoch", 0) > 1 or not run.alive)
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped", run.failure
    return run


def test_a_rehearsal_recovers_from_a_kill_of_each_kind_of_task(root: Path) -> None:
    config = rehearsed(RunConfig(**{**FIELDS, "epochs": 1_000}, start_now=True))
    run = start_run(config, root, LAPTOP)
    for task, attempts in (("worker-1", 1), ("ps-0", 2), ("chief-0", 3)):
        until(lambda: event_of(run, "checkpoint") or not run.alive)
        until(lambda: run.status == "running" or not run.alive)
        reached = run.progress.step
        run.kill(task)
        until(lambda task=task: again(run, task) or not run.alive)
        until(lambda reached=reached: trains_beyond(run, reached) or not run.alive)
        starts = [event["step"] for event in run.events() if event["event"] == "start"]
        assert len(starts) == attempts, run.failure
        assert attempts == 1 or starts[-1] >= STEPS
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped", run.failure
    assert run.missing == []


def again(run: Run, task: str) -> bool:
    """Return whether the run has noticed that a task was killed."""
    alone = run.restarts_alone(task)
    return event_of(run, "restarted") is not None if alone else task in run.progress.note


def trains_beyond(run: Run, step: int) -> bool:
    return run.status == "running" and run.progress.step > step + STEPS


@pytest.fixture(scope="module")
def fitted(root: Path) -> Run:
    """A run with Keras fit."""
    run = start_run(RunConfig(**FIELDS, loop="fit", start_now=True), root, LAPTOP)
    assert run.wait(LIMIT_SECONDS) == "finished", run.log()
    return run


@pytest.fixture(scope="module")
def evaluated(root: Path) -> Run:
    """A run with checkpoints that an evaluator tested."""
    config = RunConfig(**{**FIELDS, "epochs": 3}, evaluator=True, start_now=True)
    run = start_run(config, root, LAPTOP)
    assert run.wait(LIMIT_SECONDS) == "finished", run.log()
    return run


BOTH = pytest.mark.parametrize(
    "run", [pytest.param("killed", marks=pytest.mark.promise), "fitted"], indirect=True
)


@pytest.fixture(params=["killed", "fitted"])
def run(request: pytest.FixtureRequest) -> Run:
    found: Run = request.getfixturevalue(request.param)
    return found


@BOTH
def test_each_step_of_each_worker_has_the_norm_of_its_gradient(run: Run) -> None:
    norms = run.replica_steps(["gradient_norm"])["gradient_norm"].to_numpy()
    assert np.isfinite(norms).all()
    assert 0 < norms[:100].min() < norms.max() < 100


@pytest.mark.promise
def test_a_killed_worker_restarts_and_the_run_goes_on_and_leaves_no_process(killed: Run) -> None:
    restarted = event_of(killed, "restarted")
    assert restarted is not None
    assert (restarted["task"], restarted["begun"]) == ("worker-1", "forked")
    assert "SIGKILL" in restarted["cause"]
    until(lambda: not list(tasks_of(killed.dir / "train.py")))


def test_after_the_supervisor_is_killed_the_chief_saves_and_all_tasks_end(root: Path) -> None:
    run = start_run(RunConfig(**LONG), root, LAPTOP)
    until(lambda: run.progress.step > 0 or not run.alive)
    os.kill(pid_of(run, "supervisor"), signal.SIGKILL)
    assert run.wait(LIMIT_SECONDS) == "lost"
    assert not list(tasks_of(run.dir / "train.py"))
    saved = event_of(run, "checkpoint")
    stopped = event_of(run, "stopped")
    assert saved is not None
    assert stopped is not None
    assert saved["step"] == stopped["step"] == run.progress.step


def test_a_worker_that_hangs_does_not_delay_the_others(root: Path) -> None:
    # All workers wait for each other in their first call, at the end of an epoch, and until each
    # has released its last result. So the test pauses one inside a later call of an endless epoch.
    one_epoch = {**LONG, "epochs": 1, "steps_per_epoch": ENDLESS, "steps_per_call": STEPS}
    run = start_run(RunConfig(**one_epoch), root, LAPTOP)
    until(lambda: len(steps_of_workers(run)) == 2 or not run.alive)
    victim = task_of(run.dir / "train.py", "worker-1")
    assert victim is not None, run.failure
    recorded = steps_of_workers(run)[1]
    until(lambda: steps_of_workers(run)[1] > recorded or not run.alive)
    busy = sum(victim.cpu_times()[:2])
    until(lambda: sum(victim.cpu_times()[:2]) > busy + 0.1)
    victim.suspend()
    try:
        before = steps_of_workers(run)
        until(lambda: steps_of_workers(run)[0] > before[0] + STEPS or not run.alive)
        after = steps_of_workers(run)
    finally:
        victim.resume()
    assert run.alive, run.failure
    assert after[0] > before[0] + STEPS
    assert after[1] == before[1]
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped", run.failure
    assert sum(steps_of_workers(run).values()) == run.progress.step


@BOTH
def test_every_step_of_every_worker_is_recorded_exactly_once_and_the_loss_falls(run: Run) -> None:
    steps = run.steps()
    assert len(steps) == run.progress.step
    for _, own in steps.groupby("worker"):
        assert own["step"].tolist() == list(range(1, len(own) + 1))
    assert (steps["examples"] == BATCH).all()
    assert run.missing == []
    epochs, event = run.epochs(), event_of(run, "epoch")
    assert event is not None
    assert len(epochs) == event["epoch"] > 1
    # The call that the killed worker had done is done again; then both are recorded.
    assert sorted(epochs["steps"] - STEPS)[:-1] == [0] * (len(epochs) - 1)
    assert epochs["steps"].max() - STEPS in (0, 1)
    assert epochs["loss"].iloc[-1] < epochs["loss"].iloc[0]


@BOTH
def test_the_staleness_of_every_step_is_recorded(run: Run) -> None:
    steps = run.steps()
    for worker, own in steps.groupby("worker"):
        times = np.fromfile(run.dir / f"worker-{worker}" / "updates", "<f8").reshape(-1, 3)
        assert set(own["step"]) <= set((times[:, 0] + 1).astype(int).tolist())
        assert (np.diff(times[:, 1:].ravel()) >= 0).all()  # a step reads after the previous step
    stale = run.staleness()
    assert len(stale) >= len(steps)
    assert 0 < stale["staleness"].mean() < STEPS
    event = event_of(run, "epoch")
    assert event is not None
    assert sum(event["worker_steps"].values()) == event["step"]


def test_the_same_step_takes_different_examples_on_each_worker(run: Run) -> None:
    step = 7
    xray = run.xray(step)
    assert isinstance(xray, WorkersXray)
    assert [worker.task for worker in xray.workers] == ["worker-0", "worker-1"]
    rows = [row for worker in xray.workers for row in worker.rows or []]
    assert len(set(rows)) == len(rows) == 2 * BATCH
    stale = run.staleness().query("step == @step").set_index("worker")["staleness"]
    recorded = run.steps().query("step == @step").set_index("worker")["loss"]
    for number, worker in enumerate(xray.workers):
        assert worker.examples == BATCH
        assert worker.loss == pytest.approx(recorded[number], rel=1e-6)
        assert worker.staleness == stale[number]


def test_an_xray_of_a_step_that_no_worker_did_is_refused(fitted: Run) -> None:
    with pytest.raises(RunError, match=f"has not done step {STEPS * EPOCHS + 1}, only steps 1 to"):
        fitted.xray(STEPS * EPOCHS + 1)


def test_the_saved_model_gives_the_same_test_results_without_a_strategy(fitted: Run) -> None:
    event, found = event_of(fitted, "epoch"), fitted.evaluate()
    assert event is not None
    assert found["test_accuracy"] == pytest.approx(event["test_accuracy"], abs=1e-5)
    assert found["test_loss"] == pytest.approx(event["test_loss"], abs=1e-5)


def test_the_model_of_a_run_with_legacy_keras_loads_with_its_optimizer_beside_keras_3(
    fitted: Run,
) -> None:
    code = (
        f"from workbench import open_run; model = open_run({str(fitted.dir)!r}).load_model(); "
        "print(type(model).__module__, model.count_params(), model.optimizer.name)"
    )
    module, count, optimizer = run_code(code).stdout.split()
    assert module.startswith("tf_keras")
    assert int(count) > 0
    assert optimizer == "Adam"


@pytest.mark.parametrize("name", ["fitted", "evaluated"])
def test_a_script_started_again_after_its_end_saves_the_trained_model(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    run: Run = request.getfixturevalue(name)
    shutil.copytree(run.dir / "checkpoints", tmp_path / "run" / "checkpoints")
    command = [sys.executable, str(run.dir / "train.py")]
    with cluster_variables({"chief": 1, "worker": 2, "ps": 1}) as named, ExitStack() as stack:
        begun = []
        for variables in named:
            environment = {**os.environ, **variables}
            process = subprocess.Popen(command, cwd=tmp_path, env=environment)
            begun.append(stack.enter_context(process))
            stack.callback(process.kill)
        assert begun[0].wait(LIMIT_SECONDS) == 0
    saved = weights_in(tmp_path / "run" / "model.keras")
    assert len(saved) > 0
    # Keras 2 also saves metrics, which only a test makes.
    np.testing.assert_array_equal(saved, weights(run)[: len(saved)])


def test_an_evaluator_tests_the_newest_checkpoint_and_the_last_one(evaluated: Run) -> None:
    tests = [event for event in evaluated.events() if event["event"] == "evaluated"]
    assert {event["task"] for event in tests} == {"evaluator-0"}
    numbers = [event["epoch"] for event in tests]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] == 3
    assert [event["step"] for event in tests] == [STEPS * number for number in numbers]
    passes = [event["task"] for event in evaluated.events() if event["event"] == "test"]
    assert set(passes) == {"evaluator-0"}
    epochs = evaluated.epochs().set_index("epoch").loc[numbers]
    for name in ("test_loss", "test_accuracy"):
        assert epochs[name].tolist() == [event[name] for event in tests]
        assert evaluated.evaluate()[name] == pytest.approx(tests[-1][name], abs=1e-5)


def test_a_stop_ends_an_evaluator_that_waits_for_a_checkpoint(root: Path) -> None:
    run = start_run(RunConfig(**LONG, evaluator=True), root, LAPTOP)
    until(lambda: run.progress.step > 0 or not run.alive)
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped", run.failure
    assert run.progress.note == ""  # no task had to be ended by a signal


def test_an_evaluator_ends_although_the_chief_could_not_save(root: Path) -> None:
    config = RunConfig(**{**FIELDS, "epochs": 1}, evaluator=True, start_now=True)
    run = write_run(root, "unsaved", config).run
    (run.dir / "checkpoints").touch()  # a file, so no checkpoint can be saved in it
    start_script(run.dir)
    assert run.wait(LIMIT_SECONDS) == "finished", run.failure
    assert event_of(run, "checkpoint_failed") is not None
    assert run.epochs()["test_loss"].isna().tolist() == [True]


def test_a_script_without_the_addresses_of_its_tasks_says_what_it_needs(
    root: Path, tmp_path: Path
) -> None:
    script = write_run(root, "unnamed", RunConfig(**FIELDS)).run.dir / "train.py"
    done = run_program([script], tmp_path, check=False)
    assert done.returncode == 1
    assert "the tasks {'chief': 1, 'worker': 2, 'ps': 1}, not {}. Set it" in done.stderr
    assert "workbench run --script train.py" in done.stderr


def steps_of_workers(run: Run) -> dict[int, int]:
    """Return the count of recorded steps of each worker."""
    return {int(worker): len(own) for worker, own in run.steps().groupby("worker")}


def test_tasks_that_share_one_cpu_train(tmp_path: Path) -> None:
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cpus)})  # the processes of the run inherit it
    try:
        config = RunConfig(**{**FIELDS, "epochs": 1}, start="cold", start_now=True)
        run = start_run(config, tmp_path, LAPTOP)
    finally:
        os.sched_setaffinity(0, cpus)
    assert run.wait(LIMIT_SECONDS) == "finished", run.failure
