"""Deletion of several runs: living ones are refused, and problems are reported."""

from __future__ import annotations

from pathlib import Path

from tests.waiting import until
from tests.widgets.folders import write_run
from workbench import flock
from workbench.runs.folder.state import run_lock, take_lock
from workbench.widgets.runs.deleting import Deleting

Reports = list[tuple[str, str]]


def deleting(reports: Reports) -> Deleting:
    return Deleting(lambda level, text: reports.append((level, text)), lambda: None)


def test_a_living_run_is_refused_with_a_sentence(tmp_path: Path) -> None:
    reports: Reports = []
    living, over = write_run(tmp_path, "running", name="alive"), write_run(tmp_path, name="over")
    run_lock(living.dir).parent.mkdir(parents=True, exist_ok=True)
    assert take_lock(living.dir) is not None
    assert flock.held(run_lock(living.dir))
    asked = deleting(reports)
    asked.ask([living])
    assert asked.box.children == ()
    ((level, text),) = reports
    assert level == "error"
    assert f"alive ({living.id}) cannot be deleted, because it has not ended. Stop it first" in text
    asked.ask([living, over])
    assert "Delete this run permanently" in asked.box.children[0].value
    assert "not ended. Stop it first" in asked.box.children[0].value
    asked.box.children[1].children[0].click()
    until(lambda: reports[-1] == ("info", "Deleted 1 run: over."))
    assert living.dir.exists()


def test_a_run_that_cannot_be_deleted_does_not_keep_the_others(tmp_path: Path) -> None:
    reports: Reports = []
    linked, other = (
        write_run(tmp_path / "a", name="linked"),
        write_run(tmp_path / "b", name="other"),
    )
    link = tmp_path / "b" / linked.id
    link.symlink_to(linked.dir)
    asked = deleting(reports)
    asked.ask([type(linked)(link), other])
    asked.box.children[1].children[0].click()
    until(lambda: reports[-1][0] == "error")
    assert "Deleted 1 run: other. linked: " in reports[-1][1]
    assert linked.dir.exists()
    assert not other.dir.exists()
