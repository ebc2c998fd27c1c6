"""Helpers of the tests of runs with several tasks."""

import json
from collections.abc import Callable
from typing import Any

from workbench.runs import Run
from workbench.runs.processes.bounds import Bounds
from workbench.runs.supervise.task_group import TaskGroup

TWO = ("worker-0", "worker-1")
QUICK_END = Bounds(
    poll_seconds=0.02, stop_grace_seconds=0.1, kill_grace_seconds=0.1, last_words_seconds=0.1
)
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
"""Code that waits until a task is dead and the supervisor has noticed it.

Until then the process id is not free.
"""
TaskGroups = Callable[[Run], TaskGroup]


def tf_config_of(run: Run, task: str) -> dict[str, Any]:
    """Return the TF_CONFIG that a task printed."""
    lines = run.logs()[task].splitlines()
    config: dict[str, Any] = json.loads(next(line for line in lines if line.startswith("{")))
    return config
