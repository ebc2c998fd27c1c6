"""Runs opened by id or folder, and the list of all runs."""

import pytest

from tests.runs.run_folders import Runs
from workbench.runs import RunError, list_runs, open_run


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
