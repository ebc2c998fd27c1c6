"""Runs and crews that are ended after each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runs.crews import Crews
from tests.runs.folder import Runs
from tests.runs.told import Told
from workbench.runs import Run
from workbench.runs.crew import Crew
from workbench.runs.directory import read_json
from workbench.runs.forks import COLD, Forks
from workbench.runs.hands import LocalHands
from workbench.runs.launch import Launch
from workbench.runs.watchdog import Bounds


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runs]:
    monkeypatch.setenv("WORKBENCH_STATE", str(tmp_path / "state"))
    made = Runs(tmp_path / "runs")
    yield made
    made.end_all()


@pytest.fixture
def told(runs: Runs) -> Iterator[Told]:
    """A living run in its queue."""
    made = Told(runs.make())
    made.alive()
    made.state("queued")
    yield made
    made.dead()


@pytest.fixture
def crew_of() -> Iterator[Crews]:
    """Starts the tasks of a run without a supervisor; `look` is told what time it is."""
    started = []

    def start(run: Run) -> Crew:
        card, plan = (read_json(run.dir / name) for name in ("run.json", "plan.json"))
        launch = Launch.of(run.dir, card, plan)
        hands = LocalHands(run.dir, launch, (), Forks(launch, run.dir, COLD))
        crew = Crew(run.dir, plan, hands, launch.interpreter, Bounds())
        started.append(crew)
        crew.choose_addresses()
        crew.start(0.0)
        return crew

    yield start
    for crew in started:
        crew.end(0.0)
