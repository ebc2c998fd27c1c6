"""Processes of programs: cold or forked, they answer the same, and no process is left."""

import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from tests.waiting import LIMIT_SECONDS, until
from workbench.forking import ForkServer
from workbench.runs.folder.files import StoppedError
from workbench.runs.processes.environment import Launch
from workbench.runs.processes.forks import fork_server
from workbench.runs.programs.child import Ended, Work, children, run_to_end, to_blame

PRELUDE = """\
import json, os, sys, time
def answer(**each): print(json.dumps(each), flush=True)
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkServer]:
    """A fork server with TensorFlow loaded, for processes that `children` starts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_STATE", str(tmp_path_factory.mktemp("state")))
        found = fork_server(Launch(sys.executable, Path.cwd()))
        found.start()
        until(lambda: found.state == "ready")
        yield found
        found.release()
        until(lambda: found.state == "absent")


@pytest.fixture(params=["cold", "auto"])
def start(request: pytest.FixtureRequest) -> str:
    """The way in which the processes of a test start, as in a config."""
    if request.param == "auto":
        request.getfixturevalue("server")
    return str(request.param)


def work(folder: Path, code: str, start: str, **more: object) -> Work:
    """Write a script to a folder and return its work."""
    script = folder / "script.py"
    script.write_text(PRELUDE + code)
    launch = Launch(sys.executable, folder)
    return Work(launch, [str(script), "word"], start=start, **more)  # type: ignore[arg-type]


@pytest.mark.slow
def test_it_answers_in_lines_and_its_other_output_is_ignored(start: str, tmp_path: Path) -> None:
    code = """
print("{of a model's own}")
safe, own = os.environ["PYTHONSAFEPATH"], os.environ["OWN"]
answer(argv=sys.argv[1:], here=os.getcwd(), safe=safe, own=own)
print("[1]", "not an object", file=sys.stderr)
answer(loaded="tensorflow" in sys.modules)
sys.exit(3)
"""
    with children(work(tmp_path, code, start, environment={"OWN": "1"})) as (child,):
        until(lambda: child.poll() == 3)
        assert child.answers == [
            {"argv": ["word"], "here": str(tmp_path), "safe": "1", "own": "1"},
            {"loaded": start == "auto"},
        ]
        assert child.log == "[1] not an object"


@pytest.mark.slow
def test_it_reads_its_input_and_later_lines(start: str, tmp_path: Path) -> None:
    code = "for line in sys.stdin: answer(read=line)\nanswer(over=True)"
    with children(work(tmp_path, code, start, given=b"one\ntwo")) as (child,):
        until(lambda: child.poll() == 0)
        assert child.answers == [{"read": "one\n"}, {"read": "two"}, {"over": True}]
    with children(work(tmp_path, code, start, given=None)) as (child,):
        child.say("again")
        until(lambda: child.poll() is None and child.answers == [{"read": "again\n"}])


@pytest.mark.slow
def test_its_own_child_processes_end_with_the_block(start: str, tmp_path: Path) -> None:
    code = """
import subprocess
answer(pids=[os.getpid(), subprocess.Popen([sys.executable, "-c", "input()"], stdin=-1).pid])
time.sleep(3600)
"""
    with children(work(tmp_path, code, start), ("worker-0", "worker-1")) as started:
        until(lambda: all(child.poll() is None and child.answers for child in started))
        pids = [pid for child in started for pid in child.answers[0]["pids"]]
    assert len(pids) == 4
    until(lambda: not any(map(psutil.pid_exists, pids)))


@pytest.mark.slow
def test_the_signal_that_killed_it_is_reported(start: str, tmp_path: Path) -> None:
    with children(work(tmp_path, "os.kill(os.getpid(), 9)", start)) as (child,):
        until(lambda: child.poll() == -signal.SIGKILL)
        assert "SIGKILL" in child.explained(sys.executable)["cause"]


def test_lines_that_are_not_objects_do_no_harm(tmp_path: Path) -> None:
    code = """
print('{"a":' * 100_000)
print("x" * 10_000_000)
print("{of a model's own}", end="\\n[")
print("]")
answer(after=True)
"""
    with children(work(tmp_path, code, "cold")) as (child,):
        until(lambda: child.poll() == 0)
        assert child.answers == [{"after": True}]


