"""The page Should I scale?: the answer, its bars and tables, and refusals."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from pathlib import Path

from tests.experiments.scalings import BOUND_NOISE, KNOWN_NOISE, UNKNOWN_NOISE, scaling_of
from tests.waiting import until
from tests.widgets.evil import EVIL
from tests.widgets.folders import write_run
from workbench.pictures.scaling import bars
from workbench.runs.folder.files import json_text
from workbench.runs.folder.trust import trust
from workbench.widgets.pictures.scaling import page
from workbench.widgets.scaling_view import ShouldScale


def test_the_answer_has_bars_batches_and_goodput() -> None:
    shown = html.unescape(page(scaling_of(KNOWN_NOISE)))
    assert scaling_of(KNOWN_NOISE).sentence in shown
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", shown)]
    assert ["256", "4", "82%", "78% to 85%", "1.82", "1.78 to 1.85"] in rows
    assert ["this", "128", "1,000", "90%", "900", "875 to 921"] in rows
    assert "1,152 examples (95 %: 900 to 1,500); measured on 256 gradients of 64 examples" in shown
    assert "Its replicas share a device" in shown


def test_the_bars_are_described_as_text_too() -> None:
    shown = bars(scaling_of(KNOWN_NOISE))
    assert shown.count("<rect") == len(scaling_of(KNOWN_NOISE).larger)
    assert "128 on 2 replicas (now): 90%; 256 on 4 replicas: 82%" in shown


def test_a_bound_is_drawn_as_at_least_and_an_unknown_value_is_not_drawn() -> None:
    assert "at least 95%</text>" in bars(scaling_of(BOUND_NOISE))
    assert bars(scaling_of(UNKNOWN_NOISE)) == ""
    assert "unknown" in page(scaling_of(UNKNOWN_NOISE))


def test_text_from_outside_is_escaped() -> None:
    known = scaling_of(KNOWN_NOISE)
    named = replace(known, goodput=(replace(known.goodput[0], name=EVIL),))
    assert "<img" not in page(named)


def test_a_run_without_a_checkpoint_is_refused(tmp_path: Path) -> None:
    view, run = ShouldScale(), write_run(tmp_path)
    trust(run.dir)
    view.show(run, "finished")
    view._measure.click()
    until(
        lambda: (
            "no checkpoint yet, so there are no trained weights to measure"
            in view._work.state.value
        )
    )
    until(lambda: not view._measure.disabled)


def test_invalid_batches_are_shown_next_to_the_field(tmp_path: Path) -> None:
    view = ShouldScale()
    view.show(write_run(tmp_path), "finished")
    view._steps.control.value = "many"
    view._measure.click()
    assert "must be a whole number; got many" in view._steps.problems
    assert not view._work.busy


def test_the_costs_are_shown_while_the_run_trains(tmp_path: Path) -> None:
    view, run = ShouldScale(), write_run(tmp_path, "running")
    view.show(run, "running")
    assert "The run continues during the measurement; both take longer." in view._work.state.value
    assert not view._measure.disabled
    view.show(run, "finished")
    assert "during the measurement" not in view._work.state.value


def test_a_saved_measurement_is_shown_when_the_run_is_opened_again(tmp_path: Path) -> None:
    view, run = ShouldScale(), write_run(tmp_path, "running")
    (run.dir / "noise.json").write_text(json_text(scaling_of(KNOWN_NOISE).to_json()))
    view.show(run, "running")
    assert view._found.value == page(scaling_of(KNOWN_NOISE))
    assert re.search("Measured before.*both take longer", view._work.state.value)
    (run.dir / "noise.json").write_text("{}")
    view.show(None, "")
    view.show(run, "finished")
    assert "Measure again; that replaces the file" in view._found.value


def test_nothing_is_shown_of_another_run(tmp_path: Path) -> None:
    view, run = ShouldScale(), write_run(tmp_path)
    view.show(run, "finished")
    found = replace(scaling_of(KNOWN_NOISE), run=run.id)
    view._show_answer(found)
    assert "<svg" in view._found.value
    view.show(write_run(tmp_path), "finished")
    assert view._found.value == ""
    view._show_answer(found)
    assert view._found.value == ""
