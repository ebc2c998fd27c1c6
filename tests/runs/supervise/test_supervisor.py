"""Runs of real processes: their ends, and the records of these ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runs.run_folders import QUICK, Runs, event_of, pid_of, states
from tests.waiting import LIMIT_SECONDS, until
from workbench.runs import Run, RunError, start_script
from workbench.runs.folder import locks, state
from workbench.runs.folder.files import sha256
from workbench.runs.processes.bounds import Bounds
from workbench.runs.supervise import __main__ as program


def test_a_run_goes_from_queued_to_finished_and_its_lock_is_free(runs: Runs) -> None:
    run = runs.start(pauses={"10": "go"})
    until(lambda: run.status == "running")
    assert run.alive
    (run.dir / "go").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"
    assert states(run) == ["queued", "starting", "running", "finished"]
    until(lambda: not run.alive)
    assert run.failure is None
    assert event_of(run, "starting")["script_sha256"] == sha256(run.script)


def test_the_trainer_writes_its_own_log_and_has_its_own_environment(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    names = "'PYTHONUNBUFFERED', 'TF_CPP_MIN_LOG_LEVEL', 'MPLBACKEND'"
    run = runs.start(code={"0": f"print([os.environ.get(name) for name in ({names})])"})
    assert run.wait(LIMIT_SECONDS) == "finished"
    assert "['1', '1', None]" in run.log()


def test_a_stopped_run_is_saved_and_resumes_at_the_same_step(runs: Runs) -> None:
    run = runs.start(pauses={"20": "go"})
    until(lambda: run.progress.step == 20)
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped"
    assert states(run)[-2:] == ["stopping", "stopped"]
    assert run.progress.step == 20
    (run.dir / "go").touch()
    assert run.resume().wait(LIMIT_SECONDS) == "finished"
    assert run.steps()["step"].tolist() == list(range(1, 61))
    run.stop()
    assert run.status == "finished"
    assert not (run.dir / "stop").exists()


def test_a_trainer_that_ignores_a_stop_is_ended_after_the_grace_time(runs: Runs) -> None:
    bounds = Bounds(poll_seconds=0.02, stop_grace_seconds=0.1, kill_grace_seconds=0.1)
    run = runs.start(bounds, deaf=True, pauses={"20": "never"})
    until(lambda: run.progress.step == 20)
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped"
    assert "did not stop within 0.1 s" in run.progress.note


def test_sigterm_to_the_supervisor_stops_the_run(runs: Runs) -> None:
    run = runs.start(pauses={"20": "go"})
    until(lambda: run.progress.step == 20)
    os.kill(pid_of(run, "supervisor"), signal.SIGTERM)
    assert run.wait(LIMIT_SECONDS) == "stopped"


def test_a_killed_trainer_is_a_failure_that_resumes_to_the_same_curve(runs: Runs) -> None:
    whole = runs.start(devices=["CPU:1"])
    run = runs.start(
        pauses={"40": "go"},
        code={
            "0": "import subprocess; subprocess.Popen"
            "([sys.executable, '-c', 'import time; time.sleep(600)'], close_fds=False)"
        },
    )
    until(lambda: run.progress.step == 40)
    os.kill(pid_of(run, "trainer"), signal.SIGKILL)
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert "SIGKILL" in run.failure.cause
    assert "memory" in run.failure.cause
    assert event_of(run, "failed")["signal"] == "SIGKILL"
    until(lambda: not run.alive)  # its child process held the lock too
    (run.dir / "go").touch()
    assert run.resume().wait(LIMIT_SECONDS) == "finished"
    assert whole.wait(LIMIT_SECONDS) == "finished"
    assert run.steps()[["step", "loss"]].equals(whole.steps()[["step", "loss"]])
    assert run.failure is None


def test_after_its_supervisor_is_killed_the_trainer_saves_and_the_run_is_lost(
    runs: Runs,
) -> None:
    run = runs.start(pauses={"40": "go"})
    until(lambda: run.progress.step == 40)
    os.kill(pid_of(run, "supervisor"), signal.SIGKILL)
    assert run.wait(LIMIT_SECONDS) == "lost"
    assert event_of(run, "checkpoint")["step"] == 40
    assert "saved a checkpoint" in run.failure.cause
    assert run.progress.phase == "lost"
    (run.dir / "go").touch()
    assert run.resume().wait(LIMIT_SECONDS) == "finished"
    assert run.missing == []


def test_a_run_that_finishes_after_its_supervisor_was_killed_is_finished(runs: Runs) -> None:
    run = runs.start(deaf=True, pauses={"40": "go"})
    until(lambda: run.progress.step == 40 and run.status == "running")
    os.kill(pid_of(run, "supervisor"), signal.SIGKILL)
    assert run.status == "running"  # its trainer holds the lock
    (run.dir / "go").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"


def test_the_trainer_holds_the_device_when_its_supervisor_is_dead(runs: Runs) -> None:
    run = runs.start(deaf=True, pauses={"40": "go"})
    until(lambda: run.progress.step == 40)
    os.kill(pid_of(run, "supervisor"), signal.SIGKILL)
    second = runs.start()
    until(lambda: event_of(second, "queued").get("behind") == [str(run.dir)])
    (run.dir / "go").touch()
    assert second.wait(LIMIT_SECONDS) == "finished"


@pytest.mark.parametrize(
    ("code", "cause", "fix"),
    [
        ("raise ValueError('no such thing')", "ValueError: no such thing (exit status 1)", "log"),
        ("import tensorflow_of_nowhere", "ModuleNotFoundError", "tensorflow_of_nowhere"),
        ("raise MemoryError()", "MemoryError (exit status 1)", "smaller"),
        ("open('/dev/full', 'w', buffering=1).write('x\\n')", "No space left", "Make room"),
        ("sys.exit(0)", "without reporting", "sys.exit"),
        ("sys.exit(7)", "exit status 7", "log"),
        ("event('nonfinite', step=20, replica=1); sys.exit(3)", "step 21 on replica 1", "learning"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV", "log"),
    ],
)
def test_a_failure_names_cause_and_fix(runs: Runs, code: str, cause: str, fix: str) -> None:
    run = runs.start(code={"20": code})
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert cause in run.failure.cause
    assert fix in run.failure.fix
    assert run.failure.task == "worker-0"
    assert "checkpoint" not in run.failure.log_tail or run.failure.log_tail


def test_the_cause_comes_from_this_attempt(runs: Runs) -> None:
    run = runs.start(code={"20": "raise ValueError('first')", "0": "sys.exit('second')"})
    path = run.dir / "train.py"
    assert run.wait(LIMIT_SECONDS) == "failed"
    path.write_text(path.read_text().replace("raise ValueError('first')", "sys.exit(9)"))
    assert run.resume().wait(LIMIT_SECONDS) == "failed"
    assert "first" not in run.failure.cause + run.failure.log_tail


def test_a_missing_interpreter_is_a_failure(runs: Runs, tmp_path: Path) -> None:
    run = runs.start(interpreter=str(tmp_path / "python"))
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert str(tmp_path / "python") in run.failure.cause
    assert "interpreter" in run.failure.fix


def test_an_odd_path_never_becomes_code(tmp_path: Path, runs: Runs) -> None:
    odd = Runs(tmp_path / 'it\'s "$(touch hacked)" \n; here')
    run = odd.start()
    assert run.wait(LIMIT_SECONDS) == "finished"
    assert len(run.steps()) == 60
    assert not list(tmp_path.rglob("hacked"))


def test_a_trainer_that_does_not_end_after_its_last_event_is_ended(runs: Runs) -> None:
    bounds = Bounds(poll_seconds=0.02, exit_grace_seconds=0.1, kill_grace_seconds=0.1)
    code = "event('finished', step=20); time.sleep(600)"
    run = runs.start(bounds, code={"20": code})
    assert run.wait(LIMIT_SECONDS) == "finished"
    assert run.progress.note == ""


def test_silence_in_training_is_reported_until_the_task_recovers(runs: Runs) -> None:
    bounds = Bounds(poll_seconds=0.02, stall_floor_seconds=0.1)
    run = runs.start(bounds, pauses={"20": "go"})
    until(lambda: run.progress.step == 20)
    until(lambda: "worker-0" in run.progress.note)
    event = event_of(run, "stalled")
    assert event is not None
    assert event["task"] == "worker-0"
    assert event["silent_seconds"] >= 0.1
    (run.dir / "go").touch()
    until(lambda: event_of(run, "recovered"))
    assert run.wait(LIMIT_SECONDS) == "finished"
    assert run.progress.note == ""


def test_unwritable_events_are_a_clear_error_before_the_start(runs: Runs) -> None:
    run = runs.make()
    (run.dir / "events.jsonl").mkdir()
    with pytest.raises(RunError, match=r"events\.jsonl cannot be written"):
        start_script(run.dir, QUICK)
    with pytest.raises(RunError, match=r"events\.jsonl cannot be read"):
        run.events()
    (run.dir / "events.jsonl").rmdir()
    until(lambda: not run.alive)


def test_the_supervisor_needs_only_the_standard_library(runs: Runs) -> None:
    code = (
        "import sys, workbench.runs.supervise.__main__; "
        "print([name for name in ('numpy', 'pandas', 'tensorflow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_supervisor_started_by_hand_takes_the_lock_itself(runs: Runs) -> None:
    run: Run = runs.make()
    lock = locks.take(state.run_lock(run.dir))
    assert lock is not None
    assert program.main([str(run.dir)]) == 1
    os.close(lock)
    assert states_or_none(run) is None


def states_or_none(run: Run) -> list[str] | None:
    return states(run) if (run.dir / "events.jsonl").exists() else None
