import json
import os
import socket
import subprocess
import sys


def start_workers(script: str, count: int) -> None:
    """Run a process of the script for each worker; print the output of the first one."""
    sockets = [socket.create_server(("localhost", 0)) for _ in range(count)]
    addresses = [f"localhost:{each.getsockname()[1]}" for each in sockets]
    for each in sockets:
        each.close()
    workers = []
    for index in range(count):
        task = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
        environment = {**os.environ, "TF_CONFIG": json.dumps(task)}
        output = subprocess.DEVNULL if index else subprocess.PIPE
        command = [sys.executable, "-u", script]
        workers.append(
            subprocess.Popen(
                command, env=environment, stdout=output, stderr=subprocess.STDOUT, text=True
            )
        )
    try:
        for line in workers[0].stdout or ():
            print(line, end="")
        assert not any(worker.wait() for worker in workers), "A worker failed."
    finally:
        for worker in workers:
            worker.kill()
