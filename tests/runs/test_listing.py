"""Runs opened by id or folder, and the list of all runs."""

import os

import pytest

from tests.runs.run_folders import Runs
from workbench.runs import RunError, list_runs, open_run
from workbench.runs.folder.state import take_lock
from workbench.runs.listing import living


def test_runs_are_opened_by_id_or_folder_and_listed_newest_first(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = runs.make(), runs.make()
    monkeypatch.setenv("WORKBENCH_RUNS", str(runs.root))
    assert open_run(first.id).dir == open_run(first.dir).dir == first.dir
    assert [run.id for run in list_runs()] == [second.id, first.id]
    with pytest.raises(RunError, match=f"'nothing'.*{second.id}"):
        open_run("nothing")
    assert list_runs(runs.root / "none") == []


def test_living_runs_are_found_although_another_run_is_damaged(runs: Runs) -> None:
    _, alive, damaged = runs.make(), runs.make(), runs.make()
    (damaged.dir / "run.json").write_text("{")
    lock = take_lock(alive.dir)
    assert lock is not None
    try:
        assert [run.id for run in living(list_runs(runs.root))] == [alive.id]
    finally:
        os.close(lock)
