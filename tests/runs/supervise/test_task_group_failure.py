"""The task that caused the end of several synchronous tasks."""

import os
import signal

import pytest

from tests.runs.run_folders import Runs, event_of, pid_of_task, processes_of
from tests.runs.task_groups import QUICK_END, TWO, UNTIL_DEAD
from tests.waiting import LIMIT_SECONDS, until
from workbench.runs.processes.bounds import Bounds

PATIENT = Bounds(poll_seconds=0.02, last_words_seconds=300)
A_CHILD = (
    "import subprocess; subprocess.Popen"
    "([sys.executable, '-c', 'import time; time.sleep(600)', str(run_dir)])"
)
SUSPENDED = "os.kill(os.getpid(), signal.SIGSTOP)"
UNTIL_SUSPENDED = """
def state(path):
    events = [json.loads(line) for line in path.read_text().splitlines()]
    pid = [event["pid"] for event in events if "pid" in event][-1]
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
while state(run_dir / "worker-1" / "events.jsonl") != "T":
    time.sleep(0.005)
"""
UNHEALTHY = (
    "Collective ops is aborted by: The following tasks are unhealthy (stopped sending heartbeats): "
    "/job:worker/replica:0/task:1 The tasks have crashed."
)
NO_HEARTBEAT = "Collective ops is aborted by: RPC: /tensorflow.CoordinationService/Heartbeat"
ABORTED = "Collective ops is aborted by: recvmsg:Connection reset by peer [task:1]"


@pytest.mark.parametrize("when", ["born", "imported", "0", "20"])
@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("raise ValueError('the reason')", "ValueError: the reason (exit status 1)"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
    ],
)
def test_a_failed_task_is_named_and_no_process_is_left(
    runs: Runs, when: str, code: str, cause: str
) -> None:
    stuck = {"deaf": True, "inside": {"20" if when == "20" else "0": "never"}}
    own = {
        "worker-0": {**stuck, "code": {"born": A_CHILD}},
        "worker-1": {"code": {when: f"{A_CHILD}\n{code}"}},
    }
    run = runs.start(QUICK_END, tasks=TWO, own=own)
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert run.failure.task == "worker-1"
    assert cause in run.failure.cause
    assert run.failure.fix
    until(lambda: not processes_of(run))


def test_the_task_that_failed_is_the_culprit_even_if_another_ended_first(runs: Runs) -> None:
    own = {
        "worker-0": {"code": {"20": f"raise RuntimeError({ABORTED!r})"}},
        "worker-1": {"code": {"20": f"{UNTIL_DEAD % 'worker-0'}\nraise ValueError('the reason')"}},
    }
    run = runs.start(PATIENT, tasks=TWO, own=own)
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert run.failure.task == "worker-1"
    assert run.failure.cause == "ValueError: the reason (exit status 1)"
    assert "the reason" in run.failure.log_tail


def test_a_task_whose_data_ended_is_not_the_culprit_if_another_failed(runs: Runs) -> None:
    unreadable = "Could not apply FILE based sharding"
    own = {
        "worker-0": {"code": {"20": "raise RuntimeError('End of sequence')"}},
        "worker-1": {
            "code": {"20": f"{UNTIL_DEAD % 'worker-0'}\nraise ValueError({unreadable!r})"}
        },
    }
    run = runs.start(PATIENT, tasks=TWO, own=own)
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert run.failure.task == "worker-1"
    assert "as many files" in run.failure.fix


def test_a_killed_task_is_the_culprit(runs: Runs) -> None:
    own = {
        "worker-0": {"code": {"20": f"{UNTIL_DEAD % 'worker-1'}\nraise RuntimeError({ABORTED!r})"}},
        "worker-1": {"pauses": {"20": "never"}},
    }
    run = runs.start(PATIENT, tasks=TWO, own=own)
    until(lambda: run.progress.step == 20)
    os.kill(pid_of_task(run, "worker-1"), signal.SIGKILL)
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert (run.failure.task, event_of(run, "failed")["signal"]) == ("worker-1", "SIGKILL")


def test_a_task_that_exits_with_0_before_its_work_is_done_has_failed(runs: Runs) -> None:
    own = {
        "worker-0": {"code": {"20": f"{UNTIL_DEAD % 'worker-1'}\nraise RuntimeError({ABORTED!r})"}},
        "worker-1": {"code": {"20": "sys.exit(0)"}},
    }
    run = runs.start(PATIENT, tasks=TWO, own=own)
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert run.failure.task == "worker-1"
    assert "without reporting" in run.failure.cause


def test_a_task_with_a_nonfinite_loss_is_the_culprit(runs: Runs) -> None:
    own = {
        "worker-0": {"code": {"20": "raise ValueError('of another kind')"}},
        "worker-1": {"code": {"20": "event('nonfinite', step=20, replica=1); sys.exit(3)"}},
    }
    run = runs.start(PATIENT, tasks=TWO, own=own)
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert run.failure.task == "worker-1"
    assert "step 21 on replica 1" in run.failure.cause


@pytest.mark.parametrize("error", [UNHEALTHY, NO_HEARTBEAT])
def test_a_suspended_task_is_the_culprit(runs: Runs, error: str) -> None:
    own = {
        "worker-0": {"code": {"20": f"{UNTIL_SUSPENDED}\nraise RuntimeError({error!r})"}},
        "worker-1": {"code": {"20": SUSPENDED}},
    }
    run = runs.start(QUICK_END, tasks=TWO, own=own)
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert run.failure.task == "worker-1"
    assert run.failure.cause.startswith("TensorFlow received no heartbeat from worker-1")
    assert "its process" in run.failure.fix


def test_the_first_step_with_a_nonfinite_loss_is_named(runs: Runs) -> None:
    def code(step: int, replica: int) -> str:
        return f"event('nonfinite', step={step}, replica={replica}); sys.exit(3)"

    own = {
        "worker-0": {"code": {"20": code(21, 0)}},
        "worker-1": {"code": {"20": f"{UNTIL_DEAD % 'worker-0'}\n{code(20, 1)}"}},
    }
    run = runs.start(PATIENT, tasks=TWO, own=own)
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert run.failure.task == "worker-1"
    assert "step 21 on replica 1" in run.failure.cause


def test_a_failed_run_of_several_tasks_resumes_to_the_same_curve(runs: Runs) -> None:
    whole = runs.start(tasks=TWO, devices=["CPU:1"])
    own = {"worker-0": {"inside": {"40": "go"}}, "worker-1": {"pauses": {"40": "go"}}}
    run = runs.start(QUICK_END, tasks=TWO, own=own)
    until(lambda: [lane.step for lane in run.progress.lanes] == [40, 40])
    os.kill(pid_of_task(run, "worker-1"), signal.SIGKILL)
    assert run.wait(LIMIT_SECONDS) == "failed"
    (run.dir / "go").touch()
    assert run.resume().wait(LIMIT_SECONDS) == whole.wait(LIMIT_SECONDS) == "finished"
    curves = [each.steps()[["step", "loss"]] for each in (run, whole)]
    assert curves[0].equals(curves[1])
