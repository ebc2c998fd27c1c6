"""Runs led by a chief: workers and parameter servers serve it, and workers are restarted."""

import os
import re
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.runs.run_folders import Runs, event_of, pid_of, pid_of_task, processes_of, states
from tests.runs.task_groups import QUICK_END, UNTIL_DEAD, TaskGroups, tf_config_of
from tests.waiting import LIMIT_SECONDS, until
from workbench.runs import Run
from workbench.runs.supervise.task_group import MOST_RESTARTS, TaskGroup

LED = ("chief-0", "worker-0", "worker-1", "ps-0")
UNAVAILABLE = (
    "tensorflow.python.framework.errors_impl.UnavailableError: failed to connect to all addresses"
)


def started(run: Run) -> bool:
    """Return whether all servers serve and the chief has reached its first pause."""
    events = [(event["task"], event["event"]) for event in run.events()]
    return {(task, "serving") for task in LED[1:]} <= set(events) and run.progress.step > 0


def test_each_worker_records_its_own_steps_and_the_chief_the_epochs(
    runs: Runs,
) -> None:
    run = runs.start(tasks=LED, pauses={"40": "go"})
    until(lambda: started(run) and run.progress.step == 40)
    lanes = [(lane.task, lane.phase, lane.step) for lane in run.progress.lanes]
    assert lanes == [
        ("chief-0", "training", None),
        ("worker-0", "training", 20),
        ("worker-1", "training", 20),
        ("ps-0", "serving", None),
    ]
    (run.dir / "go").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"
    steps = run.steps()
    assert steps["step"].tolist() == [step for step in range(1, 31) for _ in range(2)]
    assert steps["worker"].tolist() == [0, 1] * 30
    assert run.epochs()["steps"].tolist() == [30, 30]
    assert run.result()["steps"] == 60
    assert run.missing == []


def test_each_task_knows_the_cluster_of_chief_workers_and_parameter_servers(runs: Runs) -> None:
    code = {"imported": "print(os.environ['TF_CONFIG'])"}
    run = runs.start(tasks=LED, code=code, pauses={"20": "go"})
    until(lambda: started(run))
    configs = {task: tf_config_of(run, task) for task in LED}
    (run.dir / "go").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"
    cluster = configs["chief-0"]["cluster"]
    assert {kind: len(addresses) for kind, addresses in cluster.items()} == {
        "chief": 1,
        "worker": 2,
        "ps": 1,
    }
    assert all(config["cluster"] == cluster for config in configs.values())
    assert configs["ps-0"]["task"] == {"type": "ps", "index": 0}


def test_servers_are_ended_after_the_chief_finished(
    runs: Runs,
) -> None:
    run = runs.start(tasks=LED, own={"ps-0": {"deaf": True}, "worker-1": {"deaf": True}})
    assert run.wait(LIMIT_SECONDS) == "finished"
    until(lambda: not processes_of(run))


def test_a_killed_worker_is_started_again_at_its_address_and_the_run_finishes(runs: Runs) -> None:
    own = {"worker-1": {"code": {"born": "print(os.environ['TF_CONFIG'])"}}}
    run = runs.start(tasks=LED, own=own, pauses={"20": "go"})
    until(lambda: started(run))
    before = pid_of_task(run, "worker-1")
    os.kill(before, signal.SIGKILL)
    until(lambda: pid_of_task(run, "worker-1") != before)
    restarted = event_of(run, "restarted")
    assert restarted["task"] == "worker-1"
    assert "SIGKILL" in restarted["cause"]
    assert run.status == "running"
    (run.dir / "go").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"
    configs = [line for line in run.logs()["worker-1"].splitlines() if line.startswith("{")]
    assert len(configs) == 2
    assert len(set(configs)) == 1


def test_a_killed_evaluator_is_started_again_and_the_run_finishes(runs: Runs) -> None:
    run = runs.start(tasks=(*LED, "evaluator-0"), pauses={"20": "go"})
    until(lambda: started(run))
    before = pid_of_task(run, "evaluator-0")
    os.kill(before, signal.SIGKILL)
    until(lambda: pid_of_task(run, "evaluator-0") != before)
    assert event_of(run, "restarted")["task"] == "evaluator-0"
    assert run.status == "running"
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped"


