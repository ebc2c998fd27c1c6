"""Should I scale, on the page: the answer, its bars and tables, and its mistakes."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from pathlib import Path

from tests.experiments.test_scaling import BOUND, KNOWN, UNKNOWN, answer
from tests.waiting import until
from tests.widgets.folders import write_run
from tests.widgets.parts.test_markup import EVIL
from workbench.runs.folder.files import json_text
from workbench.widgets.pictures.scaling import bars, page
from workbench.widgets.scaling_view import ShouldScale


def test_the_answer_has_bars_batches_and_goodput() -> None:
    shown = html.unescape(page(answer(KNOWN)))
    assert answer(KNOWN).sentence in shown
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", shown)]
    assert ["256", "4", "82%", "78% to 85%", "1.82", "1.78 to 1.85"] in rows
    assert ["this", "128", "1,000", "90%", "900", "875 to 921"] in rows
    assert "1,152 examples (95 %: 900 to 1,500); of 256 gradients of 64 examples" in shown
    assert "Its replicas share a device" in shown


def test_the_bars_are_told_in_words_too() -> None:
    shown = bars(answer(KNOWN))
    assert shown.count("<rect") == len(answer(KNOWN).larger)
    assert "128 on 2 replicas (as it is): 90%; 256 on 4 replicas: 82%" in shown


def test_a_bound_is_drawn_as_at_least_and_the_unknown_not_at_all() -> None:
    assert "at least 95%</text>" in bars(answer(BOUND))
    assert bars(answer(UNKNOWN)) == ""
    assert "unknown" in page(answer(UNKNOWN))


def test_text_from_outside_is_escaped() -> None:
    known = answer(KNOWN)
    named = replace(known, goodput=(replace(known.goodput[0], name=EVIL),))
    assert "<img" not in page(named)


def test_a_run_that_saved_nothing_is_refused(tmp_path: Path) -> None:
    view = ShouldScale()
    view.show(write_run(tmp_path), "finished")
    view._measure.click()
    until(lambda: "has saved no checkpoint yet. Let it train" in view._work.state.value)
    until(lambda: not view._measure.disabled)


def test_batches_that_are_no_number_are_said_beside_the_field(tmp_path: Path) -> None:
    view = ShouldScale()
    view.show(write_run(tmp_path), "finished")
    view._steps.control.value = "many"
    view._measure.click()
    assert "must be a whole number; got many" in view._steps._problems.value
    assert not view._work.busy


def test_beside_a_run_that_trains_it_says_what_that_costs(tmp_path: Path) -> None:
    view, run = ShouldScale(), write_run(tmp_path, "running")
    view.show(run, "running")
    assert "The run goes on meanwhile, and both take longer." in view._work.state.value
    assert not view._measure.disabled
    view.show(run, "finished")
    assert "meanwhile" not in view._work.state.value


def test_what_was_measured_before_is_there_when_the_run_is_opened_again(tmp_path: Path) -> None:
    view, run = ShouldScale(), write_run(tmp_path, "running")
    (run.dir / "noise.json").write_text(json_text(answer(KNOWN).to_json()))
    view.show(run, "running")
    assert view._found.value == page(answer(KNOWN))
    assert re.search("Measured before.*both take longer", view._work.state.value)
    (run.dir / "noise.json").write_text("{}")
    view.show(None, "")
    view.show(run, "finished")
    assert "Measure it again, which replaces it" in view._found.value


def test_of_another_run_nothing_is_left(tmp_path: Path) -> None:
    view, run = ShouldScale(), write_run(tmp_path)
    view.show(run, "finished")
    found = replace(answer(KNOWN), run=run.id)
    view._show_answer(found)
    assert "<svg" in view._found.value
    view.show(write_run(tmp_path), "finished")
    assert view._found.value == ""
    view._show_answer(found)
    assert view._found.value == ""
