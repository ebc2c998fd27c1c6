"""A supervisor that waits for its run, with a trainer that waits too, TensorFlow imported.

`python -m workbench.runs.standby INTERPRETER --channel FD` needs the standard library only. Both
are used once. They end by themselves when whoever may need them is gone, asks nothing for long,
or leaves too little memory.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import supervisor
from .launch import SUPERVISOR_LOG, Launch

WAITING = Path(__file__).with_name("waiting.py")
MODULE = "tensorflow"
IDLE_SECONDS = 600.0
LOOK_SECONDS = 5.0
LEAST_MEMORY_BYTES = 2**30
MEMORY = Path("/proc/meminfo")


class WaitingTrainer:
    """A process that has imported TensorFlow, or is about to, and runs no script yet."""

    def __init__(self, launch: Launch, module: str = MODULE) -> None:
        """Start it.

        Raises:
            OSError: the interpreter cannot be started.
        """
        self.channel, other_end = socket.socketpair()
        with other_end:
            self.process = subprocess.Popen(
                [launch.interpreter, "-u", str(WAITING), str(other_end.fileno()), module],
                env=launch.environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(other_end.fileno(),),
                process_group=0,
            )

    def begin(self, launch: Launch, arguments: Sequence[str], descriptors: Sequence[int]) -> bool:
        """Have it run a script with log, stop pipe and locks; return False where it has died."""
        order = {
            "arguments": list(arguments),
            "working_dir": str(launch.working_dir),
            "module_dir": launch.module_dir and str(launch.module_dir),
        }
        with self.channel:
            try:
                socket.send_fds(self.channel, [json.dumps(order).encode() + b"\n"], descriptors)
            except OSError:
                return False
        return True

    def end(self) -> None:
        """Kill it."""
        self.channel.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@dataclass(frozen=True)
class Order:
    """What the supervisor is to do: its command line and the descriptors of that."""

    arguments: list[str]
    lock_fd: int
    ready_fd: int


def wait_for_order(channel: socket.socket, waiting: WaitingTrainer) -> Order | None:
    """Pass on that the trainer is ready and return the first order; None when there is none."""
    heard_at, told, line, descriptors = time.monotonic(), False, b"", list[int]()
    while time.monotonic() - heard_at < IDLE_SECONDS and not memory_is_short():
        sources = [channel] if told else [channel, waiting.channel]
        for source in select.select(sources, [], [], LOOK_SECONDS)[0]:
            if source is waiting.channel:
                if not waiting.channel.recv(64):
                    return None
                told = True
                channel.sendall(b"ready\n")
                continue
            part, received, *_ = socket.recv_fds(channel, 65536, 2)
            if not part:
                return None
            heard_at = time.monotonic()
            line = (line + part).lstrip(b"\n")  # an empty line says that it is still wanted
            descriptors += received
            if line.endswith(b"\n"):
                return Order(json.loads(line), *descriptors)
    return None


def memory_is_short() -> bool:
    """Return whether the machine has little memory left, where it tells."""
    try:
        fields = dict(line.split(":", 1) for line in MEMORY.read_text().splitlines())
        return int(fields["MemAvailable"].split()[0]) * 1024 < LEAST_MEMORY_BYTES
    except (OSError, KeyError, ValueError):
        return False


def main(arguments: Sequence[str] | None = None) -> int:
    """Wait, then supervise one run to its end."""
    parser = argparse.ArgumentParser(prog="python -m workbench.runs.standby")
    parser.add_argument("interpreter")
    parser.add_argument("--channel", type=int, required=True)
    parser.add_argument("--module", default=MODULE, help="what the trainer imports")
    options = parser.parse_args(arguments)
    if os.fork():
        os._exit(0)
    waiting = WaitingTrainer(Launch(options.interpreter, Path.cwd(), None), options.module)
    with socket.socket(fileno=options.channel) as channel:
        order = wait_for_order(channel, waiting)
    if order is None:
        waiting.end()
        return 0
    with (Path(order.arguments[0]) / SUPERVISOR_LOG).open("ab") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    for descriptor in (order.lock_fd, order.ready_fd):
        os.set_inheritable(descriptor, False)
    fds = ["--lock-fd", str(order.lock_fd), "--ready-fd", str(order.ready_fd)]
    return supervisor.main([*order.arguments, *fds], waiting)


if __name__ == "__main__":
    sys.exit(main())
