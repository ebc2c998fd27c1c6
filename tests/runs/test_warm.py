"""Processes that wait for a run: what they give it, and how they end where none comes."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.runs.folder import QUICK, Runs, states
from tests.waiting import LIMIT_SECONDS, until
from workbench.runs import Run, WarmStart, standby, start_script

Begin = Callable[[], WarmStart]


@pytest.fixture
def begin_warm() -> Iterator[Begin]:
    """Makes a warm start that imports a small module, ready.

    Not at once: pytest names the phase of a test in the environment, which must stay the same.
    """
    made: list[WarmStart] = []

    def begin() -> WarmStart:
        made.append(WarmStart(sys.executable, module="json"))
        until(lambda: made[-1].ready)
        return made[-1]

    yield begin
    for warm in made:
        warm.close()
        until(lambda group=warm.group: not members(group))


def members(group: int) -> list[psutil.Process]:
    """The waiting supervisor and its trainer."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


def start(runs: Runs, warm: WarmStart, **options: object) -> Run:
    return start_script(runs.make(**options).dir, QUICK, warm)


def test_a_run_is_trained_by_the_process_that_waited(runs: Runs, begin_warm: Begin) -> None:
    warm = begin_warm()
    waited = {process.pid for process in members(warm.group)}
    told = "'here', os.getpid(), sys.argv[1:], sys.path[0], os.getcwd()"
    run = start(runs, warm, code={"0": f"print(*({told}), sep='|')"})
    assert run.wait(LIMIT_SECONDS) == "finished"
    assert states(run) == ["queued", "starting", "running", "finished"]
    here = next(line for line in run.log().splitlines() if line.startswith("here"))
    _, pid, *rest = here.split("|")
    assert int(pid) in waited
    assert rest == [str(["--run-dir", str(run.dir)]), str(run.dir), str(run.dir)]
    assert run.steps()["step"].tolist() == list(range(60))


def test_its_run_is_stopped_as_any_other(runs: Runs, begin_warm: Begin) -> None:
    warm = begin_warm()
    run = start(runs, warm, pauses={"20": "go"})
    until(lambda: run.progress.step == 20)
    assert run.alive
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped"
    assert run.progress.step == 20


def test_a_killed_supervisor_ends_its_trainer_too(runs: Runs, begin_warm: Begin) -> None:
    warm = begin_warm()
    run = start(runs, warm, pauses={"20": "never"})
    until(lambda: run.progress.step == 20)
    os.kill(
        next(e for e in run.events() if "supervisor_pid" in e)["supervisor_pid"], signal.SIGKILL
    )
    until(lambda: run.status == "lost")
    assert run.progress.step == 20


def test_a_killed_kernel_leaves_its_run_going(runs: Runs) -> None:
    run = runs.make(pauses={"20": "go"})
    code = (
        "import os, signal, sys; from pathlib import Path; "
        "from workbench.runs import WarmStart, start_script; "
        "warm = WarmStart(sys.executable, module='json'); "
        f"start_script(Path({str(run.dir)!r}), warm=warm); "
        "assert warm.gone; os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -signal.SIGKILL
    until(lambda: run.progress.step == 20)
    (run.dir / "go").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"
    assert run.steps()["step"].tolist() == list(range(60))


def test_it_serves_once(runs: Runs, begin_warm: Begin) -> None:
    warm = begin_warm()
    first, second = start(runs, warm), start(runs, warm)
    assert (first.wait(LIMIT_SECONDS), second.wait(LIMIT_SECONDS)) == ("finished", "finished")
    assert not warm.fits(sys.executable)


def test_a_changed_environment_starts_cold(
    runs: Runs, begin_warm: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    warm = begin_warm()
    assert warm.fits(sys.executable)
    assert not warm.fits("/another/python")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    code = {"0": "print('sees', os.environ['CUDA_VISIBLE_DEVICES'])"}
    run = start(runs, warm, code=code)
    assert run.wait(LIMIT_SECONDS) == "finished"
    assert "sees 1" in run.log()


def test_a_trainer_that_died_waiting_is_started_anew(runs: Runs, begin_warm: Begin) -> None:
    warm = begin_warm()
    trainer = next(p for p in members(warm.group) if "waiting.py" in " ".join(p.cmdline()))
    trainer.kill()
    until(lambda: warm.gone or not trainer.is_running() or trainer.status() == "zombie")
    assert start(runs, warm).wait(LIMIT_SECONDS) == "finished"


def test_both_end_when_nobody_can_need_them_any_more(begin_warm: Begin) -> None:
    warm = begin_warm()
    assert len(members(warm.group)) == 2
    warm.close()
    until(lambda: not members(warm.group))
    assert warm.gone
    warm.keep()


def test_a_module_that_fails_to_import_is_left_to_the_script(runs: Runs) -> None:
    made = WarmStart(sys.executable, module="no_such_module")
    assert start(runs, made).wait(LIMIT_SECONDS) == "finished"
    assert not made.ready


def test_an_interpreter_that_cannot_be_started_is_gone_at_once(tmp_path: Path) -> None:
    made = WarmStart(str(tmp_path / "python"), module="json")
    until(lambda: made.gone)
    assert not made.fits(made.interpreter)


def test_it_does_not_wait_where_memory_is_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not standby.memory_is_short()
    monkeypatch.setattr(standby, "MEMORY", tmp_path / "meminfo")
    assert not standby.memory_is_short()
    standby.MEMORY.write_text("MemTotal: 8000000 kB\nMemAvailable: 900000 kB\n")
    assert standby.memory_is_short()
