import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..constants import WORKERS


def run_task(main: Callable) -> None:
    """Be the worker that TF_CONFIG names; without TF_CONFIG, start all of them here."""
    text = os.environ.get("TF_CONFIG")
    if text is None:
        sys.exit(start_workers())
    try:
        config = json.loads(text)
        workers, index = config["cluster"]["worker"], config["task"]["index"]
        port = int(workers[index].rpartition(":")[2])
        known = len(workers) == WORKERS and config["task"]["type"] == "worker"
    except (ValueError, LookupError, TypeError, AttributeError):
        known = False
    if not known:
        raise SystemExit(
            f"TF_CONFIG names {WORKERS} workers, as host:port, and which of them this is; received "
            f"{text}. Mend it, or unset it to start all workers on this machine."
        )
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as a restarted task needs it
        try:
            probe.bind(("", port))
        except OSError as error:
            fix = "Name a free port in the TF_CONFIG of every worker."
            raise SystemExit(f"Needs port {port} for itself; {error}. {fix}") from error
    main()


def start_workers() -> int:
    """Run this script in a process for each worker; when one fails, end the others."""
    probes = [socket.create_server(("", 0)) for _ in range(WORKERS)]
    addresses = [f"localhost:{probe.getsockname()[1]}" for probe in probes]
    for probe in probes:
        probe.close()
    workers = []
    for index in range(WORKERS):
        task = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
        environment = {**os.environ, "TF_CONFIG": json.dumps(task)}
        output = subprocess.DEVNULL if index else None  # all workers print the same
        command = [sys.executable, *sys.argv]
        workers.append(subprocess.Popen(command, env=environment, stdout=output))
    try:
        while any(worker.poll() is None for worker in workers):
            if any(worker.poll() for worker in workers):
                time.sleep(1)  # until the others have met the failure and told of it
                break
            time.sleep(0.1)
    finally:
        for worker in workers:
            worker.kill()
    return max(abs(worker.wait()) for worker in workers)
