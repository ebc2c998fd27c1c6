"""The environment of a run's processes: what is added, what is taken away, and what stays."""

from pathlib import Path

import pytest

from workbench.runs.launch import Launch

UNPACKED = "WORKBENCH_UNPACKED"


def environment(tmp_path: Path) -> dict[str, str]:
    return Launch("python", tmp_path, None).environment()


def test_what_was_published_is_kept_unpacked_in_the_users_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    kept = str(tmp_path / "cache" / "tf-distribute-workbench" / "unpacked")
    assert environment(tmp_path)[UNPACKED] == kept
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    kept = str(tmp_path / ".cache" / "tf-distribute-workbench" / "unpacked")
    assert environment(tmp_path)[UNPACKED] == kept


def test_a_folder_of_ones_own_for_it_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(UNPACKED, "/scratch/unpacked")
    assert environment(tmp_path)[UNPACKED] == "/scratch/unpacked"


def test_where_there_is_no_home_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "~nobody-of-that-name/cache")
    assert UNPACKED not in environment(tmp_path)
