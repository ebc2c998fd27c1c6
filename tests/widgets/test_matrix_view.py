"""Do they agree? A saved matrix is shown, problems are shown, a matrix starts and stops."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.experiments.written import write_matrix
from tests.machines import LAPTOP
from tests.waiting import until
from tests.widgets.evil import EVIL
from tests.widgets.tables import rows_of
from workbench.devices import Devices, detect
from workbench.experiments import Cell
from workbench.widgets.matrix_view import MatrixView, table

CELLS = [
    Cell("one_device", "custom", "pass", keras="3.15.1", max_loss_difference=0.0,
         max_weight_difference=0.0, steps_per_second=1234.5),
    Cell("mirrored", "fit", "fail", EVIL, "3.15.1", max_loss_difference=0.25),
    Cell("tpu", "custom", "unavailable", "no TPU here"),
    Cell("default", "fit", "running"),
]  # fmt: skip


def view(root: Path, devices: Devices = LAPTOP) -> MatrixView:
    return MatrixView(root, lambda: devices, lambda: None)


def test_the_newest_saved_matrix_is_shown_when_the_view_is_opened(tmp_path: Path) -> None:
    write_matrix(tmp_path, "matrix-20260101-000000", CELLS[:1])
    write_matrix(tmp_path, "matrix-20260102-000000", CELLS)
    opened = view(tmp_path)
    rows = rows_of(until(lambda: opened._table.value))
    assert rows[0] == ["OneDevice", "custom", "✓ pass", "0", "0", "1,234", ""]
    assert rows[1][:4] == ["Mirrored", "fit", "✗ fail", "2.5e-01"]
    assert rows[2][2:] == ["unavailable", "", "", "", "no TPU here"]
    assert rows[3][2] == "not done"
    assert "matrix-20260102-000000" in until(lambda: opened._progress.value)
    assert "1 fail, 1 not done, 1 pass, 1 unavailable" in opened._progress.value
    assert opened._resume.layout.display != "none"


def test_a_cell_that_passed_in_one_call_has_too_few_steps_for_a_rate() -> None:
    assert rows_of(table([Cell("mirrored", "fit", "pass")]))[0][5:] == [
        "",
        "too few steps for a speed",
    ]


def test_text_from_outside_is_escaped() -> None:
    shown = table(CELLS)
    assert "<img" not in shown
    assert "<caption" in shown


def test_a_matrix_whose_queue_was_killed_says_so(tmp_path: Path) -> None:
    lost = write_matrix(tmp_path, "matrix-20260101-000000", CELLS[:2])
    events = lost.folder / "queue.jsonl"
    events.write_text("".join(events.read_text().splitlines(keepends=True)[:-1]))
    opened = view(tmp_path)
    shown = until(lambda: opened._progress.value)
    assert "2 of 2 runs done, its queue process ended without a message; resume it" in shown
    assert opened._resume.layout.display != "none"


def test_without_a_saved_matrix_there_is_no_table(tmp_path: Path) -> None:
    opened = view(tmp_path / "none")
    assert opened._table.value == ""
    assert not opened._start.disabled
    assert opened._stop.layout.display == opened._resume.layout.display == "none"


@pytest.mark.parametrize(("typed", "words"), [("ten", "whole number"), ("0", "above 0; got 0")])
def test_invalid_steps_are_refused_next_to_the_field(
    tmp_path: Path, typed: str, words: str
) -> None:
    opened = view(tmp_path)
    opened._steps.control.value = typed
    opened._start.click()
    assert words in opened._steps.problems
    assert not opened._start.disabled


def test_the_reason_is_shown_if_a_matrix_cannot_be_started(tmp_path: Path) -> None:
    opened = view(tmp_path)
    opened._steps.control.value = "1"
    opened._data.control.options = [("Another", "another")]
    opened._data.control.value = "another"
    opened._start.click()
    until(lambda: not opened._start.disabled)
    assert "Problem: " in opened._progress.value
    assert "data must be one of" in opened._progress.value


def test_the_usual_steps_follow_the_data(tmp_path: Path) -> None:
    opened = view(tmp_path)
    assert opened._steps.read() == 200
    opened._data.control.value = "fashion_mnist"
    assert opened._steps.read() == 100


@pytest.mark.slow
def test_a_matrix_goes_on_without_its_view_and_is_stopped_and_resumed(tmp_path: Path) -> None:
    opened = view(tmp_path, detect(import_tensorflow=False))
    opened._steps.write(10)
    opened._start.click()
    assert opened._start.disabled
    until(lambda: re.search(r">[1-9] of 12 runs done, now ", opened._progress.value))
    opened.close()
    again = view(tmp_path)
    until(lambda: re.search(r">[3-9] of 12 runs done, now ", again._progress.value))
    again._stop.click()
    assert again._stop.disabled
    until(lambda: not again._start.disabled)
    rows: list[Any] = rows_of(again._table.value)
    assert rows[0][:3] == ["OneDevice", "custom", "✓ pass"]
    assert sum(row[2] == "not done" for row in rows) >= 1
    again._resume.click()
    until(lambda: "12 pass, 2 unavailable; 10 steps each" in again._progress.value)
    assert all(row[4] for row in rows_of(again._table.value) if row[2] == "✓ pass" and row[3])
