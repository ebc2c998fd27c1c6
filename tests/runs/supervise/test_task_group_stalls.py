"""Synchronous tasks that do not meet or fall silent: the task that is behind is named."""

import pytest

from tests.runs.run_folders import Runs, event_of, processes_of
from tests.runs.task_groups import QUICK_END, TWO, TaskGroups
from tests.waiting import LIMIT_SECONDS, until
from workbench.runs.processes.bounds import Bounds
from workbench.runs.supervise.task_group import TaskGroup


def test_a_missing_task_fails_the_run_after_the_time_to_meet(runs: Runs) -> None:
    waits = {"deaf": True, "code": {"imported": "time.sleep(600)"}}
    own = {"worker-1": {"deaf": True, "code": {"born": "time.sleep(600)"}}, "worker-0": waits}
    run = runs.start(QUICK_END, tasks=TWO, own=own, rendezvous_seconds=1)
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert run.failure.task == "worker-1"
    assert run.failure.cause == "worker-1 did not connect within 1 s."
    assert "rendezvous_seconds" in run.failure.fix
    until(lambda: not processes_of(run))


def test_tasks_that_do_not_find_each_other_fail_after_the_time_to_meet(
    runs: Runs, group_of: TaskGroups
) -> None:
    group = group_of(runs.make(tasks=TWO, code={"imported": "time.sleep(600)"}))
    until(lambda: group.poll(1.0) or all("imported" in task.event_names for task in group.tasks))
    group.poll(180.9)
    assert not group.is_over(180.9)
    group.poll(181.1)
    assert group.is_over(181.1)
    group.end(181.1)
    cause = "All tasks started, but did not find each other within 180 s."
    assert group.conclusion()["cause"] == cause


def test_the_time_to_meet_begins_with_the_first_ready_task(
    runs: Runs, group_of: TaskGroups
) -> None:
    run = runs.make(tasks=TWO, code={"born": "time.sleep(600)"})
    group = group_of(run)
    for now in (1.0, 1000.0):
        group.poll(now)
    assert not group.is_over(1000.0)


def test_only_the_silent_task_is_named_until_it_recovers(runs: Runs, group_of: TaskGroups) -> None:
    own = {"worker-0": {"inside": {"20": "go"}}, "worker-1": {"pauses": {"20": "go"}}}
    run = runs.make(tasks=TWO, own=own)
    group = group_of(run)
    until(lambda: group.poll(1.0) or entered_steps(group) == [20, 10])
    until(lambda: group.poll(1.0) or run.progress.lanes[1].step == 20)
    group.poll(1.0)
    assert group.poll(15.9) == []
    (stalled,) = group.poll(16.1)
    assert (stalled.name, stalled.task) == ("stalled", "worker-1")
    assert stalled.details["silent_seconds"] == pytest.approx(15.1)
    assert group.poll(40.0) == []
    (run.dir / "go").touch()
    (recovered,) = until(lambda: group.poll(41.0))
    assert (recovered.name, recovered.task) == ("recovered", "worker-1")


def test_a_suspended_task_is_named_among_tasks_in_the_same_call(
    runs: Runs, group_of: TaskGroups
) -> None:
    held = {"code": {"20": "os.kill(os.getpid(), signal.SIGSTOP)"}}
    run = runs.make(tasks=TWO, own={"worker-0": {"inside": {"20": "go"}}, "worker-1": held})
    group = group_of(run)
    until(lambda: group.poll(1.0) or group.tasks[1].process.suspended)
    until(lambda: group.poll(1.0) or entered_steps(group) == [20, 20])
    group.poll(1.0)
    (stalled,) = group.poll(16.1)
    assert (stalled.name, stalled.task) == ("stalled", "worker-1")


def test_a_task_that_hangs_before_its_first_step_is_named_after_the_time_to_meet(
    runs: Runs, group_of: TaskGroups
) -> None:
    own = {"worker-0": {"inside": {"0": "go"}}, "worker-1": {"pauses": {"0": "go"}}}
    run = runs.make(tasks=TWO, own=own)
    group = group_of(run)
    until(lambda: group.poll(1.0) or group.leader.watchdog.entered_step() == 0)
    group.poll(1.0)
    assert group.poll(180.9) == []
    (stalled,) = group.poll(181.1)
    assert (stalled.name, stalled.task) == ("stalled", "worker-1")
    assert not group.is_over(181.1)
    (run.dir / "go").touch()
    (recovered,) = until(lambda: group.poll(182.0))
    assert (recovered.name, recovered.task) == ("recovered", "worker-1")


def test_a_silence_of_several_tasks_is_shown_at_the_task_that_is_behind(runs: Runs) -> None:
    own = {"worker-0": {"inside": {"20": "go"}}, "worker-1": {"pauses": {"20": "go"}}}
    run = runs.start(Bounds(poll_seconds=0.02, stall_floor_seconds=0.1), tasks=TWO, own=own)
    until(lambda: "worker-1" in run.progress.note)
    until(lambda: [bool(lane.note) for lane in run.progress.lanes] == [False, True])
    (run.dir / "go").touch()
    until(lambda: event_of(run, "recovered"))
    assert run.wait(LIMIT_SECONDS) == "finished"


def test_the_entered_step_of_an_earlier_attempt_does_not_count(
    runs: Runs, group_of: TaskGroups
) -> None:
    run = runs.make(tasks=TWO, code={"born": "time.sleep(600)"})
    (run.dir / "worker-1").mkdir()
    (run.dir / "worker-1" / "entered").write_text("1000")
    assert entered_steps(group_of(run)) == [-1, -1]


def entered_steps(group: TaskGroup) -> list[int]:
    """Return the first step of the call that each task entered last."""
    return [task.watchdog.entered_step() for task in group.tasks]
