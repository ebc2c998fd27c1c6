"""The host of a notebook: how to recognise it, and which files and runs it keeps."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

DRIVE = Path("/content/drive")
JUPYTER, TERMINAL = "Jupyter", "terminal"
LAB = ("jupyter-lab", "jupyterlab")
"""Words of a command that starts JupyterLab. `jupyter lab` becomes the first."""
NOTEBOOK = ("jupyter-notebook", "notebook")
SERVERS = ("jpserver", "nbserver")
"""The files in which servers describe themselves; the last is of the classic Notebook."""


@dataclass(frozen=True)
class LentMachine:
    """A host that removes its machine, with the files on it, when the session ends."""

    name: str
    home: Path
    """The folder in which its notebooks start, and in which it keeps the most."""
    kept: str
    """A sentence on what happens to runs in that folder."""
    idle: str
    """A sentence on when the host takes the machine back early."""


COLAB = LentMachine(
    "Colab",
    Path("/content"),
    "They are lost when this runtime ends.",
    "Colab ends a runtime when no cell is running, often after about 90 minutes. Runs end too.",
)
KAGGLE = LentMachine(
    "Kaggle",
    Path("/kaggle/working"),
    "They are lost when this session ends, unless you turn on persistence for files or save a "
    "version with its output.",
    "Kaggle ends a session when no cell is running, often after about 20 minutes. Runs end too.",
)


def lent() -> LentMachine | None:
    """Return the host of this machine; None if it is neither Colab nor Kaggle.

    Each host sets its own environment variables, and Colab also imports a module. Colab Enterprise
    is Colab with other limits.
    """
    of_colab = "COLAB_RELEASE_TAG" in os.environ or "google.colab" in sys.modules
    if of_colab or os.environ.get("VERTEX_PRODUCT") == "COLAB_ENTERPRISE":
        return COLAB
    return KAGGLE if "KAGGLE_KERNEL_RUN_TYPE" in os.environ else None


def host_name() -> str:
    """Return the program or the service whose page shows this process, or `terminal`.

    It is `Jupyter` if it is not known which program started the server.
    """
    if (host := lent()) is not None:
        return host.name
    if "VSCODE_PID" in os.environ or hasattr(sys.modules["__main__"], "__vsc_ipynb_file__"):
        return "VS Code"
    if "JPY_PARENT_PID" not in os.environ:
        return JUPYTER if "ipykernel" in sys.modules else TERMINAL
    file = server_file()
    if file is not None and file.name.startswith("nbserver"):
        return "classic Notebook"
    words = {Path(word).name for word in _command_of_server()}
    if words.intersection(LAB):
        return "JupyterLab"
    return "Notebook 7" if file is not None and words.intersection(NOTEBOOK) else JUPYTER


def server_file() -> Path | None:
    """Return the file in which the Jupyter server that started this process describes itself.

    It is None on other machines than the server's, and on Windows, where the server leaves no
    process id.
    """
    started_by = os.environ.get("JPY_PARENT_PID", "")
    if not started_by.isdecimal():
        return None
    from jupyter_core.paths import jupyter_runtime_dir

    files = (Path(jupyter_runtime_dir()) / f"{kind}-{started_by}.json" for kind in SERVERS)
    return next((file for file in files if file.exists()), None)


def _command_of_server() -> list[str]:
    """Return the words of the command that started the server; none where /proc is missing."""
    try:
        command = Path("/proc", os.environ["JPY_PARENT_PID"], "cmdline").read_bytes()
    except OSError:
        return []
    return command.decode(errors="replace").split("\0")


def host_line(runs: Path) -> str:
    """Return the host in one line, with what it means for runs in this folder."""
    host = lent()
    if host is None:
        stays = "They continue if you close the page or stop the kernel."
        return f"{host_name()}. Runs are in {runs}. {stays}"
    keeping = word_on_keeping(runs) or f"Runs are in {runs}, which outlives this runtime."
    return f"{host.name}. {keeping} {host.idle}"


def runs_home() -> Path:
    """Return the folder that holds the default folder of runs.

    It is the home folder of the host of a lent machine, else the current folder.
    """
    host = lent()
    return host.home if host is not None and host.home.is_dir() else Path.cwd()


def word_on_keeping(runs: Path) -> str:
    """Return a sentence on what happens to runs in this folder; empty if they stay."""
    host = lent()
    if host is None or runs.is_relative_to(DRIVE):
        return ""
    if host is KAGGLE and not runs.is_relative_to(host.home):
        lost = "They are lost when this session ends"
        return f"Runs are in {runs}. {lost}: Kaggle only keeps {host.home}."
    return f"Runs are in {runs}. {host.kept}"
