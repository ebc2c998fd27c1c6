"""The environment of a run's processes: where the files of a data set are kept unpacked."""

from pathlib import Path

import pytest

from workbench.runs.processes.environment import UNPACKED, Launch


def environment(tmp_path: Path) -> dict[str, str]:
    return Launch("python", tmp_path, None).environment()


def test_files_are_kept_unpacked_in_the_users_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    kept = str(tmp_path / "cache" / "tf-distribute-workbench" / "unpacked")
    assert environment(tmp_path)[UNPACKED] == kept
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    kept = str(tmp_path / ".cache" / "tf-distribute-workbench" / "unpacked")
    assert environment(tmp_path)[UNPACKED] == kept


@pytest.mark.parametrize(
    ("given", "kept"),
    [("/scratch/kept", "/scratch/kept"), ("~/kept", "HOME/kept"), ("", ""), ("~nobody-here/a", "")],
)
def test_another_folder_can_be_named_for_it_or_none(
    given: str, kept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv(UNPACKED, given)
    assert environment(tmp_path)[UNPACKED] == kept.replace("HOME", str(tmp_path))


def test_where_there_is_no_home_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "~nobody-here/cache")
    assert environment(tmp_path)[UNPACKED] == ""
