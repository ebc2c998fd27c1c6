"""Runs of several tasks that step together: started, failed, silent, stopped as one."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.runs.folder import QUICK, Runs, event_of, pid_of, pid_of_task, processes_of, until
from workbench.runs import Run
from workbench.runs.crew import Crew
from workbench.runs.directory import read_json
from workbench.runs.launch import Launch
from workbench.runs.watchdog import Bounds

TWO = ("worker-0", "worker-1")
QUICK_END = Bounds(
    poll_seconds=0.02, stop_grace_seconds=0.1, kill_grace_seconds=0.1, last_words_seconds=0.1
)
PATIENT = Bounds(poll_seconds=0.02, last_words_seconds=300)
A_CHILD = (
    "import subprocess; subprocess.Popen"
    "([sys.executable, '-c', 'import time; time.sleep(600)', str(run_dir)])"
)
ABORTED = "Collective ops is aborted by: recvmsg:Connection reset by peer [task:1]"
UNTIL_DEAD = """
def lives(path):
    events = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    pids = [event["pid"] for event in events if "pid" in event]
    try:
        os.kill(pids[-1] if pids else os.getpid(), 0)
    except ProcessLookupError:
        return False
    return True
while lives(run_dir / %r / "events.jsonl"):
    time.sleep(0.005)
