"""The start of a script's tasks from a notebook."""

import json
import os
import socket
import subprocess
import sys


def start_tasks(script: str, kinds: dict[str, int]) -> None:
    """Run a process of the script for each task; print the output of the first one.

    `kinds` has the number of tasks of each kind. When those of the first kind have ended, the
    others are ended too.
    """
    tasks = [(kind, index) for kind, count in kinds.items() for index in range(count)]
    sockets = [socket.create_server(("localhost", 0)) for _ in tasks]
    cluster: dict[str, list[str]] = {kind: [] for kind in kinds}
    for (kind, _), each in zip(tasks, sockets):
        cluster[kind].append(f"localhost:{each.getsockname()[1]}")
        each.close()
    cores = max(1, (os.cpu_count() or 1) // len(tasks))  # of each task
    processes: list[subprocess.Popen[str]] = []
    for kind, index in tasks:
        config = {"cluster": cluster, "task": {"type": kind, "index": index}}
        own = {"TF_CONFIG": json.dumps(config), "TF_NUM_INTRAOP_THREADS": str(cores)}
        environment = {**os.environ, **own}
        output = subprocess.DEVNULL if processes else subprocess.PIPE
        command = [sys.executable, "-u", script]
        processes.append(
            subprocess.Popen(
                command, env=environment, stdout=output, stderr=subprocess.STDOUT, text=True
            )
        )
    try:
        for line in processes[0].stdout or ():
            print(line, end="")
        leading = processes[: next(iter(kinds.values()))]
        assert not any(process.wait() for process in leading), "A task failed."
    finally:
        for process in processes:
            process.kill()
