"""A real JupyterLab on loopback for browser tests, apart from the developer's own settings."""

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from tests.waiting import LIMIT_SECONDS, until
from workbench.lab import JUPYTER

STOP_SECONDS = 20


@dataclass(frozen=True)
class LabServer:
    """A running JupyterLab: its address, token, and the folder it serves."""

    port: int
    token: str
    root: Path
    log: Path

    def url(self, path: str = "lab", **query: str) -> str:
        """The address of a page, logged in by token."""
        return f"http://127.0.0.1:{self.port}/{path}?" + urlencode({"token": self.token, **query})

    def shut_down_kernels(self) -> None:
        """End all kernels, which would otherwise stay until the server ends."""
        with urlopen(self.url("api/kernels"), timeout=LIMIT_SECONDS) as reply:
            kernels = json.load(reply)
        for kernel in kernels:
            request = Request(self.url(f"api/kernels/{kernel['id']}"), method="DELETE")
            request.add_header("Authorization", f"token {self.token}")
            urlopen(request, timeout=LIMIT_SECONDS).close()


def isolated_environment(home: Path) -> dict[str, str]:
    """This process's environment with Jupyter, IPython and the workbench kept inside `home`."""
    folders = {
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": home / "workspaces",
        "IPYTHONDIR": home / "ipython",
        "WORKBENCH_STATE": home / "state",
    }
    config = {"JUPYTER_CONFIG_PATH": str(JUPYTER)}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    bin_dir = str(Path(sys.executable).parent)
    path = os.pathsep.join([bin_dir, os.environ.get("PATH", os.defpath)])
    home_folders = {key: str(folder) for key, folder in folders.items()}
    inherited = {name: value for name, value in os.environ.items() if name != "WORKBENCH_RUNS"}
    return {**inherited, "PATH": path, **config, **home_folders}


@contextmanager
def running_lab(root: Path, home: Path) -> Iterator[LabServer]:
    """Start JupyterLab on a free port and stop it, kernels and all, at the end.

    Raises RuntimeError with the end of its log where it ends before it answers.
    """
    token = secrets.token_hex(16)
    environment = isolated_environment(home)
    log = home / "lab.log"
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        *("--ServerApp.ip=127.0.0.1", "--ServerApp.port=0", f"--IdentityProvider.token={token}"),
        *(f"--ServerApp.root_dir={root}", "--LabApp.expose_app_in_browser=True"),
    ]
    with log.open("wb") as sink:
        process = subprocess.Popen(
            command, cwd=root, env=environment, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink
        )
    try:
        port = _wait_for_port(process, Path(environment["JUPYTER_RUNTIME_DIR"]), log)
        yield LabServer(port, token, root, log)
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for_port(process: subprocess.Popen[bytes], runtime: Path, log: Path) -> int:
    server_file = runtime / f"jpserver-{process.pid}.json"

    def port() -> int | None:
        if process.poll() is not None:
            tail = log.read_text(errors="replace")[-2000:]
            raise RuntimeError(f"JupyterLab did not come up. End of its log:\n{tail}")
        if server_file.exists() and (text := server_file.read_text()).endswith("}"):
            return int(json.loads(text)["port"])
        return None

    return int(until(port))
