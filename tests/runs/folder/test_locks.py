"""The place of the locks of runs, and the errors if it cannot be used."""

from pathlib import Path

import pytest

from workbench.runs import RunError
from workbench.runs.folder import locks


def test_a_folder_has_the_same_lock_by_every_path(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "link").symlink_to("run")
    state = tmp_path / "state"
    assert locks.lock_path(state, tmp_path / "run") == locks.lock_path(state, tmp_path / "link")


def test_the_state_folder_is_named_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_STATE", str(tmp_path / "one"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "two"))
    assert locks.state_dir() == tmp_path / "one"
    monkeypatch.delenv("WORKBENCH_STATE")
    assert locks.state_dir() == tmp_path / "two" / "workbench"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert locks.state_dir() == tmp_path / ".local" / "state" / "workbench"


def test_a_missing_home_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_STATE", "~no-such-user/state")
    with pytest.raises(RunError, match=r"'~no-such-user/state'\. Write the path in full"):
        locks.state_dir()


def test_a_state_folder_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"Locks of runs cannot be written to .*WORKBENCH_STATE"):
        locks.take(tmp_path / "file" / "a.lock")