def test_a_worker_that_fails_repeatedly_fails_the_run(runs: Runs) -> None:
    own = {"worker-1": {"code": {"serving": "raise ValueError('the reason')"}}}
    run = runs.start(QUICK_END, tasks=LED, own=own, pauses={"20": "never"})
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert run.failure.task == "worker-1"
    assert run.failure.cause == "ValueError: the reason (exit status 1)"
    restarts = [event for event in run.events() if event["event"] == "restarted"]
    assert [event["task"] for event in restarts] == ["worker-1"] * MOST_RESTARTS
    until(lambda: not processes_of(run))


def test_a_worker_that_cannot_be_started_again_fails_the_run(runs: Runs, tmp_path: Path) -> None:
    interpreter = tmp_path / "python"
    interpreter.symlink_to(sys.executable)
    run = runs.start(QUICK_END, tasks=LED, interpreter=str(interpreter), pauses={"20": "never"})
    until(lambda: started(run))
    interpreter.unlink()
    os.kill(pid_of_task(run, "worker-1"), signal.SIGKILL)
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert run.failure.task == "worker-1"
    assert str(interpreter) in run.failure.cause
    until(lambda: not processes_of(run))


def test_a_dead_parameter_server_is_named_even_if_the_chief_fails_first(
    runs: Runs,
) -> None:
    fails = f"{UNTIL_DEAD % 'ps-0'}\nraise RuntimeError({UNAVAILABLE!r})"
    run = runs.start(tasks=LED, own={"chief-0": {"code": {"20": fails}}})
    until(lambda: started(run))
    os.kill(pid_of_task(run, "ps-0"), signal.SIGKILL)
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert run.failure.task == "ps-0"
    assert "SIGKILL" in run.failure.cause
    assert event_of(run, "restarted") is None


def test_a_chief_that_waits_for_a_dead_parameter_server_is_ended(runs: Runs) -> None:
    run = runs.start(QUICK_END, tasks=LED, pauses={"20": "never"}, deaf=True)
    until(lambda: started(run))
    os.kill(pid_of_task(run, "ps-0"), signal.SIGKILL)
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert run.failure.task == "ps-0"
    until(lambda: not processes_of(run))


def test_a_failing_chief_is_the_cause_and_its_servers_are_ended(runs: Runs) -> None:
    run = runs.start(tasks=LED, own={"chief-0": {"code": {"20": "raise ValueError('why')"}}})
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert (run.failure.task, run.failure.cause) == (
        "chief-0",
        "ValueError: why (exit status 1)",
    )
    until(lambda: not processes_of(run))


def test_a_chief_that_ends_between_two_checks_is_the_cause(
    runs: Runs, group_of: TaskGroups
) -> None:
    fails = {"code": {"born": "raise ValueError('why')"}}
    group = group_of(runs.make(tasks=LED, own={"chief-0": fails}))
    until(lambda: group.leader.exit_status is not None)
    assert not group.is_over(0.0)
    group.poll(0.0)
    assert group.is_over(0.0)
    group.end(0.0)
    assert group.conclusion()["task"] == "chief-0"


def test_a_stop_asks_only_the_chief_and_ends_the_servers(runs: Runs) -> None:
    run = runs.start(tasks=LED, pauses={"20": "go"})
    until(lambda: started(run))
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped"
    assert states(run)[-2:] == ["stopping", "stopped"]
    assert event_of(run, "stopped")
    assert event_of(run, "asked") is None
    assert event_of(run, "restarted") is None
    until(lambda: not processes_of(run))
    (run.dir / "go").touch()
    assert run.resume().wait(LIMIT_SECONDS) == "finished"
    assert run.steps().groupby("worker")["step"].apply(list).tolist() == [list(range(1, 31))] * 2


def test_a_killed_supervisor_leaves_no_task_and_the_run_resumes(runs: Runs) -> None:
    run = runs.start(tasks=LED, pauses={"40": "go"})
    until(lambda: started(run) and run.progress.step == 40)
    os.kill(pid_of(run, "supervisor"), signal.SIGKILL)
    assert run.wait(LIMIT_SECONDS) == "lost"
    until(lambda: not processes_of(run))
    (run.dir / "go").touch()
    assert run.resume().wait(LIMIT_SECONDS) == "finished"
    assert run.result()["steps"] == 60


