"""Runs that are ended after each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runs.folder import Runs
from tests.runs.told import Told


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
