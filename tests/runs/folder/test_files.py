"""Run folders are complete or absent, and a name can be any text."""

import json
from pathlib import Path

import pytest

from workbench.runs import RunError
from workbench.runs.folder.files import (
    find_run,
    json_text,
    make_folder,
    read_json,
    run_folders,
    runs_root,
    write_text,
)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_appears_completely_or_not_at_all(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "runs", "one", {"run.json": "{}", "train.py": "pass"})
    assert names(folder) == ["run.json", "train.py", "worker-0"]
    with pytest.raises(RunError, match="cannot be written: "):
        make_folder(tmp_path / "runs", "two", {"run.json": "{}", "no/such/folder": ""})
    with pytest.raises(RunError, match="cannot be written: "):
        make_folder(tmp_path / "runs", "one", {"run.json": "{}"})
    assert names(tmp_path / "runs") == ["one"]
    assert run_folders(tmp_path / "runs") == [folder]


def test_a_hidden_unfinished_folder_is_not_a_run(tmp_path: Path) -> None:
    for name in (".new-a", ".deleted-b", "no-run"):
        (tmp_path / name).mkdir()
    (tmp_path / ".new-a" / "run.json").write_text("{}")
    (tmp_path / ".deleted-b" / "run.json").write_text("{}")
    assert run_folders(tmp_path) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"cannot be read: Not a directory"):
        run_folders(tmp_path / "file")


def test_a_file_is_replaced_completely_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    write_text(path, "one")
    write_text(path, "two")
    assert path.read_text() == "two"
    assert names(tmp_path) == ["config.json"]
    with pytest.raises(RunError, match="cannot be written: "):
        write_text(tmp_path / "none" / "config.json", "three")


@pytest.mark.parametrize("name", ["plain", "\"'\n\\", "été 日本", "\udc80 odd", "${HOME} `id`"])
def test_any_name_is_kept(tmp_path: Path, name: str) -> None:
    write_text(tmp_path / "run.json", json_text({"name": name}))
    assert read_json(tmp_path / "run.json") == {"name": name}
    assert json.loads(json_text({"name": name}))["name"] == name


def test_a_file_that_is_not_a_json_object_is_named(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    for text, message in (
        ('{"a": 1', "plan.json cannot be read"),
        ("[]", "holds a list"),
        ("", "plan.json cannot be read"),
    ):
        path.write_text(text)
        with pytest.raises(RunError, match=message):
            read_json(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(RunError, match=r"plan\.json cannot be read"):
        read_json(path)


def test_the_folder_of_runs_comes_from_the_argument_then_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WORKBENCH_RUNS", raising=False)
    assert runs_root() == tmp_path / "runs"
    monkeypatch.setenv("WORKBENCH_RUNS", "elsewhere")
    assert runs_root() == tmp_path / "elsewhere"
    assert runs_root(tmp_path / "here") == tmp_path / "here"
    with pytest.raises(RunError, match="Name the folder of runs"):
        find_run("x", tmp_path / "none")
