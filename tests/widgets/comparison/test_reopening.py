"""Earlier comparisons are listed and opened as they were left, with all that was added to them."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.experiments.timed_runs import ONE, TWO, timed_run
from tests.experiments.written import write_comparison
from tests.waiting import until
from tests.widgets.comparison.views import RATES, comparison_view, row_names
from tests.widgets.tables import rows_of
from workbench.runs.folder import locks
from workbench.runs.folder.state import run_lock
from workbench.widgets.comparison.arrangement import (
    KEPT,
    Arrangement,
    read_arrangement,
    write_arrangement,
)
from workbench.widgets.comparison.earlier_comparisons import summaries
from workbench.widgets.comparison.view import ComparisonView
from workbench.widgets.parts.page_parts import is_visible

OLD, NEW = "compare-20260101-000000-abcd", "compare-20260102-000000-abcd"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with an older comparison that was stopped, and a newer one that is finished."""
    write_comparison(tmp_path, {**RATES, "Mirrored x 2": ()}, "stopped", OLD)
    write_comparison(tmp_path, RATES, name=NEW)
    return tmp_path


def opened(root: Path, name: str) -> ComparisonView:
    """Return a view in which a person opened the comparison with this name."""
    shown = comparison_view(root)
    until(lambda: NEW in shown._progress.value)
    shown._others._asked.click()
    rows = until(lambda: shown._others._rows.children)
    next(row.children[1] for row in rows if name in row.children[0].value).click()
    until(lambda: name in shown._progress.value)
    return shown


def test_the_list_has_name_start_runs_and_state_of_each_comparison(root: Path) -> None:
    newer, older = summaries(root)
    assert (newer.name, newer.runs, newer.state) == (
        *("OneDevice, Mirrored x 2, TPU", "6 of 6 runs", "finished"),
    )
    assert (older.runs, older.state) == ("3 of 6 runs", "stopped")
    assert "1970" in older.start


@pytest.mark.parametrize("damaged", [OLD, NEW])
def test_a_damaged_comparison_is_reported_and_the_others_can_be_opened(
    damaged: str, root: Path
) -> None:
    asked = root / damaged / "compare.json"
    asked.write_text(asked.read_text()[:99])
    shown = comparison_view(root)
    whole = next(name for name in (OLD, NEW) if name != damaged)
    until(lambda: whole in shown._progress.value)
    message = shown._others._message.value
    for words in (f"{damaged} cannot be read.", str(asked), "JSONDecodeError", "from a copy"):
        assert words in message
    shown._others._asked.click()
    rows = until(lambda: shown._others._rows.children)
    by_name = {name: row for name in (OLD, NEW) for row in rows if name in row.children[0].value}
    assert str(asked) in by_name[damaged].children[0].value
    assert by_name[damaged].children[1].disabled
    assert by_name[whole].children[1].description == "Shown"


def test_a_comparison_with_damaged_events_is_listed_with_the_reason(root: Path) -> None:
    with (root / OLD / "queue.jsonl").open("a") as events:
        events.write(json.dumps({"time": 1.0, "event": "left_out"}) + "\n")
    _, older = summaries(root)
    assert older.name == (
        "Its files are damaged (KeyError: 'candidate'). Restore them, or delete the folder."
    )


def test_a_click_opens_an_earlier_comparison_which_can_be_resumed(root: Path) -> None:
    shown = opened(root, OLD)
    until(lambda: "3 of 6 runs done, stopped" in shown._progress.value)
    until(lambda: is_visible(shown._resume))
    until(lambda: rows_of(shown._results._table.value)[1][-2] == "waiting")
    rows = until(lambda: (rows := shown._others._rows.children)[1].children[1].disabled and rows)
    assert [row.children[1].description for row in rows] == ["Open", "Shown"]


def test_a_comparison_opens_as_it_was_left(root: Path) -> None:
    run = timed_run(root, replace(ONE, seed=7), 1200.0)
    shown = opened(root, OLD)
    shown._earlier._choose([run])
    until(lambda: len(row_names(shown)) == 4)
    added = row_names(shown)[3]
    choices = shown._results.choices
    choices.baseline.value, choices.sort.value, choices.only.value = added, "speed", "device"
    choices.measure.value, choices.along.value = "rate", "examples"
    until(lambda: read_arrangement(root / OLD).along == "examples")
    left = Arrangement(added, "speed", False, "device", "rate", "examples", (run.id,))
    assert read_arrangement(root / OLD) == left
    again = opened(root, OLD)
    until(lambda: row_names(again) == [added, "OneDevice"])
    assert rows_of(again._results._table.value)[0][3] == "baseline"
    until(lambda: "Examples per second over examples seen" in again._results._curves.value)
    other = opened(root, NEW)
    assert other._results.choices.arrangement == Arrangement()
    assert other._earlier.chosen == ()


