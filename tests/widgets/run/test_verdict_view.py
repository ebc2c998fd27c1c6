"""The page Why is it slow?: timing of an ended run, its drawing, a suggestion for the form."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.runs.run_folders import replan
from tests.verdict.steps import step_times, with_shares
from tests.verdict.verdicts import CHATTY, timed_run, verdict_of, verdict_on
from tests.waiting import until
from tests.widgets.evil import EVIL
from tests.widgets.folders import write_run
from workbench.config import RunConfig
from workbench.interval import Interval
from workbench.runs import Run
from workbench.runs.folder.files import json_text
from workbench.runs.folder.trust import trust
from workbench.verdict import Trial, WorkerSpeed
from workbench.verdict.causes import Suggestion
from workbench.verdict.parts import break_down
from workbench.widgets.pictures import verdict as verdict_picture
from workbench.widgets.run.verdict_view import WhySlow

STEP = Interval(0.002, 0.0019, 0.0021)
LABELS = {"steps_per_call": "Steps a call"}


def view(written: list[RunConfig] | None = None) -> WhySlow:
    made = [] if written is None else written
    return WhySlow(made.append, lambda name: LABELS.get(name, name))


def asked(run: Run, written: list[RunConfig] | None = None) -> WhySlow:
    """Return the page with a verdict on a run: calls of few steps are the cause."""
    shown = view(written)
    shown.show(run, run.status)
    shown._show_verdict(verdict_on(run, {"host": 1e-3}))
    return shown


def test_the_parts_are_drawn_listed_and_summed_up(tmp_path: Path) -> None:
    verdict = verdict_on(timed_run(tmp_path), {"host": 1e-3})
    page = verdict_picture.page(verdict)
    assert verdict.sentence in page
    assert re.search(r"A step takes 2\.\d+ ms \[.*\], measured in 15 rounds\. (The|Timed) ", page)
    cells = re.findall(r'<td class="wb-nowrap"><span [^>]*></span>([^<]+)</td>', page)
    assert cells == ["input", "compute", "of which fixed", "host", "recording"]
    svg = re.search(r"<svg.*?</svg>", page)
    assert svg is not None
    drawn = ["".join(node.itertext()) for node in ElementTree.fromstring(svg[0]).iter("text")]
    assert drawn == ["compute", "host"]
    assert 'aria-label="A step: input 0' in page


def test_a_measurement_that_does_not_match_the_run_is_a_note_and_no_answer(tmp_path: Path) -> None:
    run = timed_run(tmp_path)
    matches = verdict_picture.page(verdict_on(run, {"host": 1e-3}, 2e-3))
    assert 'class="wb-answer"' in matches
    assert "Note: " not in matches
    differs = verdict_picture.page(verdict_on(run, {"host": 1e-3}, 9e-3))
    assert 'class="wb-answer"' not in differs
    assert "Note: </b>No verdict: this measurement does not match the run. " in differs
    assert "took 9 ms per step while it trained, and 2.01 ms per step now. " in differs


def test_the_bar_has_the_width_of_the_step_however_the_parts_overlap(tmp_path: Path) -> None:
    times = step_times({"host": 1e-3}, replicas=1)
    times[0]["rounds"]["step"] = [0.8 * each for each in times[0]["rounds"]["step"]]
    page = verdict_picture.page(verdict_of(timed_run(tmp_path), break_down(times)))
    bar = ElementTree.fromstring(page[page.index("<svg") : page.index("</svg>") + len("</svg>")])
    widths = [float(node.attrib["width"]) for node in bar.iter("rect")]
    assert sum(widths) == pytest.approx(verdict_picture.ACROSS, rel=0.01)
    assert "the parts took 2" in page
    shares = re.findall(r'<td class="wb-number">([\d.]+)%</td>', page)
    names = re.findall(r'<td class="wb-nowrap"><span [^>]*></span>([^<]+)</td>', page)
    shown = dict(zip(names, map(float, shares), strict=True))
    parts = [share for name, share in shown.items() if not name.startswith("of which ")]
    assert sum(parts) == pytest.approx(100, abs=0.2)


def test_a_suggestion_uses_the_labels_of_the_form() -> None:
    changes = {"steps_per_call": None, "eager": False, "pipeline": "indexed", "workers": 2000}
    words = verdict_picture.changes_text(changes, lambda name: LABELS.get(name, name))
    assert words.startswith("Steps a call: empty; eager: off; pipeline: Indexed")
    assert words.endswith("; workers: 2,000")


def test_a_trial_shows_both_sides_and_whether_they_differ() -> None:
    found = Trial("a", EVIL, Suggestion({}, ""), STEP, STEP, Interval(1.5, 1.4, 1.6), 9)
    shown = verdict_picture.trial(found)
    assert "It helps: 1.50 times the examples per second, 95 % [1.40, 1.60]." in shown
    assert shown.count("2 ms [1.9 ms, 2.1 ms]") == 2
    assert "1.50 times the examples per second</text>" in shown
    assert "<img" not in shown


def test_a_run_that_still_trains_can_be_timed_after_its_end(tmp_path: Path) -> None:
    run, shown = timed_run(tmp_path, state="running"), view()
    shown.show(run, "running")
    assert shown._find.disabled
    assert "The step can be timed after the run has ended" in shown._work.state.value
    shown.show(run, "finished")
    assert not shown._find.disabled
    assert "after the run has ended" not in shown._work.state.value


def test_a_run_that_failed_before_its_first_step_has_no_step_to_time(tmp_path: Path) -> None:
    shown, run = view(), write_run(tmp_path, "failed", steps=0)
    trust(run.dir)
    shown.show(run, "failed")
    shown._find.click()
    until(
        lambda: (
            "has recorded no steps, so there is nothing to measure against. Let it train"
            in shown._work.state.value
        )
    )
    until(lambda: not shown._find.disabled)
    assert shown._try.layout.display == shown._put.layout.display == "none"


@pytest.mark.parametrize(
    ("typed", "words"), [("soon", "must be a finite number; got soon"), ("", "got nothing")]
)
def test_invalid_seconds_are_shown_next_to_the_field(
    typed: str, words: str, tmp_path: Path
) -> None:
    shown = view()
    shown.show(timed_run(tmp_path), "finished")
    shown._seconds.control.value = typed
    shown._find.click()
    assert words in shown._seconds.problems
    assert not shown._work.busy


def test_workers_that_are_not_synchronous_have_one_row_each(tmp_path: Path) -> None:
    run = write_run(tmp_path, "running", config=RunConfig(strategy="parameter_server"))
    shown = view()
    shown.show(run, "running")
    assert not shown._find.disabled
    assert shown._seconds.box.layout.display == "none"
    shown._find.click()
    needs = r"worker-0 has recorded \d+ calls after its first, and its speed"
    needs += " can only be told from 6"
    until(lambda: re.search(needs, shown._work.state.value))
    slow = Interval(0.004, 0.0039, 0.0041)
    shown._show_speeds([WorkerSpeed("worker-0", STEP, STEP), WorkerSpeed("worker-1", slow, STEP)])
    assert "<td>the slowest</td>" in shown._found.value
    assert "no common step" in shown._found.value


def test_the_suggestion_is_put_into_the_form_with_the_config_of_the_run(tmp_path: Path) -> None:
    run, written = timed_run(tmp_path), list[RunConfig]()
    shown = asked(run, written)
    assert "Try Steps a call: empty. " in shown._suggested.value
    shown._put.click()
    assert [(each.steps_per_call, each.strategy) for each in written] == [(None, CHATTY.strategy)]
    assert "config with Steps a call: empty. Train starts it." in shown._form_note.value


def test_settings_from_elsewhere_that_name_code_are_put_into_the_form_only_after_a_yes(
    tmp_path: Path,
) -> None:
    run, written = timed_run(tmp_path), list[RunConfig]()
    replan(run, config=dataclasses.replace(run.config, interpreter="/evil/python"))
    shown = asked(run, written)
    shown._put.click()
    assert written == []
    _, code, keys = shown._agreeing.box.children
    assert "# interpreter: /evil/python" in code.value
    keys.children[0].click()
    assert [each.interpreter for each in written] == ["/evil/python"]


def test_a_suggestion_for_a_run_from_elsewhere_is_tried_after_a_yes_to_its_script_and_settings(
    tmp_path: Path,
) -> None:
    run = timed_run(tmp_path)
    replan(run, config=dataclasses.replace(run.config, interpreter="/evil/python"))
    shown = asked(run)
    shown._try.click()
    for words in ("def make_strategy", "# interpreter: /evil/python"):
        _, code, keys = shown._agreeing.box.children
        assert words in code.value
        assert not shown._work.busy
        keys.children[0].click()
    until(lambda: "/evil/python" in shown._work.state.value)
    assert shown._agreeing.box.children == ()


def test_without_a_suggestion_there_is_advice_and_nothing_to_try(tmp_path: Path) -> None:
    run, shown = timed_run(tmp_path), view()
    shown.show(run, "finished")
    verdict = verdict_on(run, {})
    shown._show_verdict(verdict)
    assert verdict.advice in shown._suggested.value
    assert shown._try.layout.display == shown._put.layout.display == "none"


def test_without_a_verdict_the_button_measures_again(tmp_path: Path) -> None:
    run, shown = timed_run(tmp_path), view()
    shown.show(run, "finished")
    assert shown._again.layout.display == "none"
    shown._show_verdict(verdict_on(run, {"host": 1e-3}, 9e-3))
    assert shown._again.layout.display is None
    assert shown._again.description == "Measure again for 20 s"
    assert shown._suggested.value == ""
    assert shown._try.layout.display == shown._put.layout.display == "none"
    trust(run.dir)
    shown._again.click()
    assert shown._work.busy
    assert shown._again.disabled
    shown._work.give_up()


def test_an_open_verdict_offers_a_longer_measurement(tmp_path: Path) -> None:
    run, shown = timed_run(tmp_path), view()
    shown.show(run, "finished")
    shown._show_verdict(verdict_of(run, with_shares({"input": (0.1, 0.0, 0.2)})))
    assert shown._again.description == "Measure again for 1 min 0 s"
    assert "No verdict yet: " in shown._found.value


def test_nothing_is_shown_of_another_run(tmp_path: Path) -> None:
    first = timed_run(tmp_path)
    shown = asked(first)
    assert shown._try.layout.display is None
    shown.show(timed_run(tmp_path), "finished")
    shown._show_verdict(verdict_on(first, {"host": 1e-3}))
    shown._show_trial(Trial(first.id, "b", Suggestion({}, ""), STEP, STEP, STEP, 9))
    assert shown._tried.value == ""
    assert shown._found.value == shown._suggested.value == shown._form_note.value == ""
    assert shown._try.layout.display == "none"


def test_a_saved_verdict_is_shown_when_the_run_is_opened_again(tmp_path: Path) -> None:
    run, written = timed_run(tmp_path), list[RunConfig]()
    verdict = verdict_on(run, {"host": 1e-3})
    (run.dir / "verdict.json").write_text(json_text(verdict.to_json()))
    shown = view(written)
    shown.show(run, "finished")
    assert shown._found.value == verdict_picture.page(verdict)
    assert "Measured before" in shown._work.state.value
    shown._put.click()
    assert [each.steps_per_call for each in written] == [None]


def test_an_unreadable_verdict_is_reported_and_can_be_measured_again(tmp_path: Path) -> None:
    run, shown = timed_run(tmp_path), view()
    (run.dir / "verdict.json").write_text("{}")
    shown.show(run, "finished")
    assert "Measure again; that replaces the file" in shown._found.value
    assert not shown._find.disabled


def test_a_resumed_run_keeps_its_verdict_but_offers_no_trial(tmp_path: Path) -> None:
    run = timed_run(tmp_path)
    shown = asked(run)
    shown.show(run, "running")
    assert "<svg" in shown._found.value
    assert shown._find.disabled
    assert shown._try.disabled
