import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import PARAMETER_SERVERS, WORKERS
    from ..recorder import Recorder
    from ..strategies.parameter_server_cpu import open_devices
    from .evaluator import evaluate_checkpoints


def run_task(main: Callable) -> None:
    """Be the task that TF_CONFIG names; without TF_CONFIG, start all of them here."""
    text = os.environ.get("TF_CONFIG")
    if text is None:
        sys.exit(start_tasks())
    try:
        config = json.loads(text)
        cluster, kind, index = config["cluster"], config["task"]["type"], config["task"]["index"]
        port = int(cluster[kind][index].rpartition(":")[2]) if kind != "evaluator" else 0
        sizes = {name: len(addresses) for name, addresses in cluster.items()}
        known = sizes == {"chief": 1, "worker": WORKERS, "ps": PARAMETER_SERVERS}
    except (ValueError, LookupError, TypeError, AttributeError):
        known = False
    if not known:
        raise SystemExit(
            f"TF_CONFIG names 1 chief, {WORKERS} workers and {PARAMETER_SERVERS} ps, as host:port, "
            f"and which of them this is; received {text}. Mend it, or unset it to start all tasks "
            "on this machine."
        )
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as a restarted task needs it
        try:
            probe.bind(("", port))
        except OSError as error:
            fix = "Name a free port in the TF_CONFIG of every task."
            raise SystemExit(f"Needs port {port} for itself; {error}. {fix}") from error
    if kind == "chief":
        main()
    elif kind == "evaluator":
        evaluate_checkpoints()
    else:
        serve(kind, index)


def serve(kind: str, index: int) -> None:
    """Do what the chief asks for, until this process is ended."""
    recorder = Recorder()
    if kind == "worker":
        open_devices(index)
    else:
        tf.config.set_visible_devices([], "GPU")
    cluster = tf.train.ClusterSpec(recorder.cluster)
    server = tf.distribute.Server(cluster, job_name=kind, task_index=index, protocol="grpc")
    recorder.event("serving")
    server.join()


def start_tasks() -> int:
    """Run this script in a process for each task, until the chief has ended."""
    sizes = {"ps": PARAMETER_SERVERS, "worker": WORKERS, "chief": 1}
    probes = {kind: [socket.create_server(("", 0)) for _ in range(n)] for kind, n in sizes.items()}
    cluster = {
        kind: [f"localhost:{probe.getsockname()[1]}" for probe in opened]
        for kind, opened in probes.items()
    }
    for probe in (probe for opened in probes.values() for probe in opened):
        probe.close()
    tasks = []
    for kind, size in sizes.items():
        for index in range(size):
            config = {"cluster": cluster, "task": {"type": kind, "index": index}}
            environment = {**os.environ, "TF_CONFIG": json.dumps(config)}
            output = None if kind == "chief" else subprocess.DEVNULL
            command = [sys.executable, *sys.argv]
            tasks.append(subprocess.Popen(command, env=environment, stdout=output))
    try:
        return abs(tasks[-1].wait())
    finally:
        for task in tasks:
            task.kill()
