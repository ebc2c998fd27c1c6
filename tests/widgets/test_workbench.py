"""The joined views: what the form shows when a workbench opens next to a living run."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.widgets.folders import CONFIG, write_run
from workbench import RunConfig, Workbench
from workbench.runs.folder.state import take_lock
from workbench.runs.folder.trust import trust


def shown_beside(runs_dir: Path, *, started_here: bool) -> RunConfig:
    """Return the config in the form of a workbench that opens next to a living run."""
    run = write_run(runs_dir, "running", config=replace(CONFIG, interpreter="/named/python"))
    if started_here:
        trust(run.dir)
    lock = take_lock(run.dir)
    assert lock is not None
    try:
        workbench = Workbench(runs_dir=runs_dir)
        workbench._reattaching.join()
        assert workbench.run is not None
        workbench.close()
        return workbench.config
    finally:
        os.close(lock)


@pytest.mark.parametrize("started_here", [True, False])
def test_the_form_opens_with_the_code_of_a_living_run_only_if_it_was_started_here(
    started_here: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_STATE", str(tmp_path / "state"))
    config = shown_beside(tmp_path / "runs", started_here=started_here)
    assert config.interpreter == ("/named/python" if started_here else None)
