"""Programs besides training: they end after a stop, and no process is left."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.waiting import until
from tests.widgets.folders import write_run
from workbench.runs.folder.files import StoppedError
from workbench.runs.programs.run import run_programs
from workbench.runs.programs.serving import serving


def processes_about(folder: Path) -> list[int]:
    """Return the ids of the processes that have a folder on their command line."""
    found = psutil.process_iter(["cmdline"])
    return [each.pid for each in found if str(folder) in (each.info["cmdline"] or ())]


def test_a_program_is_ended_after_a_stop(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    asked = iter([False, True])
    with pytest.raises(
        StoppedError, match=r"step_times was stopped before it had a result\. Ask again\."
    ):
        run_programs(run.dir, "step_times", "1", "9", stopped=lambda: next(asked))
    until(lambda: not processes_about(run.dir))


def test_a_stop_ends_the_wait_for_an_answer(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    asked = iter([False, True])
    with (
        serving(run.dir, "step_times", "1", "serve", stopped=lambda: next(asked)) as served,
        pytest.raises(StoppedError, match=r"was stopped before it had a result\. Ask again\."),
    ):
        served.first()
    until(lambda: not processes_about(run.dir))


FOREVER = """
import os, pathlib, time

def forever():
    pathlib.Path("pid").write_text(f"{os.getpid()}.")
    time.sleep(3600)
"""
ASK = """
from workbench import RunConfig
from workbench.runs.programs.own_data import inspect_data

inspect_data(RunConfig(data="forever.py:forever"))
"""


@pytest.mark.slow
def test_a_program_ends_with_its_caller(tmp_path: Path) -> None:
    (tmp_path / "forever.py").write_text(FOREVER)
    with subprocess.Popen([sys.executable, "-c", ASK], cwd=tmp_path) as asker:
        noted = tmp_path / "pid"
        until(lambda: noted.exists() and noted.read_text().endswith("."))
        pid = int(noted.read_text()[:-1])
        assert psutil.pid_exists(pid)
        os.kill(asker.pid, signal.SIGKILL)
    until(lambda: not psutil.pid_exists(pid))
