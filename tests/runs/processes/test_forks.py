"""Runs with forked processes are stopped, killed and orphaned like any other run."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.forking.processes import server_process
from tests.runs.run_folders import OBEDIENT, QUICK, Runs, event_of, pid_of, states
from tests.waiting import LIMIT_SECONDS, until
from workbench.forking import ForkServer
from workbench.runs import start_script
from workbench.runs.processes.environment import Launch
from workbench.runs.processes.forks import (
    OWN_ENVIRONMENT,
    fork_server,
    loaded_ahead,
    sets_environment,
)

pytestmark = [pytest.mark.slow, pytest.mark.promise]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkServer]:
    """The fork server of this module's runs, with TensorFlow loaded."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_STATE", str(tmp_path_factory.mktemp("state")))
        found = fork_server(Launch(sys.executable, Path.cwd()))
        with loaded_ahead(sys.executable):
            until(lambda: found.state == "ready")
            yield found
        until(lambda: found.state == "absent")


@pytest.fixture
def runs(server: ForkServer, tmp_path: Path) -> Iterator[Runs]:
    made = Runs(tmp_path / "runs")
    yield made
    made.end_all()


def test_a_forked_process_trains_the_run(runs: Runs) -> None:
    run = runs.start(start="auto", code={"0": "print('loaded', 'tensorflow' in sys.modules)"})
    assert run.wait(LIMIT_SECONDS) == "finished"
    assert states(run) == ["queued", "starting", "running", "finished"]
    begun = event_of(run, "begun")
    assert begun is not None
    assert begun["how"] == {"worker-0": "forked"}
    assert "loaded True" in run.log()
    assert run.steps()["step"].tolist() == list(range(1, 61))


def test_a_forked_run_is_stopped_like_any_other(runs: Runs) -> None:
    run = runs.start(start="auto", pauses={"20": "go"})
    until(lambda: run.progress.step == 20)
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped"
    assert run.progress.step == 20


def test_a_killed_supervisor_ends_a_forked_task(runs: Runs) -> None:
    run = runs.start(start="auto", pauses={"20": "never"})
    until(lambda: run.progress.step == 20)
    trainer = pid_of(run, "trainer")
    os.kill(pid_of(run, "supervisor"), signal.SIGKILL)
    until(lambda: run.status == "lost")
    until(lambda: not psutil.pid_exists(trainer))
    assert run.progress.step == 20


def test_a_killed_forked_task_is_reported_as_killed(runs: Runs) -> None:
    run = runs.start(start="auto", pauses={"20": "never"})
    until(lambda: run.progress.step == 20)
    os.kill(pid_of(run, "trainer"), signal.SIGKILL)
    assert run.wait(LIMIT_SECONDS) == "failed"
    assert run.failure is not None
    assert "SIGKILL" in run.failure.cause


def test_each_task_of_a_run_is_forked(runs: Runs) -> None:
    run = runs.start(start="auto", tasks=("worker-0", "worker-1"))
    assert run.wait(LIMIT_SECONDS) == "finished"
    begun = event_of(run, "begun")
    assert begun is not None
    assert begun["how"] == {"worker-0": "forked", "worker-1": "forked"}


def test_a_changed_environment_causes_a_cold_start(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    run = runs.start(start="auto", code={"0": "print('sees', os.environ['CUDA_VISIBLE_DEVICES'])"})
    assert run.wait(LIMIT_SECONDS) == "finished"
    begun = event_of(run, "begun")
    assert begun is not None
    assert begun["how"] == {"worker-0": "cold: TensorFlow was not loaded ahead"}
    assert "sees 1" in run.log()


@pytest.mark.parametrize(
    ("script", "sets"),
    [
        ("import os\nos.environ['OMP_NUM_THREADS'] = '1'\nimport tensorflow as tf\n", True),
        ("import os\nimport tensorflow as tf\nos.environ['OMP_NUM_THREADS'] = '1'\n", False),
        ("import os\nos.putenv('XLA_FLAGS', '')\nfrom tensorflow import keras\n", True),
        ('import os\n\nos.environ["TF_USE_LEGACY_KERAS"] = "1"\nimport tensorflow as tf\n', False),
        ('"""Of an environment."""\nimport tensorflow as tf\n', False),
    ],
)
def test_a_script_that_sets_variables_before_the_import_is_detected(
    script: str, sets: bool
) -> None:
    assert sets_environment(script) == sets


def test_a_script_that_sets_its_environment_first_starts_cold(runs: Runs) -> None:
    above = "import os\nos.environ['OMP_NUM_THREADS'] = '1'\nimport tensorflow\n"
    made = runs.make(above + OBEDIENT, start="auto")
    run = start_script(made.dir, QUICK)
    assert run.wait(LIMIT_SECONDS) == "finished"
    begun = event_of(run, "begun")
    assert begun is not None
    assert begun["how"] == {"worker-0": f"cold: {OWN_ENVIRONMENT}"}


def test_a_forked_run_continues_after_its_server_was_killed(runs: Runs, server: ForkServer) -> None:
    run = runs.start(start="auto", pauses={"20": "go"})
    until(lambda: run.progress.step == 20)
    server_process(server).kill()
    until(lambda: server.state == "absent")
    (run.dir / "go").touch()
    assert run.wait(LIMIT_SECONDS) == "finished"
    assert run.steps()["step"].tolist() == list(range(1, 61))