"""
"""Waits until a task is dead and the supervisor has seen it, for till then its id is not free."""
Crews = Callable[[Run], Crew]


@pytest.fixture
def crew_of() -> Iterator[Crews]:
    """Starts the tasks of a run without a supervisor; `look` is told what time it is."""
    started = []

    def start(run: Run, bounds: Bounds | None = None) -> Crew:
        card, plan = (read_json(run.dir / name) for name in ("run.json", "plan.json"))
        crew = Crew(run.dir, plan, Launch.of(run.dir, card, plan), bounds or Bounds(), ())
        started.append(crew)
        crew.choose_addresses()
        crew.start(0.0, None)
        return crew

    yield start
    for crew in started:
        crew.end(0.0)


def told(run: Run, task: str) -> dict[str, Any]:
    """The TF_CONFIG that a task printed."""
    lines = run.logs()[task].splitlines()
    config: dict[str, Any] = json.loads(next(line for line in lines if line.startswith("{")))
    return config


def test_tasks_start_together_each_with_its_place_in_the_cluster_its_log_records_and_lane(
    runs: Runs,
) -> None:
    code = {"0": "print(os.environ['TF_CONFIG'])"}
    run = runs.start(tasks=TWO, code=code, pauses={"40": "go"})
    until(lambda: [lane.step for lane in run.progress.lanes] == [40, 40])
    assert [lane.task for lane in run.progress.lanes] == list(TWO)
    assert run.progress.step == 40
    (run.dir / "go").touch()
    assert run.wait(30) == "finished"
    first, second = (told(run, task) for task in TWO)
    assert first["cluster"] == second["cluster"]
    assert len(set(first["cluster"]["worker"])) == 2
    assert first["task"] == {"type": "worker", "index": 0}
    assert second["task"] == {"type": "worker", "index": 1}
    assert run.steps()["step"].tolist() == list(range(60))
    assert run.replica_steps(["replica"])["replica"].tolist()[:4] == [0, 1, 2, 3]
    assert run.missing == []
    until(lambda: not processes_of(run))


@pytest.mark.parametrize("given", ["{", '{"cluster": {"worker": ["a:1"]}}', '{"task": 7}', ""])
@pytest.mark.parametrize("tasks", [TWO, TWO[:1]])
def test_what_the_asking_process_has_in_its_environment_never_reaches_the_tasks(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, given: str, tasks: tuple[str, ...]
) -> None:
    monkeypatch.setenv("TF_CONFIG", given)
    monkeypatch.setenv("TF_USE_LEGACY_KERAS", "1")
    names = "('TF_CONFIG', 'TF_USE_LEGACY_KERAS')"
    code = {"0": f"print([os.environ.get(name) for name in {names}])"}
    run = runs.start(tasks=tasks, code=code)
    assert run.wait(30) == "finished", run.failure
    for log in run.logs().values():
        assert ("[None, None]" in log) == (len(tasks) == 1)
        assert ", None]" in log


def test_legacy_keras_is_given_to_the_runs_whose_plan_has_it(runs: Runs) -> None:
    run = runs.start(keras="legacy", code={"0": "print('is', os.environ['TF_USE_LEGACY_KERAS'])"})
    assert run.wait(30) == "finished"
    assert "is 1" in run.log()


@pytest.mark.parametrize("when", ["born", "imported", "0", "20"])
@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("raise ValueError('the reason')", "ValueError: the reason (exit status 1)"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
    ],
)
def test_a_task_that_dies_ends_the_run_which_names_it_and_leaves_nothing_behind(
    runs: Runs, when: str, code: str, cause: str
) -> None:
    stuck = {"deaf": True, "inside": {"20" if when == "20" else "0": "never"}}
    own = {
        "worker-0": {**stuck, "code": {"born": A_CHILD}},
        "worker-1": {"code": {when: f"{A_CHILD}\n{code}"}},
    }
    run = runs.start(QUICK_END, tasks=TWO, own=own)
    assert run.wait(30) == "failed"
    assert run.failure.task == "worker-1"
    assert cause in run.failure.cause
    assert run.failure.fix
    until(lambda: not processes_of(run))


def test_the_culprit_is_who_really_failed_although_another_was_first_to_end(runs: Runs) -> None:
    own = {
        "worker-0": {"code": {"20": f"raise RuntimeError({ABORTED!r})"}},
        "worker-1": {"code": {"20": f"{UNTIL_DEAD % 'worker-0'}\nraise ValueError('the reason')"}},
    }
    run = runs.start(PATIENT, tasks=TWO, own=own)
    assert run.wait(30) == "failed"
    assert run.failure.task == "worker-1"
    assert run.failure.cause == "ValueError: the reason (exit status 1)"
    assert "the reason" in run.failure.log_tail


def test_a_killed_task_is_the_culprit_of_those_that_lose_it(runs: Runs) -> None:
    own = {
        "worker-0": {"code": {"20": f"{UNTIL_DEAD % 'worker-1'}\nraise RuntimeError({ABORTED!r})"}},
        "worker-1": {"pauses": {"20": "never"}},
    }
    run = runs.start(PATIENT, tasks=TWO, own=own)
    until(lambda: run.progress.step == 20)
    os.kill(pid_of_task(run, "worker-1"), signal.SIGKILL)
    assert run.wait(30) == "failed"
    assert (run.failure.task, event_of(run, "failed")["signal"]) == ("worker-1", "SIGKILL")


def test_a_task_that_ends_well_before_its_work_is_done_has_failed(runs: Runs) -> None:
    own = {
        "worker-0": {"code": {"20": f"{UNTIL_DEAD % 'worker-1'}\nraise RuntimeError({ABORTED!r})"}},
        "worker-1": {"code": {"20": "sys.exit(0)"}},
    }
    run = runs.start(PATIENT, tasks=TWO, own=own)
    assert run.wait(30) == "failed"
    assert run.failure.task == "worker-1"
    assert "without saying" in run.failure.cause


def test_a_task_whose_loss_is_no_number_is_the_culprit(runs: Runs) -> None:
    own = {
        "worker-0": {"code": {"20": "raise ValueError('of another kind')"}},
        "worker-1": {"code": {"20": "event('nonfinite', step=20, replica=1); sys.exit(3)"}},
    }
    run = runs.start(PATIENT, tasks=TWO, own=own)
    assert run.wait(30) == "failed"
    assert run.failure.task == "worker-1"
    assert "step 20 on replica 1" in run.failure.cause


def test_a_failed_run_of_several_tasks_resumes_to_the_same_curve(runs: Runs) -> None:
    whole = runs.start(tasks=TWO, devices=["CPU:1"])
    own = {"worker-0": {"inside": {"40": "go"}}, "worker-1": {"pauses": {"40": "go"}}}
    run = runs.start(QUICK_END, tasks=TWO, own=own)
    until(lambda: [lane.step for lane in run.progress.lanes] == [40, 40])
    os.kill(pid_of_task(run, "worker-1"), signal.SIGKILL)
    assert run.wait(30) == "failed"
    (run.dir / "go").touch()
    assert run.resume().wait(30) == whole.wait(30) == "finished"
    curves = [each.steps()[["step", "loss"]] for each in (run, whole)]
    assert curves[0].equals(curves[1])


def test_a_task_that_does_not_come_fails_the_run_after_the_time_given_to_meet(runs: Runs) -> None:
    waits = {"deaf": True, "code": {"imported": "time.sleep(600)"}}
    own = {"worker-1": {"deaf": True, "code": {"born": "time.sleep(600)"}}, "worker-0": waits}
    run = runs.start(QUICK_END, tasks=TWO, own=own, rendezvous_seconds=1)
    assert run.wait(30) == "failed"
    assert run.failure.task == "worker-1"
    assert run.failure.cause == "The tasks have 1 s to meet; worker-1 did not come."
    assert "rendezvous_seconds" in run.failure.fix
    until(lambda: not processes_of(run))


def test_tasks_that_all_came_and_do_not_find_each_other_are_told_so(
    runs: Runs, crew_of: Crews
) -> None:
    crew = crew_of(runs.make(tasks=TWO, code={"imported": "time.sleep(600)"}))
    until(lambda: crew.look(1.0) or all("imported" in member.names for member in crew.members))
    crew.look(180.9)
    assert not crew.is_over(180.9)
    crew.look(181.1)
    assert crew.is_over(181.1)
    crew.end(181.1)
    cause = "The tasks have 180 s to meet; all came and did not find each other."
    assert crew.conclusion()["cause"] == cause


def test_before_a_first_task_is_there_the_time_to_meet_does_not_run(
    runs: Runs, crew_of: Crews
) -> None:
    run = runs.make(tasks=TWO, code={"born": "time.sleep(600)"})
    crew = crew_of(run)
    for now in (1.0, 1000.0):
        crew.look(now)
    assert not crew.is_over(1000.0)


def test_of_tasks_that_wait_for_a_silent_one_only_that_is_named_and_it_is_taken_back(
    runs: Runs, crew_of: Crews
) -> None:
    own = {"worker-0": {"inside": {"20": "go"}}, "worker-1": {"pauses": {"20": "go"}}}
    run = runs.make(tasks=TWO, own=own)
    crew = crew_of(run)
    until(lambda: crew.look(1.0) or [m.dog.entered_step() for m in crew.members] == [20, 10])
    until(lambda: crew.look(1.0) or run.progress.lanes[1].step == 20)
    crew.look(1.0)
    assert crew.look(15.9) == []
    (stalled,) = crew.look(16.1)
    assert (stalled.name, stalled.task) == ("stalled", "worker-1")
    assert stalled.details["silent_seconds"] == pytest.approx(15.1)
    assert crew.look(40.0) == []
    (run.dir / "go").touch()
    (recovered,) = until(lambda: crew.look(41.0))
    assert (recovered.name, recovered.task) == ("recovered", "worker-1")


def test_a_silence_of_several_tasks_is_shown_at_the_one_that_is_behind(runs: Runs) -> None:
    own = {"worker-0": {"inside": {"20": "go"}}, "worker-1": {"pauses": {"20": "go"}}}
    run = runs.start(Bounds(poll_seconds=0.02, stall_floor_seconds=0.1), tasks=TWO, own=own)
    until(lambda: (event_of(run, "stalled") or {}).get("task") == "worker-1")
    assert "worker-1" in run.progress.note
    assert [bool(lane.note) for lane in run.progress.lanes] == [False, True]
    (run.dir / "go").touch()
    until(lambda: event_of(run, "recovered"))
    assert run.wait(30) == "finished"


def test_where_a_task_was_in_an_earlier_attempt_does_not_count(runs: Runs, crew_of: Crews) -> None:
    run = runs.make(tasks=TWO, code={"born": "time.sleep(600)"})
    (run.dir / "worker-1").mkdir()
    (run.dir / "worker-1" / "entered").write_text("1000")
    assert [member.dog.entered_step() for member in crew_of(run).members] == [-1, -1]


def test_stop_ends_tasks_that_wait_for_a_hanging_one_and_are_deaf_to_sigterm(runs: Runs) -> None:
    own = {"worker-0": {"inside": {"20": "never"}}, "worker-1": {"pauses": {"20": "never"}}}
    run = runs.start(QUICK_END, tasks=TWO, own=own, deaf=True)
    until(lambda: [lane.step for lane in run.progress.lanes] == [20, 20])
    run.stop()
    assert run.wait(30) == "stopped"
    assert "did not stop within 0.1 s" in run.progress.note
    until(lambda: not processes_of(run))


def test_stop_reaches_all_tasks_which_stop_at_the_same_step_and_resume_there(runs: Runs) -> None:
    run = runs.start(tasks=TWO, pauses={"20": "go"})
    until(lambda: [lane.step for lane in run.progress.lanes] == [20, 20])
    run.stop()
    assert run.wait(30) == "stopped"
    ends = [(e["task"], e["step"]) for e in run.events() if e["event"] == "stopped"]
    assert sorted(ends) == [("worker-0", 20), ("worker-1", 20)]
    (run.dir / "go").touch()
    assert run.resume().wait(30) == "finished"
    assert run.steps()["step"].tolist() == list(range(60))


def test_a_killed_supervisor_leaves_no_task_and_the_run_is_lost_and_resumes(runs: Runs) -> None:
    run = runs.start(tasks=TWO, pauses={"40": "go"})
    until(lambda: [lane.step for lane in run.progress.lanes] == [40, 40])
    os.kill(pid_of(run, "supervisor"), signal.SIGKILL)
    assert run.wait(30) == "lost"
    until(lambda: not processes_of(run))
    (run.dir / "go").touch()
    assert run.resume().wait(30) == "finished"
    assert run.missing == []


def test_a_port_that_another_process_took_meanwhile_is_named_with_its_fix(runs: Runs) -> None:
    port = "import socket; port = int(config['cluster']['worker'][1].rpartition(':')[2])"
    taken = "taken = socket.create_server(('', port)); (run_dir / 'taken').touch()"
    takes = """
