"""Watched processes: their answers, their memory, and how they end."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from workbench.experiments.searching.watched import MIB, End, Ending, lack_of_memory, run_watched
from workbench.runs import RunError
from workbench.runs.processes.environment import Launch

ALONE = ("worker-0",)
REPLY = "import json, os, sys, time; reply = lambda **each: print(json.dumps(each), flush=True)\n"
GROW = "held = bytearray(400 << 20); held[::4096] = b'x' * len(held[::4096]); time.sleep(3600)\n"
OOM = "tensorflow.python.framework.errors_impl.ResourceExhaustedError: Graph execution error:"


def watch(folder: Path, program: str, **options: Any) -> tuple[Ending, list[list[dict[str, Any]]]]:
    """Run a program; return how it ended and its answers."""
    path, answers = folder / "program.py", list[list[dict[str, Any]]]()
    path.write_text(REPLY + program)
    tasks, give_up = options.pop("tasks", ALONE), options.pop("give_up", lambda answers: None)
    ending = run_watched(
        Launch(options.pop("interpreter", sys.executable), folder),
        [str(path), "word"],
        tasks,
        folder,
        answers.append,
        lambda: give_up(answers),
        start="cold",  # these programs need no TensorFlow
        **options,
    )
    return ending, answers


def test_the_answers_of_all_tasks_arrive_together(tmp_path: Path) -> None:
    program = 'reply(of=os.environ["TF_CONFIG"][-2], word=sys.argv[1]); reply(more=1)'
    ending, answers = watch(tmp_path, program, tasks=("worker-0", "worker-1"))
    assert ending == Ending("done")
    assert [[each.get("word") for each in lines] for lines in answers] == [["word"] * 2, [None] * 2]


def test_a_process_that_exceeds_the_limit_is_ended(tmp_path: Path) -> None:
    ending, answers = watch(tmp_path, f"reply(before=1)\n{GROW}", limit_bytes=200 * MIB)
    assert ending.end == "memory"
    assert "more than the 200 MiB allowed" in ending.reason
    assert answers == [[{"before": 1}]]


def test_a_process_below_the_limit_is_not_ended(tmp_path: Path) -> None:
    program = "held = bytearray(50 << 20)"
    assert watch(tmp_path, program, limit_bytes=200 * MIB)[0] == Ending("done")


@pytest.mark.parametrize(
    "program",
    ["bytearray(1 << 60)", "os.kill(os.getpid(), 9)", "os.abort()"],
    ids=["MemoryError", "SIGKILL", "SIGABRT"],
)
def test_a_lack_of_memory_is_no_error(program: str, tmp_path: Path) -> None:
    assert watch(tmp_path, program)[0].end == "memory"


def test_any_other_failure_is_an_error_with_its_cause(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="ValueError: an example of mine"):
        watch(tmp_path, 'raise ValueError("an example of mine")')


def test_the_error_names_the_task_that_failed_first(tmp_path: Path) -> None:
    program = (
        'if os.environ["TF_CONFIG"].endswith("1}}"): raise ValueError("the cause")\n'
        'raise ConnectionError("Collective ops is aborted by: Connection reset by peer")'
    )
    with pytest.raises(RunError, match="the cause"):
        watch(tmp_path, program, tasks=("worker-0", "worker-1"))


@pytest.mark.parametrize("end", ["stopped", "budget"])
def test_the_caller_can_give_up(end: End, tmp_path: Path) -> None:
    program = "reply(pid=os.getpid()); time.sleep(3600)"
    ending, answers = watch(tmp_path, program, give_up=lambda answers: end if answers else None)
    assert ending == Ending(end)
    assert not psutil.pid_exists(answers[0][0]["pid"])


def test_a_missing_interpreter_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="/no/such/python"):
        watch(tmp_path, "", interpreter="/no/such/python")


@pytest.mark.parametrize(
    ("status", "cause", "log"),
    [
        (-signal.SIGKILL, "", ""),
        (-signal.SIGABRT, "", "terminate called after throwing an instance of 'std::bad_alloc'"),
        (-signal.SIGABRT, "", ""),
        (-signal.SIGABRT, "", "F Check failed: ret == 0; pthread_create() failed."),
        (1, OOM, OOM),
        (1, "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 9 TiB", ""),
        (1, "InternalError: cuDNN status CUDNN_STATUS_ALLOC_FAILED", ""),
    ],
)  # fmt: skip
def test_a_lack_of_memory_is_recognized(status: int, cause: str, log: str) -> None:
    assert lack_of_memory(status, cause, log)


@pytest.mark.parametrize(
    ("status", "cause", "log"),
    [
        (1, "ValueError: Shapes are incompatible", f"a warning: {OOM}\nValueError: Shapes"),
        (1, "ResourceExhaustedError: /tmp/x; No space left on device", ""),
        (3, "", ""),
        (-signal.SIGABRT, "", "F tensor.cc: Check failed: dims == 2"),
        (-signal.SIGABRT, "", "malloc(): corrupted top size"),
        (-signal.SIGSEGV, "", "bad_alloc"),
        (-signal.SIGTERM, "", ""),
    ],
)
def test_other_ends_are_no_lack_of_memory(status: int, cause: str, log: str) -> None:
    assert lack_of_memory(status, cause, log) is None
