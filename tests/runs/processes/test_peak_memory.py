"""The peak memory of a run's processes, read from the system during their life."""

import os
import sys

import pytest

from tests.runs.run_folders import Runs
from tests.waiting import LIMIT_SECONDS, until
from workbench.runs.processes.peak_memory import peak_bytes_of

BALLAST = 300 * 2**20

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux reports it")


def test_the_peak_memory_of_a_trainer_is_recorded_at_its_end(runs: Runs) -> None:
    code = {"10": f"bytearray(b'x') * {BALLAST}"}
    held = runs.start(code=code, pauses={"20": "go"})
    slim = runs.start(pauses={"20": "go"})
    for run in (held, slim):
        until(lambda run=run: run.progress.step == 20)
        assert run.peak_bytes == {}
        (run.dir / "go").touch()
        assert run.wait(LIMIT_SECONDS) == "finished"
    (peak,), (other,) = held.peak_bytes.values(), slim.peak_bytes.values()
    assert 0.9 * BALLAST < peak - other < 1.2 * BALLAST


def test_a_resume_that_needs_less_memory_keeps_the_peak(runs: Runs) -> None:
    run = runs.start(code={"10": f"bytearray(b'x') * {BALLAST}"}, pauses={"20": "go"})
    until(lambda: run.progress.step == 20)
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped"
    before = run.peak_bytes
    (run.dir / "go").touch()
    assert run.resume().wait(LIMIT_SECONDS) == "finished"
    assert run.peak_bytes == before


def test_the_peak_memory_of_a_dead_process_is_unknown() -> None:
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    assert peak_bytes_of(child) is None
