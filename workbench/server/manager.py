"""The state that all handlers share: the followed runs and devices, and a pool of threads."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

from workbench.runs import Run, RunError

from .channels import DevicesChannel, RunChannel, RunsChannel
from .errors import RequestError
from .folder import RunsFolder, runs_folder

SETTING = "workbench_manager"
"""The name of the manager in the server's settings."""
MOST_RUNS = 32
"""How many run channels without a page are kept; a reloaded page finds its run already read."""
THREADS = 4


class Manager:
    """The owner of the channels; all except the devices channel are made when a page asks."""

    def __init__(self, root_dir: str | os.PathLike[str]) -> None:
        """`root_dir` is the folder that the server shows."""
        self._root_dir = root_dir
        self._guard = threading.Lock()
        self._runs: dict[str, RunsChannel] = {}
        self._run: dict[tuple[str, str], RunChannel] = {}
        self.devices = DevicesChannel()
        self.pool = ThreadPoolExecutor(THREADS, thread_name_prefix="workbench")
        """Threads that read and write files, so that the server's loop never waits for a disk."""

    def folder(self, asked: str) -> RunsFolder:
        """Return the folder of runs that a page asks for; see `runs_folder`."""
        return runs_folder(self._root_dir, asked)

    def runs(self, asked: str) -> RunsChannel:
        """Return the channel that follows the runs of a folder."""
        folder = self.folder(asked)
        with self._guard:
            if asked not in self._runs:
                self._runs[asked] = RunsChannel(folder, asked)
            return self._runs[asked]

    def run(self, asked: str, run_id: str) -> RunChannel:
        """Return the channel that follows a run.

        Raises:
            RequestError: no run has that id, or the run cannot be read.
        """
        run = self.folder(asked).run(run_id)
        with self._guard:
            channel = self._run.pop((asked, run_id), None)
            if channel is None or channel.run.created != run.created or channel.over:
                channel = _opened(run, {"channel": "run", "folder": asked, "run": run_id})
            self._run[asked, run_id] = channel
            idle = [each for each, one in self._run.items() if not one.has_listeners]
            for each in idle[:-MOST_RUNS]:
                del self._run[each]
            return channel


def _opened(run: Run, address: dict[str, str]) -> RunChannel:
    try:
        return RunChannel(run, address)
    except RunError as error:
        raise RequestError(409, str(error)) from error