def test_a_missing_worker_fails_the_run_after_the_time_to_meet(
    runs: Runs,
) -> None:
    own = {
        "chief-0": {"deaf": True, "code": {"imported": "time.sleep(600)"}},
        "worker-0": {"code": {"born": "time.sleep(600)"}},
    }
    run = runs.start(QUICK_END, tasks=LED, own=own, rendezvous_seconds=1)
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert run.failure.task == "worker-0"
    assert re.search(r"worker-0.* did not connect", run.failure.cause)


def brought_to(group: TaskGroup, run: Run, step: int) -> None:
    """Check at 1 s until the chief has reached a step; `begin` starts it once all serve."""
    ready = {"start", "serving"}
    until(lambda: group.poll(1.0) or all(ready & set(task.event_names) for task in group.tasks))
    if step:
        (run.dir / "begin").touch()
    until(lambda: group.poll(1.0) or steps_called(run) == step)
    group.poll(1.0)


def steps_called(run: Run) -> int:
    """Return the steps of all recorded calls; a call is recorded after its steps."""
    calls = [np.fromfile(path, "<f8").reshape(-1, 4) for path in run.dir.glob("worker-*/calls.f8")]
    return int(sum(each[:, 1].sum() for each in calls))


@pytest.mark.parametrize("step", [20, 40])
def test_the_chief_is_named_if_all_workers_fall_silent_together(
    runs: Runs, group_of: TaskGroups, step: int
) -> None:
    run = runs.make(tasks=LED, pauses={"0": "begin", str(step): "go"})
    group = group_of(run)
    brought_to(group, run, step)
    assert group.poll(15.9) == []
    (stalled,) = group.poll(16.1)
    assert (stalled.name, stalled.task) == ("stalled", "chief-0")
    assert stalled.details["silent_seconds"] == pytest.approx(15.1)
    assert group.poll(40.0) == []
    (run.dir / "go").touch()
    (recovered,) = until(lambda: group.poll(41.0))
    assert (recovered.name, recovered.task) == ("recovered", "chief-0")
    assert group.poll(41.1) == []


def test_a_worker_that_keeps_its_work_is_named_until_it_continues(
    runs: Runs, group_of: TaskGroups
) -> None:
    run = runs.make(tasks=LED, pauses={"0": "begin", "10": "on", "20": "go"})
    group = group_of(run)
    brought_to(group, run, 10)
    (run.dir / "on").touch()
    until(lambda: group.poll(10.0) or steps_called(run) == 20)
    group.poll(10.0)
    (stalled,) = group.poll(16.1)
    assert (stalled.name, stalled.task) == ("stalled", "worker-0")
    assert group.poll(60.0) == []
    (run.dir / "go").touch()
    (recovered,) = until(lambda: group.poll(61.0))
    assert (recovered.name, recovered.task) == ("recovered", "worker-0")
    assert group.poll(62.0) == []


def test_a_worker_that_hangs_in_its_first_call_is_named(runs: Runs, group_of: TaskGroups) -> None:
    run = runs.make(tasks=LED, pauses={"0": "on", "10": "go"})
    group = group_of(run)
    brought_to(group, run, 0)
    (run.dir / "on").touch()
    until(lambda: group.poll(10.0) or steps_called(run) == 10)
    group.poll(10.0)
    assert group.poll(24.9) == []
    (stalled,) = group.poll(25.1)
    assert (stalled.name, stalled.task) == ("stalled", "worker-1")


def test_workers_without_work_during_a_long_test_pass_are_not_silent(
    runs: Runs, group_of: TaskGroups
) -> None:
    run = runs.make(tasks=LED, tests={"30": "tested"}, pauses={"0": "begin", "30": "go"})
    group = group_of(run)
    brought_to(group, run, 30)
    until(lambda: group.poll(1.0) or "test" in group.leader.event_names)
    assert group.poll(1000.0) == []
    (run.dir / "tested").touch()
    until(lambda: group.poll(1000.0) or "checkpoint" in group.leader.event_names)
    assert group.poll(1001.0) == []
    assert group.poll(1016.1) != []
