import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..constants import TASKS


def run_task(**roles: Callable) -> None:
    """Run the task that TF_CONFIG names; without TF_CONFIG, start all tasks here."""
    text = os.environ.get("TF_CONFIG")
    if text is None:
        sys.exit(start_tasks())
    try:
        config = json.loads(text)
        cluster, kind, index = config["cluster"], config["task"]["type"], config["task"]["index"]
        port = int(cluster[kind][index].rpartition(":")[2]) if kind in TASKS else 0
        if kind not in roles or {name: len(cluster[name]) for name in cluster} != TASKS:
            raise LookupError(kind)
        addresses = [address for name in cluster for address in cluster[name]]
        if index < 0 or len(set(addresses)) < len(addresses):
            raise ValueError(index)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        needed = ", ".join(f"{size} {name}" for name, size in TASKS.items())
        raise SystemExit(
            f"TF_CONFIG must name {needed} tasks, each by its own host:port, and the one to run "
            f"here; received {text}. Fix it, or unset it to start all tasks on this machine."
        ) from error
    held = os.environ.get("TF_GRPC_REUSE_PORT") == "1"  # set by the starter of this task
    with socket.socket() as probe:
        shared = socket.SO_REUSEPORT if held else socket.SO_REUSEADDR
        probe.setsockopt(socket.SOL_SOCKET, shared, 1)  # so a restarted task can bind again
        try:
            probe.bind(("", port))
        except (OSError, OverflowError) as error:
            fix = "Name a free port in the TF_CONFIG of every task."
            raise SystemExit(f"Needs port {port} for itself; {error}. {fix}") from error
    roles[kind]()


def start_tasks() -> int:
    """Run each task in a process of this script until the first kind of task ends or fails."""
    names = [(kind, index) for kind, size in TASKS.items() for index in range(size)]
    ports = [socket.socket() for _ in names]  # bound until the end, so no port is lost
    cluster: dict[str, list[str]] = {kind: [] for kind in TASKS}
    for (kind, _), port in zip(names, ports):
        port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        port.bind(("", 0))
        cluster[kind].append(f"localhost:{port.getsockname()[1]}")
    tasks: list[subprocess.Popen] = []
    for kind, index in names:
        config = {"cluster": cluster, "task": {"type": kind, "index": index}}
        settings = {"TF_CONFIG": json.dumps(config), "WORKBENCH_NO_EVALUATOR": "1"}
        environment = {**os.environ, **settings, "TF_GRPC_REUSE_PORT": "1"}
        output = subprocess.DEVNULL if tasks else None  # the first prints what all have in common
        tasks.append(subprocess.Popen([sys.executable, *sys.argv], env=environment, stdout=output))
    leading = tasks[: next(iter(TASKS.values()))]
    try:
        while None in (ends := [task.poll() for task in leading]):
            if any(ends):
                time.sleep(1)  # until the others have also failed and reported it
                break
            time.sleep(0.1)
    finally:
        for task in tasks:
            task.kill()
    return max(abs(task.wait()) for task in leading)
