"""Two workers of a run of this machine on two hosts, with a slow link between them.

The hosts are network namespaces; see `tests.launchers.hosts`. The run's interpreter is a program
that starts the Python of each worker on the worker's host, with the hosts' addresses in TF_CONFIG.
All other processes of the run stay on this machine.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.launchers.hosts import ADDRESSES, missing, two_hosts
from workbench.runs.folder.tasks import HOST

DELAY_SECONDS = 0.005
"""The delay in each direction, as between cities of a country.

The link delays packets in a process, because some kernels have no `netem` for it.
"""
INTERPRETER = """#!/bin/sh
addresses() {{ printf %s "$TF_CONFIG" | sed 's/{here}/{one}/; s/{here}/{other}/'; }}
case "$TF_CONFIG" in
    *'"index": 0'*) TF_CONFIG=$(addresses) exec {on_one} "$@" ;;
    *'"index": 1'*) TF_CONFIG=$(addresses) exec {on_other} "$@" ;;
    *) exec {python} "$@" ;;
esac
"""


@contextmanager
def slow_link(folder: Path) -> Iterator[Path]:
    """Make the hosts, and the interpreter of a run on them in the folder.

    Raises:
        RuntimeError: this machine cannot have such hosts.
    """
    if lacks := missing():
        raise RuntimeError(
            f"Two hosts on this machine need root, `ip` and /dev/net/tun; {', '.join(lacks)} "
            "missing. Run as root on Linux with iproute2, or name other causes with --only."
        )
    interpreter = folder / "python-on-host"
    with two_hosts(DELAY_SECONDS) as hosts:
        on_one, on_other = (shlex.join(hosts.command(host, [sys.executable])) for host in (0, 1))
        text = INTERPRETER.format(
            here=HOST, one=ADDRESSES[0], other=ADDRESSES[1],
            on_one=on_one, on_other=on_other, python=shlex.quote(sys.executable),
        )  # fmt: skip
        interpreter.write_text(text)
        interpreter.chmod(0o755)
        yield interpreter
