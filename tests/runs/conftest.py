"""Runs and task groups, which are ended after each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.forked import LOG_LEVEL, share
from tests.runs.records.written_run import WrittenRun
from tests.runs.run_folders import Runs
from tests.runs.task_groups import TaskGroups
from workbench.runs import Run
from workbench.runs.folder.locks import state_dir
from workbench.runs.processes.bounds import Bounds
from workbench.runs.processes.environment import Launch
from workbench.runs.processes.forks import COLD, Forks
from workbench.runs.processes.task_starter import LocalTaskStarter
from workbench.runs.supervise.task_group import TaskGroup


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runs]:
    monkeypatch.setenv("WORKBENCH_STATE", str(tmp_path / "state"))
    made = Runs(tmp_path / "runs")
    yield made
    made.end_all()


@pytest.fixture
def forking(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the processes of `runs` fork from the server of the tests."""
    for name, value in LOG_LEVEL.items():
        monkeypatch.setenv(name, value)
    share(state_dir())


@pytest.fixture
def living(runs: Runs) -> Iterator[WrittenRun]:
    """A living run without events, of one task that steps and is timed by its own clock."""
    made = WrittenRun(runs.make())
    made.alive()
    yield made
    made.dead()


@pytest.fixture
def written(living: WrittenRun) -> WrittenRun:
    """A living run in its queue."""
    living.state("queued")
    return living


@pytest.fixture
def group_of() -> Iterator[TaskGroups]:
    """Return a function that starts the tasks of a run without a supervisor.

    `poll` of the task group receives the time from the test.
    """
    started = []

    def start(run: Run) -> TaskGroup:
        launch = Launch.of(run.dir)
        starter = LocalTaskStarter(run.dir, launch, (), Forks(launch, run.dir, COLD))
        group = TaskGroup(run.dir, run.plan, starter, launch.interpreter, Bounds())
        started.append(group)
        group.choose_addresses()
        group.start(0.0)
        return group

    yield start
    for group in started:
        group.end(0.0)
