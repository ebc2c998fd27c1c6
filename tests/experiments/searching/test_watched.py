"""Processes under watch: what they tell is heard, memory ends them, other failures are told."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from workbench.experiments.searching.watched import MIB, End, Ending, run_watched
from workbench.runs import RunError
from workbench.runs.processes.environment import Launch

ALONE = ("worker-0",)
TELL = "import json, os, sys, time; tell = lambda **each: print(json.dumps(each), flush=True)\n"
GROW = "held = bytearray(400 << 20); held[::4096] = b'x' * len(held[::4096]); time.sleep(3600)\n"


def watch(folder: Path, program: str, **options: Any) -> tuple[Ending, list[list[dict[str, Any]]]]:
    """Run a program and return how it ended and what was heard."""
    path, heard = folder / "program.py", list[list[dict[str, Any]]]()
    path.write_text(TELL + program)
    tasks, give_up = options.pop("tasks", ALONE), options.pop("give_up", lambda heard: None)
    ending = run_watched(
        Launch(options.pop("interpreter", sys.executable), folder, None),
        [str(path), "word"],
        tasks,
        folder,
        heard.append,
        lambda: give_up(heard),
        start="cold",  # these programs need no TensorFlow
        **options,
    )
    return ending, heard


def test_what_all_tasks_tell_is_heard_together(tmp_path: Path) -> None:
    program = 'tell(of=os.environ["TF_CONFIG"][-2], word=sys.argv[1]); tell(more=1)'
    ending, heard = watch(tmp_path, program, tasks=("worker-0", "worker-1"))
    assert ending == Ending("done")
    assert [[each.get("word") for each in lines] for lines in heard] == [["word"] * 2, [None] * 2]


def test_a_process_that_grows_over_the_limit_is_ended(tmp_path: Path) -> None:
    ending, heard = watch(tmp_path, f"tell(before=1)\n{GROW}", limit_bytes=200 * MIB)
    assert ending.end == "memory"
    assert "over the 200 MiB allowed" in ending.reason
    assert heard == [[{"before": 1}]]


def test_one_that_stays_below_it_is_left_alone(tmp_path: Path) -> None:
    program = "held = bytearray(50 << 20)"
    assert watch(tmp_path, program, limit_bytes=200 * MIB)[0] == Ending("done")


@pytest.mark.parametrize(
    "program",
    ["bytearray(1 << 60)", "os.kill(os.getpid(), 9)", "os.abort()"],
    ids=["MemoryError", "SIGKILL", "SIGABRT"],
)
def test_want_of_memory_is_no_error(program: str, tmp_path: Path) -> None:
    assert watch(tmp_path, program)[0].end == "memory"


def test_any_other_failure_is_told_with_its_cause(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="ValueError: an example of mine"):
        watch(tmp_path, 'raise ValueError("an example of mine")')


def test_the_task_that_failed_first_is_told_not_those_that_follow(tmp_path: Path) -> None:
    program = (
        'if os.environ["TF_CONFIG"].endswith("1}}"): raise ValueError("the cause")\n'
        'raise ConnectionError("Collective ops is aborted by: Connection reset by peer")'
    )
    with pytest.raises(RunError, match="the cause"):
        watch(tmp_path, program, tasks=("worker-0", "worker-1"))


@pytest.mark.parametrize("end", ["stopped", "budget"])
def test_whoever_watches_may_give_up(end: End, tmp_path: Path) -> None:
    program = "tell(pid=os.getpid()); time.sleep(3600)"
    ending, heard = watch(tmp_path, program, give_up=lambda heard: end if heard else None)
    assert ending == Ending(end)
    assert not psutil.pid_exists(heard[0][0]["pid"])


def test_an_interpreter_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="/no/such/python"):
        watch(tmp_path, "", interpreter="/no/such/python")
