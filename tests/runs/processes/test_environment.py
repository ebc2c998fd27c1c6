"""The environment of a run's processes: the folder for unpacked files of data sets."""

from pathlib import Path

import pytest

from workbench.runs.processes.environment import UNPACKED, Launch


def environment(tmp_path: Path) -> dict[str, str]:
    return Launch("python", tmp_path).environment()


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
def test_another_folder_or_none_can_be_named(
    given: str, kept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv(UNPACKED, given)
    assert environment(tmp_path)[UNPACKED] == kept.replace("HOME", str(tmp_path))


def test_nothing_is_kept_without_a_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "~nobody-here/cache")
    assert environment(tmp_path)[UNPACKED] == ""
