"""A real Ray cluster of two nodes on this machine, each with one CPU, and no dashboard."""

import os
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from tests.launchers.cluster import free_ports, hiding
from tests.waiting import until
from workbench.launchers.ray_driver import PATIENCE

RAY = str(Path(sys.executable).with_name("ray"))
STORE_BYTES = str(100 * 2**20)
START = """
import sys
from ray.scripts.scripts import main
from workbench.launchers.ray_driver import await_no_agents

await_no_agents()
sys.exit(main())
"""
"""The command `ray` for a node that joins before its agents report their ports. An agent of a busy
machine takes longer than the node waits for it. Ports given to `ray start` are not enough: the node
itself is not given the one at which the dashboard's agent listens."""


@contextmanager
def ray_cluster(hidden: Path | None = None) -> Iterator[tuple[str, Path]]:
    """Run the cluster; yield its address, and the file with the token that it requires.

    The second node does not see the folder `hidden`.
    """
    address = f"127.0.0.1:{free_ports(1)[0]}"
    # A separate folder with a short name, because the names of sockets have a limited length.
    with tempfile.TemporaryDirectory(prefix="ray") as folder, ExitStack() as nodes:
        token = Path(folder) / "token"
        token.write_text(secrets.token_hex(32))
        environment = {
            **os.environ,
            **PATIENCE,
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(token),
        }
        head = ["--head", f"--port={address.rpartition(':')[2]}", f"--temp-dir={folder}"]
        head += ["--include-dashboard=false"]
        before = hiding(hidden) if hidden else []
        for count, options, words in ((1, head, []), (2, [f"--address={address}"], before)):
            start = partial(node, environment, *options, before=words)
            until(joined(nodes, start, partial(count_nodes, environment, address), count))
        yield address, token


def joined(
    nodes: ExitStack,
    start: Callable[[], AbstractContextManager[subprocess.Popen[bytes]]],
    count_nodes: Callable[[], int],
    wanted: int,
) -> Callable[[], bool]:
    """Start a node; return a function that checks whether the cluster has the wanted number.

    Ray gives up a node that needs more than half a minute to join. Such a node is started again.
    """
    process = nodes.enter_context(start())

    def there() -> bool:
        nonlocal process
        if process.poll() is not None:
            process = nodes.enter_context(start())
        return count_nodes() == wanted

    return there


@contextmanager
def node(
    environment: dict[str, str], *options: str, before: Sequence[str] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a node of a cluster, after the words `before`; at the exit, kill all its processes."""
    common = ["--node-ip-address=127.0.0.1", "--num-cpus=1", f"--object-store-memory={STORE_BYTES}"]
    process = subprocess.Popen(
        [*before, sys.executable, "-c", START, "start", "--block", *common, *options],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        # After a polite request, it would first wait up to 30 s for the end of its work.
        # A node that could not join has already ended, and then there is no process to kill.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def count_nodes(environment: dict[str, str], address: str) -> int:
    """Return the number of living nodes of the cluster."""
    answer = subprocess.run(
        [RAY, "status", f"--address={address}"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return sum(" node_" in line for line in answer.stdout.splitlines())
