"""A run whose task was killed starts all tasks again from its checkpoint, `restarts` times."""

import pytest

from tests.runs.run_folders import Runs, event_of, pid_of_task, states
from tests.runs.task_groups import QUICK_END, TWO
from tests.waiting import LIMIT_SECONDS, until
from workbench.runs import Run, RunError

LED = ("chief-0", "worker-0", "worker-1", "ps-0")
GATE = {"pauses": {"40": "gate"}}


def at_gate(run: Run, attempts: int = 1) -> None:
    until(lambda: len(starts_of(run)) == attempts and run.status == "running")


def starts_of(run: Run, task: str = "worker-0") -> list[int]:
    events = [event for event in run.events() if event["event"] == "start"]
    return [event["step"] for event in events if event["task"] == task]


def test_a_killed_task_restarts_all_tasks_from_the_checkpoint(runs: Runs) -> None:
    run = runs.start(QUICK_END, tasks=TWO, restarts=1, **GATE)
    at_gate(run)
    first = pid_of_task(run, "worker-1")
    run.kill("worker-1")
    killed = "worker-1: Killed on request. All tasks"
    at_gate(run, attempts=2)
    notes = [event.get("note") for event in run.events() if event["event"] == "state"]
    assert f"{killed} start again from the last checkpoint." in notes
    assert f"{killed} started again from the last checkpoint at " in run.progress.note
    assert pid_of_task(run, "worker-1") != first
    (run.dir / "gate").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"
    assert starts_of(run) == [0, 30]
    assert states(run).count("starting") == 2
    assert len(run.replica_steps()) == 240


@pytest.mark.parametrize("task", ["chief-0", "ps-0"])
def test_a_killed_chief_or_parameter_server_restarts_all_tasks_from_the_checkpoint(
    runs: Runs, task: str
) -> None:
    run = runs.start(QUICK_END, tasks=LED, restarts=1, **GATE)
    until(lambda: run.status == "running" and run.progress.step == 40)
    before = {each: pid_of_task(run, each) for each in LED}
    assert not run.restarts_alone(task)
    run.kill(task)
    until(lambda: starts_of(run, "chief-0") == [0, 30])
    assert f"{task}: Killed on request. All tasks start" in run.progress.note
    until(lambda: all(pid_of_task(run, each) != before[each] for each in LED))
    (run.dir / "gate").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"
    assert len(run.replica_steps()) == 2 * 60


def test_a_killed_worker_of_a_chief_starts_again_alone(runs: Runs) -> None:
    run = runs.start(QUICK_END, tasks=LED, restarts=1, **GATE)
    until(lambda: run.status == "running" and run.progress.step == 40)
    before = {each: pid_of_task(run, each) for each in LED}
    assert run.restarts_alone("worker-1")
    run.kill("worker-1")
    until(lambda: pid_of_task(run, "worker-1") != before["worker-1"])
    (run.dir / "gate").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"
    assert {each for each in LED if pid_of_task(run, each) != before[each]} == {"worker-1"}
    assert states(run).count("starting") == 1


def test_a_run_fails_after_its_last_allowed_restart(runs: Runs) -> None:
    run = runs.start(QUICK_END, tasks=TWO, restarts=1, **GATE)
    for attempts in (1, 2):
        at_gate(run, attempts)
        run.kill("worker-0")
        until(lambda attempts=attempts: states(run).count("running") < 2 or not run.alive)
    assert run.wait(LIMIT_SECONDS) == "failed"
    failed = event_of(run, "failed")
    assert failed is not None
    assert (failed["task"], failed["signal"]) == ("worker-0", "SIGKILL")


def test_a_task_without_heartbeats_restarts_the_run(runs: Runs) -> None:
    says = "tasks are unhealthy (stopped sending heartbeats):\n/job:worker/task:1\nThe tasks\n"
    own = {"worker-0": {"code": {"20": f"raise RuntimeError({says!r})"}}, "worker-1": GATE}
    run = runs.start(QUICK_END, tasks=TWO, restarts=1, own=own)
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert states(run).count("starting") == 2
    failure = run.failure
    assert failure is not None
    assert "no heartbeat from worker-1" in failure.cause


def test_an_error_of_the_script_restarts_nothing(runs: Runs) -> None:
    own = {"worker-0": GATE, "worker-1": {"code": {"20": "raise ValueError('the reason')"}}}
    run = runs.start(QUICK_END, tasks=TWO, restarts=3, own=own)
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert states(run).count("starting") == 1


def test_a_run_without_restarts_refuses_to_kill_a_task(runs: Runs) -> None:
    run = runs.start(QUICK_END, tasks=TWO, **GATE)
    at_gate(run)
    with pytest.raises(RunError, match="would not start a killed task again"):
        run.kill("worker-1")
    (run.dir / "gate").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"


def test_an_unknown_task_is_not_killed(runs: Runs) -> None:
    run = runs.start(QUICK_END, tasks=TWO, restarts=1, **GATE)
    at_gate(run)
    with pytest.raises(RunError, match=r"has no task 'worker-7'. Name one of: worker-0, worker-1."):
        run.kill("worker-7")
    (run.dir / "gate").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"
