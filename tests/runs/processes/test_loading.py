"""The wait for a server that loads TensorFlow, with a small module in the place of TensorFlow."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.runs.run_folders import Runs, event_of, states
from tests.waiting import LIMIT_SECONDS, POLL_SECONDS, until
from workbench.forking import ForkServer, Order
from workbench.runs.processes import forks
from workbench.runs.processes.environment import Launch
from workbench.runs.processes.forks import Forks, fork_server
from workbench.runs.supervise.supervisor import LOADS, STOPPED_EARLY

TWO = ("worker-0", "worker-1")
LOADS_LONG = "import os, time\nwhile not os.path.exists(release): time.sleep(0.01)"
CANNOT_LOAD = "raise ImportError('no such library')"
LEAVES_A_SIGN = "open(__file__ + '.loaded', 'w')"
Install = Callable[[str], ForkServer]


@pytest.fixture
def install(runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install a module in the place of TensorFlow; return the server that imports it.

    The module finds the path of a file in `release`, which exists when the test is over.
    """
    folder, release, made = tmp_path / "modules", tmp_path / "release", list[ForkServer]()
    folder.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(folder))

    def install_module(code: str) -> ForkServer:
        (folder / "tensorflow.py").write_text(f"release = {str(release)!r}\n{code}")
        (folder / "keras.py").write_text("")
        made.append(fork_server(launch_of(runs)))
        return made[-1]

    yield install_module
    release.touch()
    for server in made:
        until(lambda each=server: each.state in ("absent", "refused"))


def launch_of(runs: Runs) -> Launch:
    return Launch.of(runs.make().dir)


def ask(starts: Forks, folder: Path) -> str:
    """Start a process and return how it was started, once it has ended well."""
    script = folder / "script.py"
    script.write_text("")
    with Path(os.devnull).open("r+b") as nothing:
        streams = (nothing.fileno(),) * 3
        process = starts.begin(Order([str(script)], folder, dict(os.environ), streams))
    assert process.wait() == 0
    return starts.begun


def prepare(starts: Forks) -> None:
    starts.prepare(lambda: time.sleep(POLL_SECONDS), lambda: False, several=True)


def test_processes_start_cold_if_tensorflow_does_not_load_in_time(
    install: Install, runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = install(LOADS_LONG)
    starts = Forks(launch_of(runs), tmp_path / "state")
    monkeypatch.setattr(forks, "LOAD_SECONDS", 0.0)
    prepare(starts)
    assert server.state == "loading"
    assert not starts.must_load(several=True)
    assert ask(starts, tmp_path) == "cold: TensorFlow did not load within 0 s"


def test_a_run_that_is_stopped_while_tensorflow_loads_starts_no_process(
    install: Install, runs: Runs
) -> None:
    server = install(LOADS_LONG)
    run = runs.start(start="auto", tasks=TWO)
    until(lambda: event_of(run, "starting"))
    assert event_of(run, "starting")["note"] == LOADS
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped"
    assert server.state == "loading"
    assert states(run) == ["queued", "starting", "stopped"]
    assert event_of(run, "stopped")["note"] == STOPPED_EARLY
    assert not list(run.dir.glob("worker-*/events.jsonl"))


def test_a_run_whose_server_refuses_starts_cold_and_its_ledger_says_why(
    install: Install, runs: Runs, tmp_path: Path
) -> None:
    server = install(CANNOT_LOAD)
    run = runs.start(start="auto", tasks=TWO)
    assert run.wait(LIMIT_SECONDS) == "finished"
    how = "cold: ImportError: no such library"
    assert event_of(run, "begun")["how"] == dict.fromkeys(TWO, how)
    (start,) = (entry for entry in run.ledger.first_step if entry.name == "start")
    assert start.note == how
    assert server.state == "refused"
    log = (server.folder / f"{server.name}.log").stat().st_mtime_ns
    later = Forks(launch_of(runs), tmp_path / "state")
    prepare(later)
    assert ask(later, tmp_path) == how
    assert (server.folder / f"{server.name}.log").stat().st_mtime_ns == log  # not tried again


def test_a_tensorflow_that_is_built_for_tpus_is_not_loaded_ahead(
    install: Install, runs: Runs, tmp_path: Path
) -> None:
    server = install(LEAVES_A_SIGN)
    modules = tmp_path / "modules"
    (modules / "libtpu.py").write_text("")
    starts = Forks(launch_of(runs), tmp_path / "state")
    prepare(starts)
    why = "its TensorFlow is built for TPUs and takes the TPU when it is imported"
    assert (server.state, server.why_not) == ("refused", why)
    assert not (modules / "tensorflow.py.loaded").exists()
    assert ask(starts, tmp_path) == f"cold: {why}"
