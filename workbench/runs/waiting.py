"""Imports a module that takes long and waits to become a run's trainer: `waiting.py FD MODULE`.

Runs in the run's interpreter. FD is a Unix socket: a line goes out once the module is there, and
one line of JSON comes in with the descriptors of the log, the stop pipe and the run's locks.
Nothing of the module is touched before the script does: the first operation fixes the devices.
"""

import contextlib
import importlib
import json
import os
import pathlib
import runpy
import socket
import sys
from typing import Any

MOST_DESCRIPTORS = 8


def receive_order(channel: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Return the order and its descriptors; ends the process where nobody can send one any more."""
    line, descriptors = b"", list[int]()
    while not line.endswith(b"\n"):
        part, received, *_ = socket.recv_fds(channel, 65536, MOST_DESCRIPTORS)
        if not part:
            sys.exit(0)
        line += part
        descriptors += received
    return json.loads(line), descriptors


def obey(order: dict[str, Any], descriptors: list[int]) -> None:
    """Become what `python -u script arguments...` would have been."""
    log, stop, *_ = descriptors  # the locks are held by being open
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    os.environ["WORKBENCH_STOP_FD"] = str(stop)
    os.chdir(order["working_dir"])
    script, *arguments = order["arguments"]
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(pathlib.Path(script).parent))
    if order["module_dir"] is not None:
        sys.path.append(order["module_dir"])
    runpy.run_path(script, run_name="__main__")


def main() -> None:
    """Import, tell, wait, obey."""
    descriptor, module = sys.argv[1:]
    del sys.path[0]  # this folder, in which the module must not find anything
    channel = socket.socket(fileno=int(descriptor))
    with contextlib.suppress(Exception):  # the script will meet it again, with a log
        importlib.import_module(module)
        channel.sendall(b"ready\n")
    order, descriptors = receive_order(channel)
    channel.close()
    obey(order, descriptors)


if __name__ == "__main__":
    main()
