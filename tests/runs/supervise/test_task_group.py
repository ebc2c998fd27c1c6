"""Runs of several synchronous tasks, which start, stop and end together."""

import os
import signal
import subprocess
import sys

import pytest

from tests.runs.run_folders import QUICK, Runs, event_of, pid_of, processes_of
from tests.runs.task_groups import QUICK_END, TWO, tf_config_of
from tests.waiting import LIMIT_SECONDS, until


def test_tasks_start_together_and_each_has_its_tf_config_records_and_lane(
    runs: Runs,
) -> None:
    code = {"0": "print(os.environ['TF_CONFIG'])"}
    run = runs.start(tasks=TWO, code=code, pauses={"40": "go"})
    until(lambda: [lane.step for lane in run.progress.lanes] == [40, 40])
    assert [lane.task for lane in run.progress.lanes] == list(TWO)
    assert run.progress.step == 40
    (run.dir / "go").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"
    first, second = (tf_config_of(run, task) for task in TWO)
    assert first["cluster"] == second["cluster"]
    assert len(set(first["cluster"]["worker"])) == 2
    assert first["task"] == {"type": "worker", "index": 0}
    assert second["task"] == {"type": "worker", "index": 1}
    assert run.steps()["step"].tolist() == list(range(1, 61))
    assert run.replica_steps(["replica"])["replica"].tolist()[:4] == [0, 1, 2, 3]
    assert run.missing == []
    until(lambda: not processes_of(run))


@pytest.mark.parametrize("given", ["{", '{"cluster": {"worker": ["a:1"]}}', '{"task": 7}', ""])
@pytest.mark.parametrize("tasks", [TWO, TWO[:1]])
def test_tf_variables_of_the_calling_process_do_not_reach_the_tasks(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, given: str, tasks: tuple[str, ...]
) -> None:
    monkeypatch.setenv("TF_CONFIG", given)
    monkeypatch.setenv("TF_USE_LEGACY_KERAS", "1")
    names = "('TF_CONFIG', 'TF_USE_LEGACY_KERAS')"
    code = {"0": f"print([os.environ.get(name) for name in {names}])"}
    run = runs.start(tasks=tasks, code=code)
    assert run.wait(LIMIT_SECONDS) == "finished", run.failure
    for log in run.logs().values():
        assert ("[None, None]" in log) == (len(tasks) == 1)
        assert ", None]" in log


def test_legacy_keras_is_set_if_the_plan_has_it(runs: Runs) -> None:
    run = runs.start(keras="legacy", code={"0": "print('is', os.environ['TF_USE_LEGACY_KERAS'])"})
    assert run.wait(LIMIT_SECONDS) == "finished"
    assert "is 1" in run.log()


def test_a_stop_ends_tasks_that_hang_and_ignore_sigterm(runs: Runs) -> None:
    own = {"worker-0": {"inside": {"20": "never"}}, "worker-1": {"pauses": {"20": "never"}}}
    run = runs.start(QUICK_END, tasks=TWO, own=own, deaf=True)
    until(lambda: [lane.step for lane in run.progress.lanes] == [20, 20])
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped"
    assert "did not stop within 0.1 s" in run.progress.note
    until(lambda: not processes_of(run))


def test_all_tasks_stop_at_the_same_step_and_resume_there(runs: Runs) -> None:
    run = runs.start(tasks=TWO, pauses={"20": "go"})
    until(lambda: [lane.step for lane in run.progress.lanes] == [20, 20])
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped"
    ends = [(e["task"], e["step"]) for e in run.events() if e["event"] == "stopped"]
    assert sorted(ends) == [("worker-0", 20), ("worker-1", 20)]
    (run.dir / "go").touch()
    assert run.resume().wait(LIMIT_SECONDS) == "finished"
    assert run.steps()["step"].tolist() == list(range(1, 61))


def test_a_killed_supervisor_leaves_no_task_and_the_run_is_lost_and_resumes(runs: Runs) -> None:
    run = runs.start(tasks=TWO, pauses={"40": "go"})
    until(lambda: [lane.step for lane in run.progress.lanes] == [40, 40])
    os.kill(pid_of(run, "supervisor"), signal.SIGKILL)
    assert run.wait(LIMIT_SECONDS) == "lost"
    until(lambda: not processes_of(run))
    (run.dir / "go").touch()
    assert run.resume().wait(LIMIT_SECONDS) == "finished"
    assert run.missing == []


def test_a_task_without_its_port_is_named_with_a_fix(runs: Runs) -> None:
    takes = """
import socket
port = int(config['cluster']['worker'][1].rpartition(':')[2])
try:
    socket.socket().bind(('', port))
except OSError as error:
    raise SystemExit(f'Needs port {port} for itself; {error}. Name a free port.')
"""
    own = {"worker-0": {"pauses": {"0": "never"}}, "worker-1": {"code": {"born": takes}}}
    run = runs.start(QUICK_END, tasks=TWO, own=own)
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert run.failure.task == "worker-1"
    assert "Needs port" in run.failure.cause
    assert "Address already in use" in run.failure.cause
    assert "resume the run" in run.failure.fix


def test_no_task_is_started_without_enough_ports(runs: Runs) -> None:
    run = runs.make(tasks=[f"worker-{number}" for number in range(200)])
    command = f"ulimit -n 100; exec {sys.executable} -m workbench.runs.supervise {run.dir}"
    subprocess.run(["bash", "-c", command], check=True)
    assert run.status == "failed"
    assert run.failure.cause.startswith("Not every task got a free port on this machine: ")
    assert "of 200 found; Too many open files" in run.failure.cause
    assert "resume" in run.failure.fix
    assert event_of(run, "imported") is None


def test_started_tasks_are_ended_if_a_later_one_cannot_be_started(runs: Runs) -> None:
    run = runs.make(tasks=TWO, own={"worker-0": {"deaf": True, "pauses": {"0": "never"}}})
    (run.dir / "worker-1" / "log.txt").mkdir(parents=True)
    subprocess.run([sys.executable, "-m", "workbench.runs.supervise", run.dir], check=True)
    assert run.status == "failed"
    assert "worker-1/log.txt: Is a directory" in run.failure.cause
    until(lambda: not processes_of(run))


def test_a_missing_interpreter_is_named_in_a_run_of_several_tasks(
    runs: Runs,
) -> None:
    run = runs.start(QUICK, tasks=TWO, interpreter=f"{sys.executable}-of-nowhere")
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert f"{sys.executable}-of-nowhere" in run.failure.cause
