"""A server counts as in use while a run lives, and as idle when none does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.runs.run_folders import Runs
from tests.widgets.folders import write_run
from workbench.server.activity import LAST_ACTIVITY, note_activity
from workbench.server.manager import SETTING


@pytest.fixture
def runs(runs_dir: Path) -> Iterator[Runs]:
    made = Runs(runs_dir)
    yield made
    for run in made.made:
        run.stop()
        run.wait()


async def test_a_living_run_keeps_the_server_in_use(
    runs_dir: Path, runs: Runs, jp_serverapp: Any
) -> None:
    settings = jp_serverapp.web_app.settings
    write_run(runs_dir)
    torn = write_run(runs_dir)
    (torn.dir / "run.json").write_text("{")
    await note_activity(settings, settings[SETTING])
    assert LAST_ACTIVITY not in settings
    runs.start(steps=10_000_000)
    await note_activity(settings, settings[SETTING])
    assert jp_serverapp.web_app.last_activity() == settings[LAST_ACTIVITY]
