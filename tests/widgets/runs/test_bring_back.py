"""Restoring a run in a notebook: it is listed, copied and reported; no existing run is replaced."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.waiting import until
from tests.widgets.folders import write_run
from workbench.runs import Run
from workbench.widgets.runs.bring_back import BringBack


def test_a_run_of_an_archive_is_listed_and_restored(tmp_path: Path) -> None:
    root, brought = tmp_path / "runs", list[Run]()
    old = write_run(tmp_path / "archive", "running", 10)
    new = write_run(tmp_path / "archive", name="the <b>newest</b>")
    back = BringBack(root, brought.append)
    assert back._choice.layout.display == "none"
    back._asked.click()
    assert back._choice.layout.display is None
    assert back._bring.disabled
    back._folder.value = str(tmp_path / "archive")
    until(lambda: not back._bring.disabled)
    labels = [label for label, _ in back._found.options]
    assert labels == [f"{run.title} ({run.id}), {run.status}" for run in (new, old)]
    back._found.value = str(old.dir)
    back._bring.click()
    until(lambda: brought)
    assert brought[0].dir == root / old.id
    assert "lost at step 10. Resume continues" in back._message.value
    back._bring.click()
    until(lambda: "replaces nothing" in back._message.value)
    assert len(brought) == 1
    assert not back._bring.disabled


def test_a_packed_run_is_restored_from_its_file(tmp_path: Path) -> None:
    run, brought = write_run(tmp_path / "runs"), list[Run]()
    path = run.pack()
    shutil.rmtree(run.dir)
    back = BringBack(tmp_path / "runs", brought.append)
    back._folder.value = str(path)
    until(lambda: not back._bring.disabled)
    back._bring.click()
    until(lambda: brought)
    assert brought[0].dir == run.dir
    assert "finished at step 156." in back._message.value


def test_a_folder_without_runs_is_refused_with_a_hint(tmp_path: Path) -> None:
    back = BringBack(tmp_path / "runs", lambda run: None)
    back._folder.value = str(tmp_path)
    until(lambda: "neither it nor a folder in it holds a run.json" in back._message.value)
    assert "Name the folder that was given as archive" in back._message.value
    assert back._bring.disabled
