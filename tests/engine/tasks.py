"""The processes of real runs of several tasks."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil

from tests.engine.training import Trained
from tests.forked import run_program
from workbench.observe import __main__ as observer
from workbench.runs import Run
from workbench.runs.folder.files import CARD, json_text, read_json

OBSERVER = Path(observer.__file__)


def run_workers(
    command: Sequence[object],
    folder: Path,
    count: int = 2,
    environment: Mapping[str, str] | None = None,
    *,
    check: bool = True,
    stop_last: bool = False,
) -> list[subprocess.CompletedProcess[str]]:
    """Run a program in each of several workers at the same time, which TF_CONFIG names.

    With `stop_last`, the last one is asked to stop from its start.
    """

    def run(index: int, named: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        stops = stop_last and index == count - 1
        variables = {
            **named,
            **(environment or {}),
            **({"WORKBENCH_STOP_FD": "0"} if stops else {}),
        }
        return run_program(command, folder, variables, "s" if stops else "", check=check)

    with worker_variables(count) as variables, ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count), variables))


def worker_variables(count: int) -> AbstractContextManager[list[dict[str, str]]]:
    """Give the variables that make each of several processes a worker, and hold their ports."""
    return cluster_variables({"worker": count})


@contextmanager
def cluster_variables(kinds: Mapping[str, int]) -> Iterator[list[dict[str, str]]]:
    """Give the variables of each task of a cluster with so many of each kind; hold their ports."""
    tasks = [(kind, index) for kind, count in kinds.items() for index in range(count)]
    cluster: dict[str, list[str]] = {kind: [] for kind in kinds}
    with ExitStack() as stack:
        for kind, _ in tasks:
            port = stack.enter_context(socket.socket())
            port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            port.bind(("localhost", 0))
            cluster[kind].append(f"localhost:{port.getsockname()[1]}")
        yield [
            {
                "TF_CONFIG": json.dumps(
                    {"cluster": cluster, "task": {"type": kind, "index": index}}
                ),
                "TF_GRPC_REUSE_PORT": "1",
            }
            for kind, index in tasks
        ]


def train_workers(trained: Trained) -> str:
    """Run a lesson of two workers under observation; return the output of the first one."""
    folder = trained.run.dir
    card = read_json(folder / CARD)
    (folder / CARD).write_text(json_text({**card, "by_hand": True}))
    script = [folder / "train.py", "--run-dir", folder]
    return run_workers([OBSERVER, "--run-dir", folder, *script], folder)[0].stdout


def tasks_of(script: Path) -> Iterator[tuple[str, psutil.Process]]:
    """Yield the live tasks of a script with their names, without the process that started them."""
    for process in psutil.process_iter(["cmdline"]):
        if str(script) not in (process.info["cmdline"] or ()):
            continue
        try:
            name = name_of(process)
        except psutil.Error:
            continue
        if name:
            yield name, process


def name_of(process: psutil.Process) -> str:
    """Return the name of a task; empty if the process is no task.

    The system gives the environment at the start of a process; for a forked process this is the
    environment of its server. So the log that a forked process writes identifies it.
    """
    config: dict[str, Any] = json.loads(process.environ().get("TF_CONFIG", "{}"))
    if config:
        return f"{config['task']['type']}-{config['task']['index']}"
    logs = [Path(file.path) for file in process.open_files() if file.path.endswith("/log.txt")]
    return logs[0].parent.name if logs else ""


def task_of(script: Path, name: str) -> psutil.Process | None:
    """Return the process of a task; None if it has none."""
    return dict(tasks_of(script)).get(name)


def trainer_of(run: Run) -> int | None:
    """Return the process id of the trainer of a run; None before it starts."""
    path = str(run.dir / "train.py")
    for process in psutil.process_iter(["cmdline"]):
        if path in (process.info["cmdline"] or ()):
            return process.pid
    return None
