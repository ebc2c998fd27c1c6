"""The notes of a workbench on a lent machine: which files are lost, and how to keep a run alive."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.widgets.folders import write_run
from workbench.runs import Summary
from workbench.widgets.host_notes import HostNotes
from workbench.widgets.parts.copy_button import CopyButton

CELL = "from workbench import follow\nawait follow()"


@pytest.fixture
def running(tmp_path: Path) -> Summary:
    """The summary of a run that trains."""
    run = write_run(tmp_path, steps=10)
    return replace(run.summary, status="running")


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HostNotes:
    """The notes of a workbench on Colab."""
    monkeypatch.setenv("COLAB_RELEASE_TAG", "any")
    return HostNotes(tmp_path)


def test_while_a_run_trains_a_cell_that_follows_it_is_shown(
    notes: HostNotes, running: Summary, tmp_path: Path
) -> None:
    assert f"Runs are in {tmp_path}." in notes._keeping.value
    assert "Archive folder" in notes._keeping.value
    assert (notes._awake.value, notes._copy.children) == ("", ())
    notes.show(running)
    assert "Colab ends a runtime when no cell is running" in notes._awake.value
    assert CELL in notes._awake.value
    assert isinstance(notes._copy.children[0], CopyButton)
    notes.show(replace(running, status="finished"))
    assert (notes._awake.value, notes._copy.children) == ("", ())


def test_no_cell_is_shown_while_a_cell_follows_the_run(notes: HostNotes, running: Summary) -> None:
    notes.note_following(True)
    notes.show(running)
    assert notes._awake.value == ""
    notes.note_following(False)
    assert CELL in notes._awake.value


def test_on_an_own_machine_there_are_no_notes(running: Summary, tmp_path: Path) -> None:
    notes = HostNotes(tmp_path)
    notes.show(running)
    assert (notes._awake.value, notes._keeping.value) == ("", "")
