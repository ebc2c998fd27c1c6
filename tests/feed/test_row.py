"""Tests of a run as a row of a list; the row of an unreadable run has the reason."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.widgets.folders import write_run
from workbench.feed import row_of
from workbench.runs import Run, RunError
from workbench.runs.folder.state import take_lock


def test_the_row_of_a_run_that_starts_has_its_stage(tmp_path: Path) -> None:
    run = write_run(tmp_path, "starting", steps=0)
    assert row_of(run)["stage"] == ""
    lock = take_lock(run.dir)
    assert lock is not None
    try:
        assert row_of(run)["stage"] == "Starting the processes"
    finally:
        os.close(lock)
    assert (row_of(run)["status"], row_of(run)["stage"]) == ("lost", "")


def changed(run: Run, name: str, **values: Any) -> None:
    path = run.dir / name
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


@pytest.mark.parametrize(
    "values",
    [
        {"own_model": {"a_field_of_later": 1}},
        {"config": {"version": 99}},
        {"config": {"version": 1, "a_field_of_later": 1}},
        {"config": "text"},
    ],
)
def test_a_run_of_another_release_is_unreadable_and_its_row_has_the_fix(
    values: Any, tmp_path: Path
) -> None:
    run = write_run(tmp_path)
    changed(run, "plan.json", **values)
    row = row_of(run)
    assert row["status"] == "unreadable"
    assert "Open the run with the release that wrote it" in row["error"]


def test_a_config_of_another_release_is_refused_with_its_file(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    changed(run, "plan.json", config={"version": 99})
    with pytest.raises(RunError, match=r"plan\.json does not .*99.*the release that wrote it"):
        _ = run.config


def test_a_loop_of_another_release_is_shown_by_its_name(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    changed(run, "plan.json", loop="scan")
    row = row_of(run)
    assert row["status"] == "finished"
    assert "scan" in row["about"]
