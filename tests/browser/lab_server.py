"""Real servers of notebooks on loopback for browser tests, without the developer's settings."""

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import psutil

from tests.waiting import LIMIT_SECONDS, until
from workbench.lab import JUPYTER

STOP_SECONDS = 20


class Program(NamedTuple):
    """A server of notebooks: its command line, and the file that names its port."""

    options: tuple[str, ...]
    server_file: str
    python: str = sys.executable


LAB = Program(
    ("-m", "jupyterlab", "--LabApp.expose_app_in_browser=True", "--ServerApp.ip=127.0.0.1",
     "--ServerApp.port=0"),
    "jpserver-{pid}.json",
)  # fmt: skip


HOLD = (
    "import sys\nfrom workbench.runs.processes.forks import loaded_ahead\n"
    "with loaded_ahead(None): sys.stdin.read()"
)
"""A program that holds a fork server until its input ends."""


@dataclass(frozen=True)
class LabServer:
    """A running server of notebooks: its address, token, and the folder it serves."""

    port: int
    token: str
    root: Path
    log: Path
    base_url: str = "/"

    def url(self, path: str = "lab", **query: str) -> str:
        """Return the address of a page, with the token."""
        address = f"http://127.0.0.1:{self.port}{self.base_url}{path}"
        return f"{address}?{urlencode({'token': self.token, **query})}"

    def ask(self, path: str, method: str = "GET", **values: Any) -> Any:
        """Send a request, and return the server's answer from JSON."""
        body = json.dumps(values).encode() if values else None
        request = Request(self.url(path), body, method=method)
        request.add_header("Authorization", f"token {self.token}")
        with urlopen(request, timeout=LIMIT_SECONDS) as reply:
            text = reply.read()
        return json.loads(text) if text else None

    def shut_down_kernels(self) -> None:
        """End all kernels, which would otherwise stay until the server ends."""
        for kernel in self.ask("api/kernels"):
            self.ask(f"api/kernels/{kernel['id']}", "DELETE")


def isolated_environment(home: Path, python: str) -> dict[str, str]:
    """Return this process's environment, with Jupyter, IPython and the workbench kept in `home`."""
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
    bin_dir = str(Path(python).parent)
    path = os.pathsep.join([bin_dir, os.environ.get("PATH", os.defpath)])
    home_folders = {key: str(folder) for key, folder in folders.items()}
    inherited = {name: value for name, value in os.environ.items() if name != "WORKBENCH_RUNS"}
    return {**inherited, "PATH": path, **config, **home_folders}


class Lab:
    """A server of notebooks that can be killed and started again at the same address."""

    def __init__(self, root: Path, home: Path, program: Program = LAB, base_url: str = "/") -> None:
        self.server = LabServer(0, secrets.token_hex(16), root, home / "lab.log", base_url)
        self._program = program
        token = {"JUPYTER_TOKEN": self.server.token}
        self._environment = isolated_environment(home, program.python) | token
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> LabServer:
        """Start it on a free port; later starts use the same port.

        Raises RuntimeError with the end of its log if it ends before it answers.
        """
        server, port = self.server, "--ServerApp.port="
        given = [word.replace(f"{port}0", f"{port}{server.port}") for word in self._program.options]
        options = [*given, "--no-browser", "--allow-root"]
        if server.base_url != "/":
            options.append(f"--ServerApp.base_url={server.base_url}")
        with server.log.open("ab") as sink:
            self._process = process = subprocess.Popen(
                [self._program.python, *options],
                cwd=server.root,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
            )
        name = self._program.server_file.format(pid=process.pid)
        server_file = Path(self._environment["JUPYTER_RUNTIME_DIR"]) / name
        self.server = replace(server, port=_wait_for_port(process, server_file, server.log))
        return self.server

    def kill(self) -> None:
        """Kill it, as in a failure of the machine."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def stop(self) -> None:
        """End it with all its kernels."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()


@contextmanager
def running_lab(
    root: Path, home: Path, program: Program = LAB, base_url: str = "/"
) -> Iterator[LabServer]:
    """Start JupyterLab or another program on a free port; stop it and its kernels at the end.

    Runs that a failed test left in its folder end too, because runs outlive their server.
    """
    lab = Lab(root, home, program, base_url)
    try:
        yield lab.start()
    finally:
        lab.stop()
        _end_runs(root)


@contextmanager
def loaded_ahead(root: Path, home: Path) -> Iterator[None]:
    """Have TensorFlow loaded for the runs of all kernels of a JupyterLab."""
    command, environment = [sys.executable, "-c", HOLD], isolated_environment(home, sys.executable)
    with subprocess.Popen(command, cwd=root, env=environment, stdin=subprocess.PIPE):
        yield


def _end_runs(root: Path) -> None:
    for process in psutil.process_iter(["cmdline"]):
        if any(f"{root}{os.sep}" in word for word in process.info["cmdline"] or ()):
            with suppress(psutil.NoSuchProcess):
                process.kill()


def _wait_for_port(process: subprocess.Popen[bytes], server_file: Path, log: Path) -> int:
    def port() -> int | None:
        if process.poll() is not None:
            tail = log.read_text(errors="replace")[-2000:]
            raise RuntimeError(f"The server did not come up. End of its log:\n{tail}")
        if server_file.exists() and (text := server_file.read_text()).endswith("}"):
            return int(json.loads(text)["port"])
        return None

    return int(until(port))
