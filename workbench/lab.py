"""Start JupyterLab on this machine with the workbench open."""

import contextlib
import os
import secrets
import socket
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

from workbench.runs.processes.environment import Launch
from workbench.runs.processes.forks import fork_server

JUPYTER = Path(__file__).with_name("jupyter")
PAGE = "/lab?workbench"
"""The address to which the extension answers by opening its panel."""
HOST = "127.0.0.1"
FIRST_PORT = 8888
PORTS_TRIED = 50


class LabError(Exception):
    """JupyterLab cannot be started as asked; the text gives the reason and a fix."""


@dataclass(frozen=True)
class LabLaunch:
    """The command and the environment to execute, and the address at which the workbench opens."""

    command: tuple[str, ...]
    environment: dict[str, str]
    address: str


def launch(runs_dir: str | Path | None = None, open_browser: bool = True) -> NoReturn:
    """Become a JupyterLab that serves the current folder on loopback and opens the workbench.

    JupyterLab replaces this process, so Ctrl+C stops JupyterLab. `runs_dir` is the folder of its
    runs (default: $WORKBENCH_RUNS, else `runs` in the current folder).

    Raises LabError if JupyterLab is not installed, or if no port is free.
    """
    prepared = prepare(runs_dir, open_browser and has_display())
    lines = (
        f"The workbench opens at {prepared.address}",
        "Ctrl+C stops JupyterLab; runs keep training.",
    )
    load_ahead()
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
    os.execve(prepared.command[0], prepared.command, prepared.environment)


def load_ahead() -> None:
    """Start a fork server, so that TensorFlow loads while JupyterLab starts.

    JupyterLab, which replaces this process, then keeps the fork server alive.
    """
    if find_spec("tensorflow") is not None:
        server = fork_server(Launch(sys.executable, Path.cwd()))
        with contextlib.suppress(OSError):  # Train works without the fork server
            server.start()
            server.hand_on()


def prepare(runs_dir: str | Path | None, open_browser: bool) -> LabLaunch:
    """Check the needs of `launch`, and find a port."""
    if find_spec("jupyterlab") is None:
        raise LabError(
            f"JupyterLab is not installed for {sys.executable}, which runs `workbench lab`. "
            'Install it: pip install "tf-distribute-workbench[lab]"'
        )
    folder = Path.cwd()
    port = free_port()
    token = secrets.token_hex(24)
    command = [
        *(sys.executable, "-m", "jupyterlab", "--log-level=WARN", "--LabApp.log_level=WARN", "-y"),
        *(f"--ServerApp.ip={HOST}", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
        *(f"--ServerApp.root_dir={folder}", f"--LabApp.default_url={PAGE}"),
    ]
    if not open_browser:
        command.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    runs = runs_dir or os.environ.get("WORKBENCH_RUNS") or "runs"
    # The token goes by environment, because other users of the machine can read a command line.
    environment = os.environ | {
        "WORKBENCH_RUNS": str(folder / runs),
        "JUPYTER_TOKEN": token,
        "JUPYTER_CONFIG_PATH": config_path(),
    }
    address = f"http://{HOST}:{port}{PAGE}&token={token}"
    return LabLaunch(tuple(command), environment, address)


def config_path() -> str:
    """Return `$JUPYTER_CONFIG_PATH` with the workbench's settings added.

    These settings keep Jupyter's news from covering the charts. They are needed because JupyterLab
    asks whether it may show news, whatever its `news_url` is.
    """
    folders = (str(JUPYTER), os.environ.get("JUPYTER_CONFIG_PATH", ""))
    return os.pathsep.join(filter(None, folders))


def free_port() -> int:
    """Return the first free port of this machine, from 8888 on.

    Raises LabError if all ports that are tried are taken.
    """
    last = FIRST_PORT + PORTS_TRIED
    for port in range(FIRST_PORT, last):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return port
    raise LabError(
        f"JupyterLab needs a free port, but {FIRST_PORT} to {last - 1} are all taken. "
        "Stop a server that you no longer need: jupyter server list, then jupyter server stop."
    )


def has_display() -> bool:
    """Return whether a browser can show a window.

    Without a display, a browser would fill the terminal or would not start.
    """
    if sys.platform == "linux":
        return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return True
