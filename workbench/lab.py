"""Start JupyterLab on this machine with an open workbench, ready to use."""

import contextlib
import json
import os
import secrets
import socket
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlencode

from workbench.runs.processes.environment import Launch
from workbench.runs.processes.forks import fork_server

LESSON = Path("notebooks/01_click_to_train.ipynb")
JUPYTER = Path(__file__).with_name("jupyter")
OWN_NOTEBOOK = Path("workbench.ipynb")
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


def launch(
    runs_dir: str | Path | None = None,
    open_browser: bool = True,
    notebook: str | Path | None = None,
) -> NoReturn:
    """Become a JupyterLab that serves the current folder on loopback and opens a workbench.

    JupyterLab replaces this process, so Ctrl+C stops JupyterLab. `runs_dir` is the folder in which
    its notebooks keep their runs (default: $WORKBENCH_RUNS, else `runs` in the current folder).
    `notebook` is opened; if it does not exist, it is created. Its default is `workbench.ipynb`.

    Raises LabError if JupyterLab is not installed, if the notebook is not a .ipynb file inside the
    current folder, or if no port is free.
    """
    prepared = prepare(runs_dir, open_browser and has_display(), notebook)
    lines = (
        f"The workbench opens at {prepared.address}",
        "Ctrl+C stops JupyterLab; runs that are training go on.",
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
        server = fork_server(Launch(sys.executable, Path.cwd(), None))
        with contextlib.suppress(OSError):  # Train works without the fork server
            server.start()
            server.hand_on()


def prepare(
    runs_dir: str | Path | None, open_browser: bool, notebook: str | Path | None
) -> LabLaunch:
    """Check the needs of `launch`, create the notebook if it does not exist, and find a port."""
    if find_spec("jupyterlab") is None:
        raise LabError(
            "`workbench lab` needs JupyterLab in the same Python environment. "
            f"{sys.executable} has none. "
            'Install it: pip install "tf-distribute-workbench[lab]"'
        )
    folder = Path.cwd()
    path = ensure_notebook(folder, notebook)
    page = "/lab?" + urlencode({"workbench": path.as_posix()})
    port = free_port()
    token = secrets.token_hex(24)
    command = [
        *(sys.executable, "-m", "jupyterlab", "--log-level=WARN", "--LabApp.log_level=WARN", "-y"),
        *(f"--ServerApp.ip={HOST}", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
        *(f"--ServerApp.root_dir={folder}", f"--LabApp.default_url={page}"),
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
    address = f"http://{HOST}:{port}{page}&token={token}"
    return LabLaunch(tuple(command), environment, address)


def config_path() -> str:
    """Return `$JUPYTER_CONFIG_PATH` with the workbench's settings added.

    These settings keep Jupyter's news from covering the charts. They are needed because JupyterLab
    asks whether it may show news, whatever its `news_url` is.
    """
    folders = (str(JUPYTER), os.environ.get("JUPYTER_CONFIG_PATH", ""))
    return os.pathsep.join(filter(None, folders))


def ensure_notebook(folder: Path, notebook: str | Path | None) -> Path:
    """Return the notebook's path relative to `folder`.

    If the notebook does not exist, it is created: as a copy of the first lesson if `folder` has
    that, so that the lesson's own file stays as it is, else with one workbench cell.

    Raises LabError if the path is outside `folder` or is not a .ipynb file.
    """
    path = (folder / (notebook or OWN_NOTEBOOK)).resolve()
    if not path.is_relative_to(folder.resolve()) or path.suffix != ".ipynb":
        raise LabError(
            "`workbench lab` opens a notebook (.ipynb) inside the folder it is started in. "
            f"Asked for {path}, started in {folder}. "
            "Start it in the notebook's folder, or name another notebook."
        )
    if not path.exists():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(new_notebook(folder), encoding="utf-8")
        except OSError as error:
            raise LabError(
                f"`workbench lab` makes a notebook in the folder it is started in. {path}: "
                f"{error.strerror}. Start it in a folder that you can write to."
            ) from error
    return path.relative_to(folder.resolve())


def new_notebook(folder: Path) -> str:
    """Return the text of a new notebook that opens a workbench."""
    lesson = folder / LESSON
    if lesson.exists():
        return lesson.read_text(encoding="utf-8")
    return json.dumps(starter_notebook(), indent=1) + "\n"


def starter_notebook() -> dict[str, object]:
    """Return a notebook with one cell, which shows a workbench.

    The cell runs when `workbench lab` opens the notebook.
    """
    cell: dict[str, object] = {
        "cell_type": "code",
        "id": "workbench",
        "metadata": {"tags": ["workbench-autorun"]},
        "source": "from workbench import Workbench\n\nWorkbench()",
        "execution_count": None,
        "outputs": [],
    }
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {
        "cells": [cell],
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


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
        "JupyterLab needs a free port on this machine. "
        f"{FIRST_PORT} to {last - 1} are all taken. "
        "Stop a server that is no longer needed: jupyter server list, then jupyter server stop."
    )


def has_display() -> bool:
    """Return whether a browser can show a window.

    Without a display, a browser would fill the terminal or would not start.
    """
    if sys.platform == "linux":
        return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return True