def test_added_runs_are_found_again_if_the_folder_of_runs_moves(root: Path) -> None:
    run = timed_run(root, replace(ONE, seed=7), 1200.0)
    shown = comparison_view(root)
    until(lambda: NEW in shown._progress.value)
    shown._earlier._choose([run])
    until(lambda: read_arrangement(root / NEW).added)
    moved = root.parent / "moved"
    shutil.move(root, moved)
    again = comparison_view(moved)
    until(lambda: len(rows_of(again._results._table.value)) == 4)


def test_an_added_run_that_is_missing_stays_in_the_list_with_the_reason(root: Path) -> None:
    run = timed_run(root, ONE, 1200.0)
    shown = comparison_view(root)
    until(lambda: NEW in shown._progress.value)
    shown._earlier._choose([run])
    until(lambda: read_arrangement(root / NEW).added)
    run.delete()
    again = comparison_view(root)
    until(lambda: len(rows_of(again._results._table.value)) == 3)
    assert f"The added run {run.id} cannot be read" in again._earlier._message.value
    ((label, missing),) = again._earlier._added.options
    assert label == f"{run.id}, cannot be read"
    again._results.choices.sort.value = "speed"
    until(lambda: read_arrangement(root / NEW) == Arrangement(sort="speed", added=(run.id,)))
    again._earlier._added.value = [missing]
    again._earlier._remove.click()
    until(lambda: read_arrangement(root / NEW).added == ())


def test_rows_as_listed_are_not_turned_by_a_view_that_an_earlier_version_kept(root: Path) -> None:
    write_arrangement(root / NEW, Arrangement(turned=True))
    shown = comparison_view(root)
    until(lambda: row_names(shown) == ["OneDevice", "Mirrored x 2", "TPU"])
    assert shown._results.choices.turn.disabled


@pytest.mark.parametrize(
    ("text", "words"),
    [("{", KEPT), ('{"version": 1}', "'baseline'"), ('{"version": 2}', "its version is 2")],
)
def test_a_damaged_view_is_reported_and_not_overwritten(text: str, words: str, root: Path) -> None:
    kept = root / NEW / KEPT
    kept.write_text(text)
    shown = comparison_view(root)
    until(lambda: len(row_names(shown)) == 3)
    assert words.replace("'", "&#x27;") in shown._kept_note.value
    assert "Correct or remove that file" in shown._kept_note.value
    shown._results.choices.sort.value = "speed"
    until(lambda: row_names(shown)[0] == "Mirrored x 2")
    assert kept.read_text() == text


def test_a_value_that_is_not_offered_is_refused(root: Path) -> None:
    write_arrangement(root / NEW, Arrangement(sort="<b>"))
    shown = comparison_view(root)
    until(lambda: ": sort is &#x27;&lt;b&gt;&#x27;" in shown._kept_note.value)


def test_a_view_that_cannot_be_kept_is_said(root: Path) -> None:
    shown = comparison_view(root)
    until(lambda: len(row_names(shown)) == 3)
    (root / NEW / KEPT).mkdir()
    shown._results.choices.sort.value = "speed"
    lost = "This view is not saved: it lasts until the notebook is closed."
    until(lambda: lost in shown._kept_note.value)


def test_unfinished_runs_are_added_and_said_not_to_count(root: Path) -> None:
    for state, seed in (("stopped", 1), ("failed", 2), ("finished", 3)):
        timed_run(root, replace(ONE, seed=seed), 900.0, state)
    shown = comparison_view(root)
    until(lambda: len(row_names(shown)) == 3)
    shown._earlier._asked.click()
    options = until(lambda: shown._earlier._found.options)
    assert [label.split(": ")[0] for label, _ in options][1:] == ["failed", "stopped"]
    shown._earlier._found.value = [run for _, run in options]
    shown._earlier._add.click()
    rows = until(lambda: len(rows := rows_of(shown._results._table.value)) == 6 and rows)
    assert rows[4][-2:] == ["1 earlier run, failed", "1 of 1 failed, not counted"]
    assert rows[5][-2:] == ["1 earlier run, stopped", "1 of 1 stopped, not counted"]
    assert rows[5][2] == ""


def test_an_added_run_that_is_still_going_is_followed_to_its_end(root: Path) -> None:
    run = timed_run(root, replace(TWO, seed=7), 900.0, "running")
    lock = locks.take(run_lock(run.dir))
    assert lock is not None
    shown = comparison_view(root)
    until(lambda: len(row_names(shown)) == 3)
    shown._earlier._choose([run])
    row = until(lambda: (rows := rows_of(shown._results._table.value))[3:] and rows[3])
    assert row[-2:] == ["1 earlier run, running", "1 of 1 still running, not counted"]
    with (run.dir / "events.jsonl").open("a") as file:
        file.write('{"time": 1, "event": "state", "state": "finished"}\n')
    os.close(lock)
    until(lambda: rows_of(shown._results._table.value)[3][2] == "900")
    until(lambda: shown._poller is not None and shown._poller.over)