while not (run_dir / 'taken').exists():
    time.sleep(0.005)
try:
    socket.socket().bind(('', port))
except OSError as error:
    raise SystemExit(f'Needs port {port} for itself; {error}. Name a free port.')
"""
    own = {
        "worker-0": {"code": {"born": f"{port}; {taken}; time.sleep(600)"}},
        "worker-1": {"code": {"born": port + takes}},
    }
    run = runs.start(QUICK_END, tasks=TWO, own=own)
    assert run.wait(30) == "failed"
    assert run.failure.task == "worker-1"
    assert "Needs port" in run.failure.cause
    assert "Address already in use" in run.failure.cause
    assert "resume the run" in run.failure.fix


def test_where_there_are_not_ports_enough_no_task_is_started(runs: Runs) -> None:
    run = runs.make(tasks=[f"worker-{number}" for number in range(200)])
    command = f"ulimit -n 100; exec {sys.executable} -m workbench.runs.supervisor {run.dir}"
    subprocess.run(["bash", "-c", command], check=True)
    assert run.status == "failed"
    assert run.failure.cause.startswith("Each task of a run needs a free port on this machine: ")
    assert "of 200 found; Too many open files" in run.failure.cause
    assert "resume" in run.failure.fix
    assert event_of(run, "imported") is None


def test_where_a_later_task_cannot_be_started_the_earlier_ones_are_ended(runs: Runs) -> None:
    run = runs.make(tasks=TWO, own={"worker-0": {"deaf": True, "pauses": {"0": "never"}}})
    (run.dir / "worker-1" / "log.txt").mkdir(parents=True)
    subprocess.run([sys.executable, "-m", "workbench.runs.supervisor", run.dir], check=True)
    assert run.status == "failed"
    assert "worker-1/log.txt: Is a directory" in run.failure.cause
    until(lambda: not processes_of(run))


def test_an_interpreter_that_is_not_there_is_named_in_a_run_of_several_tasks_too(
    runs: Runs,
) -> None:
    run = runs.start(QUICK, tasks=TWO, interpreter=f"{sys.executable}-of-nowhere")
    assert run.wait(30) == "failed"
    assert f"{sys.executable}-of-nowhere" in run.failure.cause