def test_the_process_that_knows_the_cause_is_blamed(tmp_path: Path) -> None:
    code = """
if os.environ["TF_CONFIG"].endswith("1}}"):
    raise ValueError("the cause")
raise ConnectionError("Collective ops is aborted by: Connection reset by peer")
"""
    with children(work(tmp_path, code, "cold"), ("worker-0", "worker-1")) as started:
        until(lambda: None not in [child.poll() for child in started])
        assert "ValueError: the cause" in to_blame(started).log


def test_each_task_has_its_own_log_and_the_addresses_of_the_others(tmp_path: Path) -> None:
    code = 'config = json.loads(os.environ["TF_CONFIG"]); answer(**config["task"])\nprint(1 / 0)'
    logs = tmp_path / "logs"
    logs.mkdir()
    with children(work(tmp_path, code, "cold"), ("chief-0", "ps-0"), logs) as started:
        until(lambda: [child.poll() for child in started] == [1, 1])
        assert [child.answers for child in started] == [
            [{"type": "chief", "index": 0}],
            [{"type": "ps", "index": 0}],
        ]
    assert sorted(path.name for path in logs.iterdir()) == ["chief-0.log", "ps-0.log"]
    assert "ZeroDivisionError" in (logs / "ps-0.log").read_text()


def test_nothing_is_started_after_a_stop(tmp_path: Path) -> None:
    asked = work(tmp_path, "import pathlib; pathlib.Path('ran').touch()", "cold")
    with (
        pytest.raises(StoppedError, match="Stopped before it started"),
        children(asked, stopped=lambda: True),
    ):
        raise AssertionError
    assert not (tmp_path / "ran").exists()


def test_a_process_that_ran_alone_has_a_message_about_its_end(tmp_path: Path) -> None:
    log = "I0000 00:00:1795565046.664062   14132 cudart_stub.cc:31] Could not find cuda drivers"
    code = f"answer(one=1); sys.exit('the reason\\n{log}')"
    ended = run_to_end(work(tmp_path, code, "cold"), LIMIT_SECONDS)
    assert ended == Ended(1, [{"one": 1}], "the reason")
    killed = run_to_end(work(tmp_path, "os.kill(os.getpid(), 9)", "cold"), LIMIT_SECONDS)
    assert killed.message == "it was ended by the signal SIGKILL"
    silent = run_to_end(work(tmp_path, "sys.exit(2)", "cold"), LIMIT_SECONDS)
    assert silent.message == "it ended without a message"


def test_the_message_of_a_layer_that_fails_is_its_reason_without_its_arguments(
    tmp_path: Path,
) -> None:
    error = r"\n\nThe total size must stay.\n\nArguments received by Reshape.call():\n  • kwargs={}"
    code = f"sys.exit('ValueError: Exception encountered when calling Reshape.call().{error}')"
    ended = run_to_end(work(tmp_path, code, "cold"), LIMIT_SECONDS)
    assert ended.message == "The total size must stay."


def test_a_process_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    code = "open('pid', 'w').write(str(os.getpid())); time.sleep(3600)"
    with pytest.raises(TimeoutError, match="it did not end within 2 s"):
        run_to_end(work(tmp_path, code, "cold"), 2.0)
    assert not any(map(psutil.pid_exists, map(int, filter(None, pids_in(tmp_path / "pid")))))


@pytest.mark.parametrize("what", ["interpreter", "folder"])
def test_a_failed_start_leaves_no_descriptor_open(what: str, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    asked = work(tmp_path, "", "cold")
    before = descriptors()
    interpreter, folder = (str(gone), None) if what == "interpreter" else (sys.executable, gone)
    with (
        pytest.raises(FileNotFoundError, match="gone"),
        children(replace(asked, launch=Launch(interpreter, tmp_path)), folder=folder),
    ):
        raise AssertionError
    assert descriptors() == before


def pids_in(path: Path) -> list[str]:
    """Return the id that a process has written, if it got that far."""
    return [path.read_text()] if path.exists() else []


def descriptors() -> set[str]:
    """Return the names of this process's open descriptors."""
    return {path.name for path in Path("/proc/self/fd").iterdir()}
