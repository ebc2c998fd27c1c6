"""Fork servers that import small modules, and a folder in which scripts run."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest

from tests.forking.processes import processes_of
from tests.waiting import until
from workbench.forking import Forked, ForkServer, Order

Serve = Callable[..., ForkServer]


class Place:
    """A folder where scripts run, cold or forked from a server."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log.txt"

    def script(self, code: str) -> list[str]:
        """Write a script and return it with an argument."""
        path = self.folder / "script.py"
        path.write_text(code)
        return [str(path), "--run-dir"]

    def order(self, code: str, output: IO[bytes], nothing: IO[bytes], **more: object) -> Order:
        streams = (nothing.fileno(), output.fileno(), output.fileno())
        return Order(self.script(code), self.folder, dict(os.environ), streams, **more)

    def fork(self, server: ForkServer, code: str, **more: object) -> Forked:
        with self.log.open("wb") as output, Path(os.devnull).open("rb") as nothing:
            return server.fork(self.order(code, output, nothing, **more))

    def cold(self, code: str) -> int:
        """Run the script as `python -u script`; its output is in the log."""
        with self.log.open("wb") as output:
            command = [sys.executable, "-u", *self.script(code)]
            return subprocess.run(
                command,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                check=False,
            ).returncode

    def output(self) -> str:
        return self.log.read_text()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    folder = tmp_path / "work"
    folder.mkdir()
    return Place(folder)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Start a server of small modules; wait until it forks or refuses to."""
    made: list[ForkServer] = []

    def start(*modules: str, **variables: str) -> ForkServer:
        environment = {**os.environ, **variables}
        server = ForkServer(sys.executable, environment, tmp_path / "state", modules or ("json",))
        made.append(server)
        server.start()
        until(lambda: server.state != "loading")
        return server

    yield start
    for server in made:
        server.release()
    until(lambda: not any(processes_of(server) for server in made))
